"""Each number of the literature beside ours: what was found, the verdict on it, and why.

compare makes one frame; the files of comparisons are projections of it.
"""

import math
from collections.abc import Iterator
from fractions import Fraction

import pandas as pd

from costtogo.analysis.documents import LOCAL_VI
from costtogo.analysis.literature import read_local_vi, rows_on
from costtogo.report.answer import NAN, Answer, Row, answer
from costtogo.report.answers import local_vi
from costtogo.report.answers.search import exact, external, known
from costtogo.report.quantities import MACHINE, SETTING, TIME, TIMES, quantity_of
from costtogo.report.results import StudyResults
from costtogo.report.standing import (
    EXACT,
    FACT,
    LEARNED,
    NEITHER,
    NETWORK,
    OPTIMAL,
    OTHER_SETS,
    ours,
    recipe_of,
    stand,
    terms_of,
)

AGREES, BEATS, SHORT, NOT_COVERED = "agrees", "beats", "short", "not covered"
VERDICTS = (AGREES, BEATS, SHORT, NOT_COVERED)
WITHIN, DIFFERS = "within chance", "differs"  # of numbers that are texts
TEXT_TIMES = ("training_minutes", "training_seconds", "seconds_per_board")
BY_RECIPE = {  # the columns of compare by those of a file that tells exact recipes from compact networks
    "exact": "reproduced_thesis",
    "compact": "reproduced_default",
    "exhaustive": "exhaustive",
    "interval_95": "interval_95",
    "verdict": "verdict",
    "compact_verdict": "verdict_default",
    "note": "reason",
    "results_file": "results_file",
}
ALONE = {  # and of one where one of ours stands beside each
    **{"exact": "reproduced", "interval_95": "interval_95", "verdict": "verdict", "note": "note"},
    "results_file": "results_file",
}
APART = "wall-clock times of this study differ from run to run and stand in timings.md"
NEEDS_OPTIMA = (
    *("optimal_percent", "extra_moves", "extra_moves_2_percent", "extra_moves_4_percent", "length_ratio"),
    *("overestimation_mean", "admissible_within_one_percent", "length"),
)


def compare(reported: pd.DataFrame, own: StudyResults) -> pd.DataFrame:
    """One row a reported number, its columns before those of BY_RECIPE.

    exact: ours from the document's own recipe, or the one that stands beside it alone.  compact: from this study's
    network of the same name.  exhaustive: over all states.  verdict: on the exact recipe where it was run.
    """
    by_puzzle = {puzzle: own.of(puzzle) for puzzle in own.puzzles}
    rows = [row | _compared(by_puzzle.get(row["puzzle"], own), row) for row in terms_of(reported, own)]
    return pd.DataFrame(rows, columns=[*reported.columns, *BY_RECIPE])


def compare_all(own: StudyResults) -> pd.DataFrame:
    """compare for all numbers on the puzzles of some results; where wall-clock times may be seen, for times alone."""
    listed = [puzzle for puzzle, asked in own.puzzles.items() if asked.is_exhaustive]
    reported = rows_on(own.puzzles, listed, own.references.reported)
    return compare(reported[reported["quantity"].isin(TIMES)] if own.timed else reported, own)


def project(comparison: pd.DataFrame, columns: dict[str, str]) -> pd.DataFrame:
    """A comparison in the columns of a file, BY_RECIPE or ALONE, after those that tell of the reported number."""
    reported = comparison.columns.difference(BY_RECIPE, sort=False)
    return comparison[[*reported, *columns]].rename(columns={**columns, "value": "reported"})


def _compared(own: StudyResults, row: Row) -> Row:
    found, compact, basis, which = stand(own, row)
    verdict, why = judge(row, basis)
    words = ["" if which == FACT else which, basis.note, why] if basis else [next(_why_not(own, row, which))]
    words += [f"erratum: {row['erratum']}"] if isinstance(row["erratum"], str) else []
    return {
        "exact": found.value if found else NAN,
        "compact": compact.value if compact else NAN,
        "exhaustive": basis.exhaustive if basis and row["repeated"] else NAN,
        "interval_95": f"[{basis.low:.6g}, {basis.high:.6g}]" if basis and not math.isnan(basis.low) else "",
        "verdict": verdict,
        "compact_verdict": judge(row, compact)[0],
        "note": "; ".join(filter(None, words)),
        "results_file": basis.file if basis else "",
    }


def judge(row: Row, found: Answer | None) -> tuple[str, str]:
    """The verdict on our number and why, in words; a setting agrees where it is the same, and is told elsewhere."""
    if found is None:
        return NOT_COVERED, ""
    quantity, theirs, relation = quantity_of(row["quantity"], row["repeated"]), row["value"], row["relation"]
    if quantity.kind == SETTING and relation == "=":
        if math.isclose(found.value, theirs):
            return AGREES, "the same setting"
        return NOT_COVERED, f"a setting, not a result; ours is {found.value:.6g}"
    slack = max(quantity.absolute, quantity.relative * abs(theirs))
    if relation != "=":
        if _holds(found.value, relation, theirs):
            return AGREES, f"{found.value:.6g} {relation} {theirs:.6g}"
        if _holds(found.low, relation, theirs) or _holds(found.high, relation, theirs):
            return AGREES, "within the interval"
    elif not math.isnan(found.low) and found.low <= theirs <= found.high:
        return AGREES, "within the interval"
    elif abs(found.value - theirs) <= slack:
        return AGREES, f"within {slack:.3g}" if slack else "the same"
    better = quantity.better * (found.value - theirs) > 0
    return (BEATS if better else SHORT), f"differs by {found.value - theirs:+.4g}"


def _holds(value: float, relation: str, bound: float) -> bool:
    return {"<": value < bound, "<=": value <= bound, ">": value > bound, ">=": value >= bound}[relation]


# The document on local value iteration, whose numbers are texts


def compare_texts(own: StudyResults) -> pd.DataFrame:
    """The numbers of that document beside ours; where wall-clock times may be seen, times alone.

    Added are reproduced, as text, verdict and note; not covered are those of steps that the study does not take.
    """
    reported = read_local_vi(own.references.reported / LOCAL_VI)
    reported = reported[reported["quantity"].isin(TEXT_TIMES) == own.timed].drop(columns="erratum")
    rows, sizes = [], local_vi.sizes(own)
    for row in reported.to_dict("records"):
        asked = row | {"quantity": local_vi.PREFIX + row["quantity"]}
        found = answer(own, asked) if row["initial_size"] in sizes else None
        verdict, note = judge_text(row, found) if found else (NOT_COVERED, "")
        rows.append(row | {"reproduced": found.text if found else "–", "verdict": verdict, "note": note})
    return pd.DataFrame(rows, columns=[*reported.columns, "reproduced", "verdict", "note"])


def judge_text(row: Row, found: Answer) -> tuple[str, str]:
    """The verdict on our number for a text: exactly the same, within chance where it has bounds, or rounded alike."""
    theirs = row["value"]
    if row["quantity"] in TEXT_TIMES:
        return f"{float(theirs) / found.value:,.0f} times as fast", ""
    if not math.isnan(found.low):
        return (WITHIN if found.low <= float(theirs) <= found.high else DIFFERS), found.note
    if isinstance(found.value, Fraction):
        same = Fraction(theirs) == found.value
    else:
        same = abs(float(theirs) - found.value) * 10 ** len(theirs.partition(".")[2]) <= 1
    return (AGREES, "") if same else (DIFFERS, found.note)


# Why not


def _why_not(own: StudyResults, row: Row, which: str) -> Iterator[str]:
    """Why a number has none of ours beside it: reason after reason, of which the first is told."""
    quantity, model = quantity_of(row["quantity"], row["repeated"]), row["model"]
    if row["repeated"] and quantity.kind == TIME and which != EXACT:
        yield APART
    if row["repeated"]:
        nothing = f"{which}; nothing to compare: not reached, not solved, or not measured"
        yield "the exact recipe has not been run, and the study has no counterpart" if which == NEITHER else nothing
    if quantity.kind == MACHINE:
        yield "a machine, not a result; ours is named in timings.md"
    yield from _listed(own, row) if row["listed"] else _unsolved_or_timed(own, row)
    if quantity.reason and (not row["quantity"].endswith("_tried") or model in LEARNED):
        yield quantity.reason
    if not row["listed"]:
        yield from _large(own, row)
    yield "the study has no counterpart, or has not run it"


def _listed(own: StudyResults, row: Row) -> Iterator[str]:
    """Why not, of a training that is repeated by its name."""
    model = row["model"]
    if isinstance(model, str) and model not in OPTIMAL and ours(recipe_of(own, row), row) is None:
        yield f"the training has not been run: config/{row['source']}.yaml"
    if quantity_of(row["quantity"]).kind == TIME and model == NETWORK:
        yield APART
    if model in OPTIMAL:
        yield "another solver, which the study does not run"


def _unsolved_or_timed(own: StudyResults, row: Row) -> Iterator[str]:
    """Why not, of searches on a puzzle too large to list: too few were solved, or seconds may not be seen."""
    model, found = row["model"], exact(own)
    if (model in OPTIMAL or row["quantity"] == "seconds_ratio_pdb") and found and not found.rows["solved"].all():
        solved, limit = found.rows["solved"], own.asked.optima.max_generated
        yield f"{found.what}, solves {solved.sum()} of {len(solved)} within {limit:,} nodes each: no mean of all"
    timed_here = model in LEARNED or (model in OPTIMAL and own.asked.optima is not None)
    if quantity_of(row["quantity"]).kind == TIME and timed_here and not own.timed:
        yield APART


def _large(own: StudyResults, row: Row) -> Iterator[str]:
    """Why not, of a puzzle too large to list, where the quantity alone does not say it."""
    quantity, model = row["quantity"], row["model"]
    if row["set"] in OTHER_SETS:
        yield OTHER_SETS[row["set"]]
    asked_of = model in (*LEARNED[:1], *OPTIMAL, "Report_DNN")
    if quantity in NEEDS_OPTIMA and asked_of and external(own) is None and own.asked.external is not None:
        yield f"not measured yet: snakemake {own.study}-external measures it"
    if quantity in NEEDS_OPTIMA and external(own) is not None and known(own) is None:
        yield "needs optima, which are not known"
    if isinstance(model, str) and model not in LEARNED:
        yield "another solver or training, which the study does not run"
    if quantity == "optimal_percent" and model == "DeepCube":
        yield "of less scrambled cubes that the slide does not name"
