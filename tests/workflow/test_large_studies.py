"""The studies of large puzzles, in a copy of the project."""

import shutil
from pathlib import Path

import pandas as pd
import pytest
import torch
from workflow_runs import copy_project, jobs, run, snakemake


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """A copy of the project where nothing has run. Tests leave it as it was."""
    return copy_project(tmp_path_factory.mktemp("project"))


def made(output: str) -> set[str]:
    """The jobs of stages, without the one that stands for the target of external instances."""
    return {job for job in jobs(output) if not job.startswith("External instances")}


def test_the_study_of_a_large_puzzle_is_a_target_of_its_own_and_its_network_solves(project, tmp_path):
    default = jobs(snakemake(project, "--dry-run"))
    assert default and not any("cube3" in job for job in default)
    done = jobs(snakemake(project, "cube3-smoke"))
    assert {"cube3-smoke: Training walks.", "cube3-smoke: Beam search over walks."} <= done
    assert "cube3-smoke: Writing the report of cube3-smoke." in done
    assert jobs(snakemake(project, "--dry-run", "all", "cube3-smoke")) == default
    grid = pd.read_parquet(project / "results/cube3-smoke/beams/walks/grid.parquet").set_index("set")
    assert grid.loc["distance_26", ["instances", "known", "solved_percent"]].tolist() == [7, 7, 100]
    model = "results/cube3-smoke/models/walks"
    told = run(project, "costtogo", "solve", "--model", model, "--scramble", "R U2 F'", "--seconds", "60")
    assert "solution        F U2 R'" in told and "4 quarter turns" in told and "3 moves with half turns" in told
    told = snakemake(project, "cube3-smoke-external", fails=True, COSTTOGO_EXTERNAL="nowhere")
    assert "There is no folder nowhere of external instances: set COSTTOGO_EXTERNAL" in told and not jobs(told)
    (tmp_path / "cube3_qtm.csv").write_text("scramble,optimal_moves_qtm\nR U',2\nF2,2\n")
    done = snakemake(project, "cube3-smoke-external", COSTTOGO_EXTERNAL=str(tmp_path))
    assert made(done) == {"cube3-smoke: Solving external instances of cube3 over walks."}
    assert pd.read_parquet(project / "results/cube3-smoke/external/walks/summary.parquet")["optimal_percent"][0] == 100
    if not torch.cuda.is_available():
        told = snakemake(project, "cube3-gpu", fails=True)
        assert "torch finds no CUDA device" in told and not jobs(told)
    redone = jobs(snakemake(project, "cube3-smoke"))
    assert redone == {
        f"cube3-smoke: {job}" for job in ("Drawing the figures of walks.", "Writing the report of cube3-smoke.")
    }
    assert (project / "reports/cube3-smoke/figures/external_excess_walks.png").exists()
    for folder in ("results", "reports"):
        shutil.rmtree(project / folder / "cube3-smoke")


def test_the_study_of_a_board_runs_through_and_the_targets_of_several_studies_hold_each(project, tmp_path):
    would = jobs(snakemake(project, "--dry-run", "sliding", "sliding-large", "lights_out"))
    trainings = {f"puzzle{tiles}: Training tiles." for tiles in (15, 24, 35, 48)}
    trainings |= {f"lights_out_7: Training {name}." for name in ("connected", "rows")}
    trainings |= {f"puzzle8: Training {name}." for name in ("residual", "convolutional")}
    assert trainings == {job for job in would if "Training" in job}
    done = jobs(snakemake(project, "puzzle15-smoke"))
    built = "Building the pattern database 3-4-4-4 of puzzle15."
    exact = "Solving the instance sets of puzzle15 exactly."
    searched, written = "BWAS, λ × N, over 3-4-4-4 of puzzle15.", "Writing the report of puzzle15-smoke."
    assert {f"puzzle15-smoke: {job}" for job in (built, exact, searched, written)} <= done
    optima = pd.read_parquet(project / "results/puzzle15-smoke/optima/puzzle15.parquet")
    searches = pd.read_parquet(project / "results/puzzle15-smoke/searches/tiles/searches.parquet")
    known = searches.merge(optima, on=["set", "instance"], suffixes=("", "_exact"))
    assert known["distance"].equals(known["distance_exact"]) and known["distance"].notna().any()
    goal = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0"
    (tmp_path / "puzzle15.csv").write_text(f"tiles,optimal_moves\n{goal},0\n{goal.replace('15 0', '0 15')},1\n")
    done = snakemake(project, "puzzle15-smoke", "puzzle15-smoke-external", COSTTOGO_EXTERNAL=str(tmp_path))
    assert made(done) == {"puzzle15-smoke: Solving external instances of puzzle15 over tiles."}
    summary = pd.read_parquet(project / "results/puzzle15-smoke/external/tiles/summary.parquet")
    assert summary[["first", "optimal_percent"]].to_numpy().tolist() == [[2, 100], [2, 100]]
    model = "results/puzzle15-smoke/models/tiles"
    told = run(project, "costtogo", "solve", "--model", model, "--state", "1 2 3 4 5 6 7 8 9 10 11 12 13 0 14 15")
    assert "solution        L L" in told and "2 moves" in told
    for folder in ("results", "reports"):
        shutil.rmtree(project / folder / "puzzle15-smoke")
