"""Benchmarks: ratios of rounds, their table, and that every work has a side that starts."""

import argparse
import importlib
import math
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import torch
from messages import is_one_sentence

from benchmarks import gpu, optimal, packaged, results, scaling, sizing
from benchmarks.__main__ import PROJECT, WAITING, measure, run_side
from benchmarks.results import COLUMNS, Outcome, put_between
from benchmarks.works import LESS, MORE, WORKS, Row, Work
from costtogo.files import read_json

WORK = Work(
    "sums",
    "sums",
    "plain",
    (Row("sums", "seconds", "s", LESS, 2, "of numbers"), Row("sums, speed", "speed", "1/s", MORE, 1)),
)
OURS = [{"seconds": 1.0, "speed": 8.0}, {"seconds": 2.0, "speed": 4.0}, {"seconds": 1.0, "speed": 8.0}]
PEER = [{"seconds": 3.0, "speed": 2.0}, {"seconds": 4.0, "speed": 1.0}, {"seconds": 9.0, "speed": 1.0}]


def test_ratios_are_those_of_rounds_and_above_1_where_ours_is_better():
    seconds, speed = Outcome(OURS, PEER, {}).rows(WORK)
    assert [seconds[f"ratio_{name}"] for name in ("median", "min", "max")] == [3, 2, 9]
    assert [speed[f"ratio_{name}"] for name in ("median", "min", "max")] == [4, 4, 8]
    assert (seconds["ours"], seconds["peer"]) == (1, 4)
    assert seconds["note"].startswith("of numbers; beside plain, 2 × wanted; on ")


def test_a_peer_that_fails_has_a_row_that_says_why():
    seconds, _ = Outcome(OURS, [], {"plain": "No module named plain"}).rows(WORK)
    assert np.isnan(seconds["ratio_median"]) and seconds["ours"] == 1
    assert "plain failed: No module named plain" in seconds["note"]


def test_a_side_that_fails_is_not_run_again_and_the_other_goes_on(monkeypatch):
    ran = []

    def run_side(work, side):
        ran.append(side)
        if side == "plain":
            raise subprocess.CalledProcessError(1, "plain", stderr="Traceback\nValueError: no sums\n")
        return OURS[0]

    monkeypatch.setattr("benchmarks.__main__.run_side", run_side)
    outcome = measure(WORK, 3)
    assert ran.count("ours") == 3 and ran.count("plain") == 1
    assert outcome.failed == {"plain": "ValueError: no sums"}


def test_threads_of_the_peer_wait_as_it_likes(monkeypatch):
    seen = {}

    def ran(command, env, **_):
        seen[command[3]] = env
        return subprocess.CompletedProcess(command, 0, stdout="{}")

    monkeypatch.setenv("GOMP_SPINCOUNT", "1000")
    monkeypatch.setattr(subprocess, "run", ran)
    for side in ("ours", "plain"):
        run_side(WORK, side)
    assert seen["ours"]["GOMP_SPINCOUNT"] == "1000" and not set(WAITING) & set(seen["plain"])


def test_rows_keep_their_places_when_works_are_measured_again(tmp_path, monkeypatch):
    (tmp_path / "README.md").write_text(f"before\n{results.BEGIN}\nold\n{results.END}\nafter\n")
    other = Work("other", "sums", None, (Row("other", "seconds", "s", LESS, 1),))
    monkeypatch.setattr(results, "WORKS", (WORK, other))
    results.write(tmp_path, other, Outcome(OURS, [], {}))
    results.write(tmp_path, WORK, Outcome(OURS, PEER, {}))
    results.write(tmp_path, other, Outcome([{"seconds": 7.0}], [], {}))
    table = pd.read_csv(tmp_path / "results.csv")
    assert list(table.columns) == COLUMNS
    assert table["benchmark"].tolist() == ["sums", "sums, speed", "other"] and table["ours"].iloc[2] == 7
    text = (tmp_path / "README.md").read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text and "**3.0**" in text
    assert (tmp_path / "ratios.png").exists()


def test_series_are_told_by_size_and_drawn(tmp_path):
    (tmp_path / "README.md").write_text(f"{scaling.BEGIN}\n{scaling.END}\n")
    title = scaling.SERIES[0].title
    rows = [(title, size, threads, size / threads, 1, 10, "s") for threads in (1, 2) for size in (8, 9, 10)]
    scaling.write(tmp_path, pd.DataFrame(rows, columns=scaling.COLUMNS))
    assert "| 2 | 8: 4, 9: 4.5, 10: 5 | s |" in (tmp_path / "README.md").read_text()
    assert (tmp_path / "scaling.png").exists() and len(pd.read_csv(tmp_path / "scaling.csv")) == 6


def test_what_is_between_marks_is_replaced_alone(tmp_path):
    (tmp_path / "text").write_text("a\nBEGIN\nold\nEND\nz\n")
    put_between(tmp_path / "text", "BEGIN", "END", ["new"])
    assert (tmp_path / "text").read_text() == "a\nBEGIN\nnew\nEND\nz\n"


@pytest.mark.parametrize("side", sorted({work.side for work in WORKS} | {series.side for series in scaling.SERIES}))
def test_every_side_can_be_imported_without_the_peers(side):
    assert callable(importlib.import_module(f"benchmarks.sides.{side}").ours)


def test_an_unknown_work_is_one_sentence():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "bsf"], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and "there is no work 'bsf'" in done.stderr


def test_paper_is_a_line_through_the_points_measured_and_checks_are_told_beside_it(monkeypatch, tmp_path):
    points = {(sizing.SEARCH.format("time"), 1, 13): 1.0, (sizing.SEARCH.format("time"), 1, 14): 3.0}
    points |= {(sizing.SEARCH.format("memory"), 1, 13): 100.0, (sizing.SEARCH.format("memory"), 1, 14): 200.0}
    points |= {(sizing.DAVI, 2, sizing.WIDEST): 3000.0}
    index = pd.MultiIndex.from_tuples(points, names=["series", "threads", "size"])
    scaling_rows = pd.Series(points.values(), index=index)
    states = 2 * 3**14 - 3**13
    assert sizing.listing(scaling_rows, states) == pytest.approx((5.0, 300.0))
    assert sizing.states_per_second(scaling_rows, 2 * sizing.weights(sizing.WIDEST)) == pytest.approx(1500.0)
    seconds, _ = sizing.listing(scaling_rows, 3**sizing.LARGER)
    found = pd.DataFrame([("seconds", 2 * seconds, "s", "a machine")], columns=["check", "measured", "unit", "machine"])
    *_, row, where = sizing.checks(scaling_rows, found)
    assert row.endswith("| 2.00 |") and where == "| the machine | | a machine | |"


def test_the_page_on_size_has_the_tables_that_the_committed_rows_give():
    folder = PROJECT / "benchmarks"
    rows = pd.read_csv(folder / "scaling.csv").set_index(["series", "threads", "size"])["median"]
    default = read_json(PROJECT / "data" / "measured" / "default.json")
    page = (PROJECT / "docs" / "sizing.md").read_text(encoding="utf-8").splitlines()
    told = [*sizing.checks(rows, pd.read_csv(folder / "sizing.csv")), *sizing.works(rows, default)]
    assert [line for line in told if line.startswith("|")] == [line for line in page if line.startswith("|")]


def test_the_page_of_shortest_solutions_has_the_tables_that_the_committed_rows_give():
    page = (PROJECT / "docs" / "optimal.md").read_text(encoding="utf-8")
    written = page.split(optimal.BEGIN)[1].split(optimal.END)[0].strip().splitlines()
    assert written == optimal.tables(pd.read_csv(optimal.KEPT))


@pytest.mark.parametrize(("page", "lines"), [("docs/puzzles.md", packaged.table), ("README.md", packaged.in_short)])
def test_a_page_has_the_table_of_packaged_networks_that_the_committed_rows_give(page, lines):
    text = (PROJECT / page).read_text(encoding="utf-8")
    written = text.split(packaged.BEGIN)[1].split(packaged.END)[0].strip().splitlines()
    assert written == lines(pd.read_csv(packaged.KEPT))


def test_packaged_networks_are_held_against_released_results_instance_by_instance(tmp_path, monkeypatch):
    boards = ["9 1 7 4 5 10 8 14 15 6 2 11 13 0 12 3,38", "2 1 8 4 5 6 7 15 9 10 11 12 13 14 3 0,"]
    (tmp_path / "puzzle15.csv").write_text("\n".join(["tiles,optimal_moves", *boards]), encoding="utf-8")
    monkeypatch.setenv("COSTTOGO_EXTERNAL", str(tmp_path))
    monkeypatch.setattr(packaged, "KEPT", tmp_path / "packaged.csv")
    asked, told = argparse.Namespace(puzzle="puzzle15", first=2, seconds=0.5, minutes=1), []
    packaged.measure(asked, told.append)
    assert (
        len(told) == 2 and told[-1]["length"].tolist()[0] >= 38 and told[-1]["optimum"].isna().tolist() == [False, True]
    )
    told[-1].to_csv(packaged.KEPT, index=False)
    packaged.measure(asked, told.append)
    assert len(told) == 2, "what has a row is not solved again"


def test_differences_are_of_pairs_and_an_instance_without_a_solution_is_in_none(tmp_path, monkeypatch):
    released = pd.DataFrame(
        {"puzzle": "puzzle35", "instance": range(7, 10), "moves": [100, 110, 120], "nodes_generated": 9}
    )
    released.to_csv(tmp_path / "released.csv", index=False)
    monkeypatch.setattr(packaged, "RELEASED", tmp_path / "released.csv")
    found = [(102.0, math.nan), (math.nan, math.nan), (118.0, math.nan)]
    rows = [("puzzle35", "n", "beam", 5.0, "cpu", 7 + place, *each, 1000, 5.0) for place, each in enumerate(found)]
    kept = pd.DataFrame(rows, columns=packaged.COLUMNS)
    cells = packaged.table(kept)[-1].split(" | ")
    assert cells[0] == "| 35-puzzle, numbers 8 to 10, by an earlier network", "none that comes along has the digest n"
    assert cells[1:5] == ["`beam`", "5", "2", "–"] and cells[5] == "110.00" and cells[8] == "110.00"
    assert cells[9].startswith("0.00 [") and cells[10:13] == ["1", "0", "1"]
    assert len(packaged.in_short(kept)) == 2, "README leaves out networks that do not come along"
    monkeypatch.setattr(packaged, "is_present", lambda _: True)
    assert packaged.in_short(kept)[-1].startswith("| 35-puzzle | 5 | 3 | 2 | 110.00 | – | – | – | 0.00 [")
    faster, longer = kept.assign(processor="other", length=104.0), kept.assign(seconds=60.0, length=102.0)[:2]
    five_seconds, a_minute = packaged.in_short(pd.concat([longer, kept, faster]))[2:]
    assert five_seconds.startswith("| 35-puzzle | 5 | 3 | 3 | 104.00 |"), "of two processors, the one measured last"
    assert a_minute.startswith("| 35-puzzle | 60 | 2 | 2 | 102.00 |")


def test_a_part_of_the_job_for_a_gpu_leaves_its_measurements_and_where_they_were_made(tmp_path, capsys):
    options = ["--tiny", "--device", "cpu", "--out", str(tmp_path), "--part", "walks", "--part", "davi"]
    assert gpu.main(options) == 0
    walks, davi = (read_json(tmp_path / f"{part}.json") for part in ("walks", "davi"))
    assert walks["tiny"] and walks["device"] and walks["torch"] and walks["rows"][0]["unit"] == "states/s"
    assert [row["value"] > 0 for row in davi["rows"]] == [True, True]
    assert "walks drawn, cube" in capsys.readouterr().out


def test_the_job_for_a_gpu_begins_no_part_when_its_minutes_are_up(tmp_path, capsys):
    assert gpu.main(["--tiny", "--device", "cpu", "--out", str(tmp_path), "--minutes", "0"]) == 0
    assert capsys.readouterr().out.count("no time is left") == len(gpu.ALL) and not [*tmp_path.iterdir()]


def test_what_the_job_measured_before_it_was_interrupted_is_kept(tmp_path, capsys, monkeypatch):
    def interrupted(job):
        yield {"work": "first", "value": 1.0, "unit": "s"}
        raise KeyboardInterrupt

    monkeypatch.setitem(gpu.PARTS, "walks", interrupted)
    assert gpu.main(["--device", "cpu", "--out", str(tmp_path), "--part", "walks"]) == 130
    assert is_one_sentence(capsys.readouterr().err.strip())
    assert [row["work"] for row in read_json(tmp_path / "walks.json")["rows"]] == ["first"]


@pytest.mark.parametrize(("found", "status"), [(1, 0), (0, 1)])
def test_the_job_for_a_gpu_fails_if_the_engines_differ(found, status, tmp_path, monkeypatch):
    row = {"work": "successors", "value": found, "unit": "1 if equal"}
    monkeypatch.setitem(gpu.PARTS, "check", lambda job: iter([row]))
    assert gpu.main(["--device", "cpu", "--out", str(tmp_path), "--part", "check"]) == status


def test_a_gpu_that_is_not_there_costs_the_job_one_sentence(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert gpu.main(["--out", str(tmp_path)]) == 1
    told = capsys.readouterr().err.strip()
    assert is_one_sentence(told) and "torch finds no CUDA device" in told
