"""Each number of the literature with ours: what was found, the verdict on it, and why.

compare makes one frame, which becomes reported_vs_reproduced.csv; claims counts it, a sentence of a source once.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import pandas as pd

from costtogo.literature.answers import local_vi
from costtogo.literature.answers.listed_searches import NO_MERIT, is_no_merit
from costtogo.literature.claims import MARKS, YES
from costtogo.literature.counterparts import (
    COMPACT,
    EXACT,
    OURS,
    Counterpart,
    counterpart_of,
    has_trained,
    our_model,
    terms_of,
)
from costtogo.literature.documents import LOCAL_VI
from costtogo.literature.finding import NAN, Finding, Row, absent, deciding, look_up, pooled
from costtogo.literature.other_seeds import with_other_seeds
from costtogo.literature.quantities import TIMES, is_share, quantity_of
from costtogo.literature.reported import read_local_vi, rows_on
from costtogo.literature.verdicts import TRIVIAL, Verdict, is_by_range, judge
from costtogo.literature.why_not import why_not
from costtogo.literature.words import BETTER, CANNOT_TELL, COST, FACT, NOT_COMPARABLE, NOT_RUN, REPRODUCED, WORSE
from costtogo.puzzles import make
from costtogo.tables.results import StudyResults

FOUND = (
    *("recipe", "reproduced", "compact", "exhaustive", "interval_95", "seeds", "verdict", *MARKS),
    *("reason", "results_file"),
)
PRIVATE = ("said", "why", "solver")  # parts of the reason, and what searched: not in reported_vs_reproduced.csv
SENTENCES = {  # how a row's training is named in a reason
    EXACT: "exact recipe",
    COMPACT: "compact network; the exact recipe has not been run",
}
TERMS = ("iteration", "path_weight", "batch_size", "set", "distance")  # of a search, besides its model
SOLUTIONS = (
    *("optimal_percent", "solved_percent", "states_solved", "length", "length_most", "length_ratio"),
    *("extra_moves", "extra_moves_2_percent", "extra_moves_4_percent"),
)
NODES = ("nodes_expanded", "nodes_generated")
AS_MANY = 0.99  # of the source's states: it rounds their number
OF_BEAM = "a beam of fixed width expands as many at each move, whatever the network"
WEIGHED_WITH = {  # nodes of a search with its solutions, and each measure of a network with the other two
    **dict.fromkeys(NODES, SOLUTIONS),
    **dict.fromkeys(SOLUTIONS, NODES),
    **{name: tuple(other for other in TRIVIAL if other != name) for name in TRIVIAL},
}
TRADES = {  # by the verdict on what was better by itself
    NOT_COMPARABLE: "another trade: worse in {}",
    CANNOT_TELL: "perhaps another trade: it may be worse in {}",
}


def compare(reported: pd.DataFrame, own: StudyResults) -> pd.DataFrame:
    """A row for each reported number: its own columns, then those of FOUND and PRIVATE.

    reproduced: ours, by the exact recipe where that was run.  compact: from this study's network of the same name.
    exhaustive: over all states.  interval_95: of reproduced.  seeds: how many trainings it is the mean of.  no_merit:
    "yes" where no heuristic at all does as well.  by_interval: where the number is reproduced because its interval
    comes within the tolerance, and the number itself does not.
    """
    by_puzzle = {puzzle: own.of(puzzle) for puzzle in own.puzzles}
    asked = [(by_puzzle.get(row["puzzle"], own), row) for row in terms_of(reported, own)]
    enough = {_set_of(row) for seen, row in asked if row["quantity"] == "states_sampled" and _has_as_many(seen, row)}
    rows = [row | _compared(seen, row | {"as_many": _set_of(row) in enough}) for seen, row in asked]
    frame = pd.DataFrame(rows, columns=[*reported.columns, *FOUND, *PRIVATE]).drop(columns="contradicted")
    return weigh_together(frame.rename(columns={"value": "reported"}))


def _set_of(row: Row) -> tuple[str, str, str]:
    return row["source"], row["puzzle"], row["set"]


def _has_as_many(own: StudyResults, row: Row) -> bool:
    """Whether our set has at least as many states as the source says, in this row, that it drew for its own."""
    ours = counterpart_of(own, row).basis
    return ours is not None and not ours.missing and ours.value >= AS_MANY * row["value"]


def compare_all(own: StudyResults) -> pd.DataFrame:
    """compare for all numbers on the puzzles of some results; where wall-clock times may be seen, for times alone."""
    listed = [puzzle for puzzle, asked in own.puzzles.items() if asked.is_exhaustive]
    reported = rows_on(own.puzzles, listed, own.references.reported)
    if own.params.documents:
        reported = reported[reported["source"].isin(own.params.documents)]
    return compare(reported[reported["quantity"].isin(TIMES)] if own.timed else reported, own)


def published(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of comparisons with the columns of reported_vs_reproduced.csv."""
    return rows.drop(columns=[*PRIVATE], errors="ignore")


def _compared(own: StudyResults, row: Row) -> Row:
    """The columns of FOUND and PRIVATE for one row."""
    counterpart = with_other_seeds_of(own, row, counterpart_of(own, row))
    found = _on_its_terms(own, row, counterpart.basis)
    judged = _judged(own, row, counterpart, found)
    number = found if found and not found.missing else None
    return {
        "recipe": counterpart.recipe,
        "reproduced": number.value if number else NAN,
        "compact": counterpart.compact.value if counterpart.compact else NAN,
        "exhaustive": number.exhaustive if number and row["repeated"] else NAN,
        "interval_95": interval_text(number, is_share(row["quantity"])),
        "seeds": number.seeds if number and counterpart.recipe else NAN,
        "verdict": judged.verdict,
        **{name: YES if name in judged.marks else "" for name in MARKS},
        "reason": joined(judged.said, judged.why, judged.erratum),
        "results_file": number.file if number else "",
        "said": judged.said,
        "why": judged.why,
        "solver": number.solver if number else "",
    }


class Judged(NamedTuple):
    """The verdict on a row.

    why: the reason for it.  said: what a reader must know before it: the recipe, and what differs from the row's terms.
    erratum: what the source should say.  marks: those of MARKS that hold.
    """

    verdict: str
    why: str
    said: str
    erratum: str
    marks: set[str]


def _judged(own: StudyResults, row: Row, counterpart: Counterpart, found: Finding | None) -> Judged:
    """The verdict on a row, why, and its marks.  found: the number that is judged, None where there is none."""
    verdict, why = judge(row, found)
    if found is None and verdict == NOT_RUN:
        verdict, why = next(why_not(own, row, counterpart))
    recipe = SENTENCES.get(counterpart.recipe, "") if row["repeated"] else ""
    note = found.note if found and found.note != why else ""  # it is the reason itself where we have no number
    erratum = f"erratum: {row['erratum']}" if isinstance(row["erratum"], str) else ""
    return Judged(verdict, why, joined(recipe, note), erratum, {*_marks(row, found, verdict)})


def _marks(row: Row, found: Finding | None, verdict: str) -> Iterator[str]:
    """Those of MARKS that hold of a number of ours and its verdict."""
    if found and found.no_merit:
        yield "no_merit"
    if found and verdict == REPRODUCED and is_by_range(row, found):
        yield "by_interval"


def joined(*parts: str) -> str:
    """Those of the parts that say something, one after the other."""
    return "; ".join(filter(None, parts))


def _on_its_terms(own: StudyResults, row: Row, found: Finding | None) -> Finding | None:
    """What is judged: nothing where the source has other actions; a share that no heuristic reaches, too, is marked."""
    if found and not found.missing and _generates_otherwise(row):
        found = absent(NOT_COMPARABLE, f"the source expands a node by {row['actions']:.0f} actions")
    # A claim on all models is compared with the searches of the first: without a heuristic they are the same
    asked = our_model(own, row) or next((model for model in row["models"] if has_trained(own, model)), None)
    if found and not found.fact and is_no_merit(own, row | {"ours": asked}, found.value):
        found = replace(found, no_merit=True, note=joined(found.note, NO_MERIT))
    return found


def with_other_seeds_of(own: StudyResults, row: Row, counterpart: Counterpart) -> Counterpart:
    """The same, its compact number pooled with those of kept trainings by the same recipe with other seeds."""
    compact = counterpart.compact
    if compact is None or compact.fact or not row["repeated"]:
        return counterpart
    if isinstance(row["model"], str):
        compact = _with_its_seeds(own, row | {"ours": our_model(own, row)}, compact)
    else:
        compact = _of_all_models(own, row) or compact
    is_judged = counterpart.recipe != EXACT  # else the exact recipe is judged, and the compact network shown next to it
    return counterpart._replace(compact=compact, basis=compact if is_judged else counterpart.basis)


def _of_all_models(own: StudyResults, row: Row) -> Finding | None:
    """The number that decides a claim on all models, each with its other seeds; None where one of them has none."""
    found = []
    for of_model in (row | {"model": model, "ours": model} for model in row["models"]):
        single = look_up(own, of_model)
        if single is None:
            return None
        found.append(_with_its_seeds(own, of_model, single))
    return deciding(found, row)


def _with_its_seeds(own: StudyResults, row: Row, single: Finding) -> Finding:
    """The number of a training together with those of kept trainings by its recipe with other seeds."""
    return pooled([single, *with_other_seeds(own, row)])


def _generates_otherwise(row: Row) -> bool:
    """Whether a row counts nodes or batches of a search, and its source has other actions on the puzzle than ours."""
    counts = row["quantity"] in ("nodes_generated", "search_iterations")
    return counts and row["actions"] not in (None, len(make(row["puzzle"]).actions))


def interval_text(found: Finding | None, of_hundred: bool) -> str:
    """The interval of a number, that of a share within 0 and 100.  -> "[97.2, 98.8]", empty where it has none."""
    if found is None or math.isnan(found.low):
        return ""
    low, high = (max(found.low, 0), min(found.high, 100)) if of_hundred else (found.low, found.high)
    return f"[{low:.6g}, {high:.6g}]"


def weigh_together(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with what belongs together weighed: a search's solutions and nodes, the measures of one network.

    Better on the one and worse on the other is another trade, not a better result: not comparable. Where too few
    searches or trainings tell whether the other is worse, neither can this be told. A network's searches are the same
    ones whichever section or document quotes them. Nodes of a beam are its width for each move, so that fewer are no
    merit of its network: not comparable.
    """
    by_beam = rows["quantity"].isin(NODES) & (rows["verdict"] == BETTER) & (rows["solver"] == "beams")
    changed: dict[Any, Verdict] = dict.fromkeys(rows.index[by_beam], (NOT_COMPARABLE, OF_BEAM))
    weighed = rows[rows["quantity"].isin(WEIGHED_WITH) & ~by_beam]
    for _, group in weighed.groupby(["puzzle", "model"], sort=False):
        changed |= _trades(group.to_dict("index"))
    for place, (verdict, why) in changed.items():
        rows.loc[place, ["verdict", "reason"]] = verdict, f"{rows.loc[place, 'reason']}; {why}"
    return rows


def _trades(rows: dict[Any, Row]) -> dict[Any, Verdict]:
    """The verdicts that change, by the place of their rows: numbers of one model on one puzzle."""
    lost, found = [row for row in rows.values() if _may_be_worse(row)], {}
    for place, row in rows.items():
        others = [other for other in lost if other["quantity"] in WEIGHED_WITH[row["quantity"]] and _fit(row, other)]
        if row["verdict"] == BETTER and others:
            verdict = NOT_COMPARABLE if any(other["verdict"] == WORSE for other in others) else CANNOT_TELL
            quantities = dict.fromkeys(other["quantity"] for other in others)
            names = ", ".join(quantity_of(name).title.partition(", ")[0] for name in quantities)
            found[place] = verdict, TRADES[verdict].format(names)
    return found


def _fit(row: Row, other: Row) -> bool:
    """Whether two numbers may be of the same search: terms that both name are equal."""
    return all(row[name] == other[name] or pd.isna(row[name]) or pd.isna(other[name]) for name in TERMS)


def _may_be_worse(row: Row) -> bool:
    """Whether a number is worse than the reported one, or cannot be told and its interval goes so far."""
    if row["verdict"] != CANNOT_TELL:
        return row["verdict"] == WORSE
    ends = [float(end) for end in row["interval_95"].strip("[]").split(",") if end] or [row["reproduced"]]
    return min(quantity_of(row["quantity"]).better * (end - row["reported"]) for end in ends) < 0


def compare_local_vi(own: StudyResults) -> pd.DataFrame:
    """The numbers of the document on local value iteration with ours; where wall-clock times may be seen, times alone.

    The document is about one puzzle; a study of another puzzle has no rows. Added are recipe, reproduced, as text,
    seeds, verdict, MARKS and reason; not run are those of steps that the study does not take.
    """
    reported = read_local_vi(own.references.reported / LOCAL_VI)
    shown = ((reported["kind"] == COST) == own.timed) & (own.puzzle == local_vi.PUZZLE)
    sizes, rows = local_vi.sizes(own), []
    for row in reported[shown].to_dict("records"):
        exact = {"value": Fraction(row["value"]), "written": row["value"], "relation": "=", "repeated": False}
        found = look_up(own, row | exact) if row["initial_size"] in sizes else None
        verdict, _ = judge(row | exact, found) if found else (NOT_RUN, "")
        ours = {"recipe": "" if row["kind"] == FACT else OURS, "reproduced": found.text if found else "–"}
        ours |= {"seeds": NAN, "verdict": verdict}  # its value functions are the same for every seed
        rows.append(row | ours | dict.fromkeys(MARKS, "") | {"reason": found.note if found else ""})
    columns = [*reported.columns, "recipe", "reproduced", "seeds", "verdict", *MARKS, "reason"]
    return pd.DataFrame(rows, columns=columns).drop(columns=["erratum", "contradicted"])
