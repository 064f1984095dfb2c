"""Two runs side by side: what is the same, within what another seed gives, or different, and what made them."""

import json
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path

import kept_studies
import numpy as np
import pandas as pd
import pytest
from messages import is_one_sentence
from test_repeats import study as repeated  # noqa: F401

from costtogo.commands import compare
from costtogo.files import read_json, write_json
from costtogo.literature.comparison import FOUND, PRIVATE
from costtogo.report import difference
from costtogo.report.difference import ALONE, DIFFERENT, SAME, WITHIN
from costtogo.tables.kept import MEASURED, REPORT, REPORTED, cards_kept
from costtogo.tables.results import StudyResults
from costtogo.types import UserError

STUDY, MODEL = "puzzle8", "residual"


@pytest.fixture(scope="module")
def changed(tmp_path_factory) -> Path:
    """What is kept of studies, with worse searches, another parameter, version and commit in one."""
    measured = tmp_path_factory.mktemp("changed") / "measured"
    shutil.copytree(MEASURED, measured)

    def worse(cells):
        return cells.assign(optimal_percent=cells["optimal_percent"] - 5, nodes_expanded=cells["nodes_expanded"] * 3)

    kept_studies.change(measured, STUDY, f"searches/{MODEL}/grid", worse)
    path = measured / f"{STUDY}.json"
    kept = read_json(path)
    kept[REPORT]["parameters"]["models"][MODEL]["iterations"] += 1
    kept[f"models/{MODEL}"]["versions"]["torch"] = "0.1"
    kept[f"models/{MODEL}"]["timing"]["commit"] = "f" * 40
    kept[f"audits/{MODEL}"]["code"] = "another"
    write_json(path, kept)
    return measured


@pytest.fixture(scope="module")
def found(changed) -> difference.Difference:
    return difference.difference(compare.published(STUDY, changed).results, compare.published(STUDY, MEASURED).results)


def test_only_what_was_changed_is_different(found):
    numbers = found.numbers.set_index(["model", "measure"])["is"]
    assert {*numbers.unique()} == {SAME, DIFFERENT} and found.differs
    assert {*numbers[numbers == DIFFERENT].index} == {(MODEL, "shortest"), (MODEL, "nodes")}


def test_numbers_of_the_literature_are_put_beside_each_other_row_by_row():
    rows = {"source": "thesis", "quantity": ["length", "length", "nodes"], "model": "a", "reported": [1.0, 1.0, np.nan]}
    frame = pd.DataFrame(
        rows | dict.fromkeys([*FOUND, *PRIVATE], "") | {"reproduced": [2.0, 3.0, np.nan], "verdict": "worse"}
    )
    other = frame.assign(reproduced=[2.0, 4.0, np.nan], verdict=["worse", "worse", "better"], why="another")
    found = difference._rows(frame, other.iloc[[0, 2, 1]])
    assert found["is"].tolist() == [SAME, DIFFERENT, SAME]
    assert dict(zip(found["left"].fillna(0), found["right"].fillna(0), strict=True)) == {2.0: 2.0, 3.0: 4.0, 0: 0}
    whole = difference.Difference(pd.DataFrame(columns=difference.NUMBERS), found, pd.DataFrame(), pd.DataFrame())
    assert whole.changed["quantity"].tolist() == ["nodes"] and whole.differs


def test_what_they_were_made_with_is_told_where_it_is_not_the_same(found):
    told = found.settings.set_index(["what", "place"])
    assert int(told.loc[("parameter", f"models.{MODEL}.iterations"), "left"]) == 1 + int(
        told.loc[("parameter", f"models.{MODEL}.iterations"), "right"]
    )
    assert "0.1" in told.loc[("version", "torch"), "left"] and "0.1" not in told.loc[("version", "torch"), "right"]
    assert "f" * 12 in told.loc[("run", "commit"), "left"] and ("code", "audits") in told.index
    assert ("code", "models") not in told.index and ("version", "numpy") not in told.index


def test_the_summary_is_three_lines_and_counts_what_the_tables_have(found):
    lines = compare.summary("mine", "published", found)
    same = (found.numbers["is"] == SAME).sum()
    assert len(lines) == 3 and f"{same} the same, 2 different" in lines[0]
    assert f"{len(found.changed)} of {len(found.rows)} verdicts" in lines[1]
    assert f"models.{MODEL}.iterations" in lines[2] and "version (torch)" in lines[2]


def test_the_same_is_told_in_every_form(found, changed, capsys):
    one, other = (compare.Side(found, name) for name in ("mine", "published"))
    text = compare.as_markdown(one, other, found, whole=False)
    assert text.count(f"| `{MODEL}` |") == 2 and "| shortest |" in text
    whole = compare.as_markdown(one, other, found, whole=True)
    assert whole.count("| the same |") == (found.numbers["is"] == SAME).sum()
    told = json.loads(json.dumps(compare.as_json(one, other, found), allow_nan=False))
    assert told["differs"] and len(told["numbers"]) == len(found.numbers) and len(told["literature"]) == len(found.rows)
    assert told["summary"] == compare.summary("mine", "published", found)


def test_a_run_beside_itself_is_the_same_and_scripts_are_told(capsys, changed):
    code = compare.run(f"{changed}/{STUDY}", f"{changed}/{STUDY}", Path("none"), MEASURED, "brief", False)
    told = capsys.readouterr().out.splitlines()
    assert code == 0 and len(told) == 3 and "different" not in told[0] and "are the same" in told[2]
    assert compare.run(f"{changed}/{STUDY}", None, Path("none"), MEASURED, "brief", False) == compare.DIFFERS


def test_numbers_are_the_same_or_within_seeds_or_different():
    assert difference._is(1.0, 1.0, np.nan) == SAME and difference._is(1.0, 2.0, np.nan) == DIFFERENT
    assert difference._is(1.0, 2.0, 1.5) == WITHIN and difference._is(1.0, 2.0, 0.5) == DIFFERENT
    assert difference._is(1.0, np.nan, 9.0) == difference._is(np.nan, 1.0, 9.0) == ALONE


def test_nineteen_of_twenty_pairs_of_seeds_lie_within_what_seeds_differ_by():
    random, within = np.random.default_rng(1), 0
    for _ in range(2000):
        *known, one, other = random.normal(50, 3, 7)
        within += abs(one - other) <= difference._apart(known)
    assert 0.93 <= within / 2000 <= 0.97


def test_seeds_of_other_studies_and_of_the_study_itself_are_part_of_the_spread(repeated):  # noqa: F811
    numbers = {"walker": {"shortest": 97.0, "error": 2.0, "moves": 5.0}, "runner": {}}
    numbers |= {f"other_seed{k}": {"moves": 4.0 + k} for k in (1, 2)}
    results = repeated.results()
    for k in (1, 2):
        write_json(results.folder / "models" / f"other_seed{k}.json", {})
    spreads = difference._spreads(results, numbers)
    of_walker = dict.fromkeys(["shortest", "nodes", "error", "admissible", "consistent"], 3)
    expected = {("walker", name): seeds for name, seeds in of_walker.items()} | {("other", "moves"): 2}
    assert {place: seeds for place, (seeds, _) in spreads.items()} == expected
    assert spreads[("walker", "error")][1] == 0 < spreads[("walker", "shortest")][1]


def test_a_commit_is_read_as_it_was(changed, tmp_path, monkeypatch):
    for name, source in {MEASURED: changed, REPORTED: REPORTED.absolute()}.items():
        shutil.copytree(source, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    as_one = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "one"]):
        subprocess.run([*as_one, *words], check=True)
    shutil.rmtree(tmp_path / MEASURED)
    with ExitStack() as opened:
        found = compare.side(f"HEAD:{STUDY}", Path("results"), MEASURED, opened)
        assert found.name == f"HEAD:{STUDY}" and found.results.frame(f"searches/{MODEL}/grid").shape[0] > 10


@pytest.mark.parametrize("text", ["nowhere", "HEAD:nowhere", "0123456789:default", "thesis", "half"])
def test_what_is_no_run_is_told_in_one_sentence(text, tmp_path):
    (tmp_path / "half" / "models").mkdir(parents=True)
    with ExitStack() as opened, pytest.raises(UserError) as told:
        compare.side(text, tmp_path, MEASURED, opened)
    assert (
        is_one_sentence(str(told.value)) and text.rpartition(":")[2] in str(told.value) or "commit" in str(told.value)
    )


def test_a_study_that_has_not_run_is_not_compared_with_itself(tmp_path):
    with pytest.raises(UserError, match=f"no results of {STUDY} of yours") as told:
        compare.run(STUDY, None, tmp_path, MEASURED, "brief", False)
    assert is_one_sentence(str(told.value))


def test_what_was_kept_in_an_earlier_form_is_told(tmp_path):
    write_json(tmp_path / "old.json", cards_kept(MEASURED / f"{STUDY}.json"))
    with pytest.raises(UserError, match="earlier form") as told:
        compare.published("old", tmp_path)
    assert is_one_sentence(str(told.value))


def test_own_results_go_before_what_is_published(tmp_path):
    card = cards_kept(MEASURED / f"{STUDY}.json")[REPORT]
    write_json(tmp_path / STUDY / f"{REPORT}.json", card)
    with ExitStack() as opened:
        assert not compare.side(STUDY, tmp_path, MEASURED, opened).results.is_kept
        assert compare.side(STUDY, tmp_path / "none", MEASURED, opened).results.is_kept
        assert isinstance(compare.side(str(MEASURED / STUDY), tmp_path, MEASURED, opened).results, StudyResults)
