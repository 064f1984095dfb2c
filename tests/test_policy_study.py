"""A study of a policy on the 3×3×3 cube, run as the workflow runs it, over a network that has hardly learned."""

import os
import stat
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from stage_recipes import make as make_stage

from costtogo.files import read_frame
from costtogo.params.loading import load
from costtogo.puzzles import make
from costtogo.puzzles.base import solves
from costtogo.stages.search import loading
from costtogo.workflow.stages import stages_of

ROOT = Path(__file__).parents[1]
CUBE = make("cube3")
SHORT = {"max_expansions": 60, "leaves": 2}
TINY = {
    "puzzles": {
        "only": ["cube3"],
        "cube3": {
            "exact": {"around": 2, "goal_alone": True},
            "instances": {
                "only": [],
                "far": {"kind": "walks", "states": 2, "length": [200, 300]},
                "near": {"kind": "walks", "states": 8, "length": [3, 5]},
            },
            "optima": {"sets": ["near"], "around": 3, "max_generated": 3000},
            "two_phase": {"sets": ["near"]},
            "searches": [
                {"solver": "mcts", "set": "near", "exploration": [5, 50], **SHORT},
                {"solver": "mcts", "set": "near", "exploration": [5], "prior": "uniform", **SHORT},
                {"solver": "bwas", "set": "near", "path_weight": [0.4], "batch_size": [1], "max_nodes": 500},
                {"solver": "beam", "set": "near", "widths": [50], "max_moves": 6},
                {"solver": "policy_beam", "set": "near", "widths": [1, 50], "max_moves": 6},
            ],
            "audit": {"consistency_states": 30, "nearby_states": 50, "scrambled_states": 5, "depths": 2,
                      "greedy_states": 3, "greedy_depths": [2], "greedy_moves": 4},
        },
    },
    "architectures": {"cube3_value_and_policy": {"first_layers": [16], "residual_blocks": 0}},
    "recipes": {
        "autodidactic_cube3": {
            "precision": "float32", "iterations": 4, "states_per_iteration": 60, "validation_states": 30,
            "minibatch": 30, "check_every": 2,
        }
    },
    "models": {"only": ["adi_cube3"]},
    "tables": [],
}  # fmt: skip
PROGRAM = f"""#!{sys.executable}
import sys
sys.path.insert(0, {str(ROOT / "src")!r})
from costtogo.exact.meeting import MeetingSearch
from costtogo.exact.nearby import nearby_table
from costtogo.puzzles import make
cube = make("cube3")
faces = [sys.argv[1][9 * n : 9 * n + 9] for n in range(6)]
state = cube.parse_state("".join(faces["URFDLB".index(face)] for face in "LUFDRB"))
found = MeetingSearch(cube, nearby_table(cube, 2), 10**6).solve(state[None])
print(cube.format_moves(found.solutions[0]))
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    folder, before = tmp_path_factory.mktemp("policy"), Path.cwd()
    program = folder / "bin" / "kociemba"
    program.parent.mkdir()
    program.write_text(PROGRAM)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    study = load([ROOT / "config/deepcube.yaml"], TINY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
        patch.setattr("costtogo.search.two_phase.sys.executable", str(folder / "python"))
        patch.chdir(folder)
        for stage in stages_of(study):
            if stage.group not in ("figures", "report"):
                make_stage(stage)
    assert Path.cwd() == before
    return folder / "results/deepcube"


def rows_of(results: Path, address: str) -> pd.DataFrame:
    return read_frame(results / f"{address}.parquet")


def test_optima_are_those_of_the_sets_asked_for_and_the_others_stay_unknown(results):
    optima = rows_of(results, "optima/cube3").set_index("set")
    assert optima.loc["near", "solved"].all() and not optima.loc["far", "solved"].any()
    assert optima.loc["far", "distance"].isna().all() and set(optima.loc["near", "distance"]) <= {1, 2, 3, 4, 5}
    assert rows_of(results, "timings/optima/cube3")["set"].unique().tolist() == ["near"]


def test_no_search_is_shorter_than_the_optimum_and_every_solution_leads_to_the_goal(results):
    optima = rows_of(results, "optima/cube3")
    near = optima[optima["set"] == "near"].reset_index(drop=True)
    starts = np.array([CUBE.parse_state(text) for text in near["state"]])
    for group in ("trees", "policy_beams", "beams", "searches", "two_phase"):
        found = rows_of(results, f"{group}/{'cube3' if group == 'two_phase' else 'adi_cube3'}/searches")
        assert set(found["set"]) == {"near"} and found["solved"].any()
        solved = found[found["solved"]]
        assert (solved["cost"].to_numpy() >= near["distance"].to_numpy()[solved["instance"]]).all()
        solutions = [[CUBE.actions.index(move) for move in text.split()] for text in solved["solution"]]
        assert solves(CUBE, starts[solved["instance"]], solutions).all()
    assert rows_of(results, "two_phase/cube3/searches")["solved"].all()


def test_searches_that_know_the_goal_alone_do_not_look_into_the_table(results):
    found = rows_of(results, "policy_beams/adi_cube3/searches")
    one_move = rows_of(results, "optima/cube3").query("set == 'near' and distance == 1")["instance"]
    assert (found[found["instance"].isin(one_move)]["nodes_expanded"] >= 1).all()
    stage = type("Stage", (), {"puzzle": CUBE, "parameters": {"goal_alone": True}})
    assert loading.read_ends(stage, results / "tables/cube3.npz").depth == 0
    stage.parameters = {}
    assert loading.read_ends(stage, results / "tables/cube3.npz").layers.tolist() == [1, 12, 114]


def test_trees_are_grown_with_each_setting_and_end_at_their_limit(results):
    found = rows_of(results, "trees/adi_cube3/searches")
    assert len(found) == 3 * 8 and (found["nodes_expanded"] <= 60).all()
    assert found.groupby(["exploration", "prior"]).size().to_dict() == {
        (5.0, "policy"): 8, (50.0, "policy"): 8, (5.0, "uniform"): 8,
    }  # fmt: skip
