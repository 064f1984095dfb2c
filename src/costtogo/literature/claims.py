"""The claims of the literature: a sentence of a source counts once, with the least favourable of its verdicts."""

import pandas as pd

from costtogo.literature.counterparts import COMPACT, EXACT
from costtogo.literature.finding import Row
from costtogo.literature.words import (
    BETTER,
    CANNOT_TELL,
    COST,
    DECIDED,
    FACT,
    HELD,
    NOT_COMPARABLE,
    NOT_JUDGED,
    NOT_REACHED,
    NOT_RUN,
    REPRODUCED,
    SOURCE_ERRS,
    VERDICTS,
    WORSE,
)

MARKS = ("no_merit", "by_interval")  # YES in the rows that they hold of
YES = "yes"
NUMBER = (  # columns that say which number of a document a row is about, and which recipe of ours answers it
    *("source", "section", "quantity", "puzzle", "model", "iteration", "point", "path_weight", "batch_size"),
    *("distance", "set", "relation", "reported", "recipe"),
)
UNFAVOURABLE = (  # verdicts of the rows of a claim: the first of them that a row has is the claim's
    *(WORSE, NOT_REACHED, CANNOT_TELL, NOT_RUN, NOT_COMPARABLE, SOURCE_ERRS, REPRODUCED, BETTER, NOT_JUDGED),
)


def claims(rows: pd.DataFrame) -> pd.DataFrame:
    """One row for each claim: a sentence that several rows spell out, or a single row.

    Columns source, kind, recipe, verdict: the least favourable of its rows, so that it holds only if it does in every
    case; quantity, of the first row with that verdict; numbers, how many rows; no_merit, whether no heuristic at all
    does as well in every row; by_interval, whether one with that verdict misses the tolerance and is within it by its
    interval alone; alone, whether a row rests on a single training.
    """
    groups: dict[tuple, list[Row]] = {}
    for place, row in enumerate(rows.to_dict("records")):  # quicker than groups of pandas by far
        is_named = isinstance(row["claim"], str) and row["claim"] != ""
        groups.setdefault((row["source"], row["claim"] if is_named else place), []).append(row)
    found = []
    for group in groups.values():
        verdict = min((row["verdict"] for row in group), key=UNFAVOURABLE.index)
        decisive, recipes = [row for row in group if row["verdict"] == verdict], {row["recipe"] for row in group}
        first, recipe = group[0], next((name for name in (COMPACT, EXACT) if name in recipes), group[0]["recipe"])
        by_interval = any(row["by_interval"] == YES for row in decisive)
        marks = [all(row["no_merit"] == YES for row in group), by_interval, any(row["seeds"] == 1 for row in group)]
        found.append([first["source"], first["kind"], recipe, verdict, decisive[0]["quantity"], len(group), *marks])
    columns = ["source", "kind", "recipe", "verdict", "quantity", "numbers", *MARKS, "alone"]
    return pd.DataFrame(found, columns=columns)


def claims_judged(rows: pd.DataFrame) -> pd.DataFrame:
    """The claims that are judged: costs and settings are not."""
    counted = claims(rows[rows["kind"] != COST].reset_index(drop=True))
    return counted[counted["verdict"] != NOT_JUDGED]


def once(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of several studies with each number of a document once for each recipe: a decided one if there is one.

    Of several that are alike in this, the first; one that was not run only where no study has another answer.
    """
    decided, ran = rows["verdict"].isin([*DECIDED, SOURCE_ERRS]), rows["verdict"] != NOT_RUN
    answered = pd.concat([rows[decided], rows[ran & ~decided]]).drop_duplicates([*NUMBER])
    any_recipe = [name for name in NUMBER if name != "recipe"]
    rest = pd.concat([answered, rows[~ran]]).drop_duplicates(any_recipe)
    return pd.concat([answered, rest[rest["verdict"] == NOT_RUN]]).sort_index()


def scoreboard(rows: pd.DataFrame) -> pd.DataFrame:
    """How many claims have which verdict, a row for each document, recipe and kind, results apart from facts.

    Columns source, of (results, facts), recipe, claims, VERDICTS but the last, and without, how many of those that hold
    would do so without a heuristic: costs and what is not judged are not counted.
    """
    counted = claims_judged(rows)
    of, without = counted["kind"].map({FACT: "facts"}).fillna("results"), counted["verdict"].isin(HELD)
    counted = counted.assign(of=of, without=without & counted["no_merit"])
    groups = counted.groupby(["source", "of", "recipe"], sort=False)
    wide = groups["verdict"].value_counts().unstack(fill_value=0).reindex(columns=VERDICTS[:-1], fill_value=0)
    wide = wide.assign(claims=wide.sum(axis=1), without=groups["without"].sum())
    return wide.reset_index()[["source", "of", "recipe", "claims", *VERDICTS[:-1], "without"]]
