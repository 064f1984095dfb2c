"""Verdicts follow what they are about: the kept default study, spoilt in one place, is judged otherwise there."""

import shutil
from collections.abc import Sequence

import kept_studies
import numpy as np
import pandas as pd
import pytest
from kept_studies import Change

from costtogo.files import read_csv, read_json
from costtogo.literature.comparison import compare
from costtogo.literature.reported import read_reported
from costtogo.literature.words import BETTER, CANNOT_TELL, NOT_COMPARABLE, NOT_REACHED, WORSE
from costtogo.tables.kept import MEASURED, REPORTED
from costtogo.tables.results import References, StudyResults

MODEL = "DNN_0"  # whose exact recipe has not been run, so that the study's own network is judged
EXACT = ["DNN_final_2x2x2_nr", "DNN_final_2x2x2_nrr", "H7_DNN_0"]  # whose exact recipe is judged
TRIVIAL = ["admissible_percent", "consistent_percent", "overestimation_mean"]


@pytest.fixture
def judged(tmp_path):
    """The verdicts on the numbers of models, with tables changed; reported: or the literature's numbers.

    A change is made in the tables of the study's own network, and in those of its recipe with other seeds.
    """
    measured = tmp_path / "measured"
    shutil.copytree(MEASURED, measured)

    def judge(
        tables: dict[str, Change], reported: Change = lambda rows: rows, models: Sequence[str] = (MODEL,)
    ) -> pd.DataFrame:
        for name, change in tables.items():
            kept_studies.change(measured, "default", name, change)
            kept_studies.change(measured, "several_seeds", "repeats", change)
        rows = read_reported([REPORTED / "thesis.csv"])
        own = StudyResults.to_write_again("default", References(measured=measured))
        return compare(reported(rows[rows["model"].isin(models)].reset_index(drop=True)), own)

    return judge


def kinds(rows: pd.DataFrame, *quantities: str) -> set[str]:
    return set(rows.loc[rows["quantity"].isin(quantities), "verdict"])


def test_swapped_columns_of_the_literature_are_found_out(judged):
    def swapped(rows: pd.DataFrame) -> pd.DataFrame:
        other = {"admissible_percent": "consistent_percent", "consistent_percent": "admissible_percent"}
        return rows.assign(quantity=rows["quantity"].replace(other))

    before, after = judged({}, models=EXACT), judged({}, swapped, models=EXACT)
    changed = set(before.loc[before["verdict"] != after["verdict"], "quantity"])
    assert {"admissible_percent", "consistent_percent"} & changed
    assert changed <= set(TRIVIAL), "what is weighed together"


def test_a_network_that_says_zero_everywhere_is_admissible_and_not_better_for_it(judged):
    def zeroed(measures: pd.DataFrame) -> pd.DataFrame:
        perfect = {"admissible_percent": 100.0, "consistent_percent": 100.0, "overestimation_mean": np.nan}
        return measures.assign(**perfect, mean_absolute_error=10.666)

    assert {CANNOT_TELL, NOT_COMPARABLE} & kinds(judged({}), *TRIVIAL), "seeds that differ so much tell nothing"
    assert kinds(judged({f"audits/{MODEL}/measures": zeroed}), *TRIVIAL) <= {NOT_REACHED, CANNOT_TELL, "source errs"}


def test_checkpoints_shifted_by_a_convergence_point_do_not_stand_for_the_others(judged):
    def shifted(rows: pd.DataFrame) -> pd.DataFrame:
        return rows.assign(convergence_point=rows["convergence_point"] + 1)

    before, after = judged({}), judged({f"searches/{MODEL}/checkpoints": shifted})
    optimal = before["quantity"].eq("optimal_percent") & before["distance"].isna()
    ours = before.loc[optimal, "reproduced"].to_numpy(), after.loc[optimal, "reproduced"].to_numpy()
    assert not np.array_equal(*ours, equal_nan=True)
    assert {NOT_COMPARABLE, NOT_REACHED} & set(after.loc[optimal, "verdict"])


def test_thirty_instances_can_not_tell(judged):
    def shrunk(rows: pd.DataFrame) -> pd.DataFrame:
        return rows.assign(instances=30, optimal_low=60.0, optimal_high=100.0)

    optimal = {"reproduced", "better", "worse"}
    assert kinds(judged({}).query("distance.isna()"), "optimal_percent") & optimal
    after = judged({f"searches/{MODEL}/checkpoints": shrunk}).query("distance.isna()")
    assert not kinds(after, "optimal_percent") & optimal and CANNOT_TELL in kinds(after, "optimal_percent")


def test_worse_searches_are_worse(judged):
    def spoilt(rows: pd.DataFrame) -> pd.DataFrame:
        return rows.assign(optimal_percent=80.0, optimal_low=79.0, optimal_high=81.0)

    after = judged({f"searches/{MODEL}/checkpoints": spoilt}).query("distance.isna()")
    assert WORSE in kinds(after, "optimal_percent") and BETTER not in kinds(after, "optimal_percent")


def test_kept_trainings_with_other_seeds_are_part_of_what_is_judged_and_others_are_not(judged, tmp_path):
    measured = tmp_path / "measured"
    with_others = judged({}).query("seeds > 1 and quantity == 'optimal_percent' and point == 10 and distance.isna()")
    cards, own = (read_json(measured / f"{name}.json") for name in ("several_seeds", "default"))
    (measured / "several_seeds.json").unlink()
    alone = judged({}).loc[with_others.index]
    assert len(alone) and set(alone["seeds"]) == {1}
    rows = read_csv(measured / "several_seeds" / "repeats.csv").query(
        f"variant == '{MODEL}' and convergence_point == 10 and scope == 'all'"
    )
    seed = {number: cards[f"models/{MODEL}_seed{number}"]["parameters"]["training"]["seed"] for number in rows["seed"]}
    same = own[f"models/{MODEL}"]["parameters"]["training"]["seed"]
    others = rows[rows["seed"].map(seed) != same]
    mean = (alone["reproduced"].iloc[0] + others["optimal_percent"].sum()) / len(rows)
    assert len(rows) == len(others) + 1 == with_others["seeds"].iloc[0]
    assert with_others["reproduced"].iloc[0] == pytest.approx(mean)
