"""Each number of the literature beside ours: what was found, the verdict on it, and why.

compare makes one frame, which is reported_vs_reproduced.csv; claims counts it, a sentence of a source once.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from costtogo.analysis.documents import LOCAL_VI
from costtogo.analysis.literature import read_local_vi, rows_on
from costtogo.puzzles import make
from costtogo.report.answer import NAN, Answer, Row, absent, answer, deciding, pooled
from costtogo.report.answers import local_vi
from costtogo.report.answers.cells import NO_MERIT, is_no_merit
from costtogo.report.answers.search import exact, external, known
from costtogo.report.quantities import TIMES, is_share, quantity_of
from costtogo.report.repeats import with_other_seeds
from costtogo.report.results import StudyResults
from costtogo.report.standing import (
    COMPACT,
    EXACT,
    LEARNED,
    NETWORK,
    OPTIMAL,
    OTHER_SETS,
    OURS,
    Standing,
    has_trained,
    not_run,
    ours,
    recipe_of,
    stand,
    terms_of,
)
from costtogo.report.verdicts import TRIVIAL, Verdict, is_by_interval, is_worse_throughout, judge, judge_text
from costtogo.report.words import (
    BETTER,
    CANNOT_TELL,
    COST,
    FACT,
    NOT_COMPARABLE,
    NOT_JUDGED,
    NOT_REACHED,
    NOT_RUN,
    REPRODUCED,
    SOURCE_ERRS,
    VERDICTS,
    WORSE,
)

MARKS = ("no_merit", "all_worse", "by_interval")  # YES in the rows that they hold of
YES = "yes"
FOUND = (
    *("recipe", "reproduced", "compact", "exhaustive", "interval_95", "seeds", "verdict", *MARKS),
    *("reason", "results_file"),
)
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
APART = "wall-clock times of this study differ from run to run and stand in timings.md"
NEEDS_OPTIMA = (
    *("optimal_percent", "extra_moves", "extra_moves_2_percent", "extra_moves_4_percent", "length_ratio"),
    *("overestimation_mean", "admissible_within_one_percent", "length"),
)
BESIDE = {"at_most_kociemba_percent": "Kociemba"}  # quantities of two solvers: the one of another document
WEIGHED_WITH = {  # nodes of a search with its solutions, and each measure of a network with the other two
    **dict.fromkeys(NODES, SOLUTIONS),
    **dict.fromkeys(SOLUTIONS, NODES),
    **{name: tuple(other for other in TRIVIAL if other != name) for name in TRIVIAL},
}
TRADES = {  # by the verdict on what was better by itself
    NOT_COMPARABLE: "another trade: worse in {}",
    CANNOT_TELL: "perhaps another trade: it may be worse in {}",
}
OF_BEAM = "a beam of fixed width expands as many at each move, whatever the network"
UNFAVOURABLE = (  # verdicts of the rows of a claim: the first of them that a row has is the claim's
    *(WORSE, NOT_REACHED, CANNOT_TELL, NOT_RUN, NOT_COMPARABLE, SOURCE_ERRS, REPRODUCED, BETTER, NOT_JUDGED),
)


def compare(reported: pd.DataFrame, own: StudyResults) -> pd.DataFrame:
    """One row a reported number, its columns before those of FOUND.

    reproduced: ours, by the exact recipe where that was run.  compact: from this study's network of the same name.
    exhaustive: over all states.  interval_95: of reproduced.  seeds: how many trainings it is the mean of.  no_merit:
    "yes" where no heuristic at all does as well.  all_worse: where a verdict that cannot be told is of an interval that
    is worse throughout.  by_interval: where the number is reproduced because the reported one lies in its interval,
    and misses the tolerance.
    """
    by_puzzle = {puzzle: own.of(puzzle) for puzzle in own.puzzles}
    rows = [row | _compared(by_puzzle.get(row["puzzle"], own), row) for row in terms_of(reported, own)]
    frame = pd.DataFrame(rows, columns=[*reported.columns, *FOUND]).drop(columns="contradicted")
    return weigh_together(frame.rename(columns={"value": "reported"}))


def compare_all(own: StudyResults) -> pd.DataFrame:
    """compare for all numbers on the puzzles of some results; where wall-clock times may be seen, for times alone."""
    listed = [puzzle for puzzle, asked in own.puzzles.items() if asked.is_exhaustive]
    reported = rows_on(own.puzzles, listed, own.references.reported)
    if own.params.documents:
        reported = reported[reported["source"].isin(own.params.documents)]
    return compare(reported[reported["quantity"].isin(TIMES)] if own.timed else reported, own)


def _compared(own: StudyResults, row: Row) -> Row:
    standing = of_all_seeds(own, row, stand(own, row))
    found = standing.basis
    if found and not found.missing and _generates_otherwise(row):
        found = absent(NOT_COMPARABLE, f"the source expands a node by {row['actions']:.0f} actions")
    asked = ours(own, row) or next((model for model in row["models"] if has_trained(own, model)), None)
    if found and not found.fact and is_no_merit(own, row | {"ours": asked}, found.value):
        found = replace(found, no_merit=True, note="; ".join(filter(None, [found.note, NO_MERIT])))
    verdict, why = judge(row, found)
    if found is None and verdict == NOT_RUN:
        verdict, why = next(_why_not(own, row, standing))
    recipe = SENTENCES.get(standing.recipe, "") if row["repeated"] else ""
    words = [recipe, found.note if found else "", why]
    words += [f"erratum: {row['erratum']}"] if isinstance(row["erratum"], str) else []
    number = found if found and not found.missing else None
    trained = bool(number and standing.recipe)
    return {
        "recipe": standing.recipe,
        "reproduced": number.value if number else NAN,
        "compact": standing.compact.value if standing.compact else NAN,
        "exhaustive": number.exhaustive if number and row["repeated"] else NAN,
        "interval_95": interval_text(number, is_share(row["quantity"])),
        "seeds": number.seeds if trained else NAN,
        "verdict": verdict,
        "no_merit": YES if found and found.no_merit else "",
        "all_worse": YES if number and verdict == CANNOT_TELL and is_worse_throughout(row, number) else "",
        "by_interval": YES if number and verdict == REPRODUCED and is_by_interval(row, number) else "",
        "reason": "; ".join(filter(None, words)),
        "results_file": number.file if number else "",
    }


def of_all_seeds(own: StudyResults, row: Row, standing: Standing) -> Standing:
    """The same, a number of this study's compact network together with those of kept trainings with other seeds.

    Of a claim on all models, each of them is asked for with its other seeds.
    """
    single = standing.compact
    if single is None or single.fact or not row["repeated"]:
        return standing
    if isinstance(row["model"], str):
        compact = pooled([single, *with_other_seeds(own, row | {"ours": ours(own, row)})])
    else:
        each = [row | {"model": model, "ours": model} for model in row["models"]]
        several = [pooled([one, *with_other_seeds(own, of)]) for of in each if (one := answer(own, of)) is not None]
        compact = deciding(several, row) if len(several) == len(each) else single
    return standing._replace(compact=compact, basis=compact if standing.basis is single else standing.basis)


def _generates_otherwise(row: Row) -> bool:
    """Whether a row counts nodes that were generated, and its source has other actions on the puzzle than ours."""
    return row["quantity"] == "nodes_generated" and row["actions"] not in (None, len(make(row["puzzle"]).actions))


def interval_text(found: Answer | None, of_hundred: bool) -> str:
    """The interval of a number, that of a share within 0 and 100.  -> "[97.2, 98.8]", empty where it has none."""
    if found is None or math.isnan(found.low):
        return ""
    low, high = (max(found.low, 0), min(found.high, 100)) if of_hundred else (found.low, found.high)
    return f"[{low:.6g}, {high:.6g}]"


def weigh_together(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with what belongs together weighed: a search's solutions and nodes, the measures of one network.

    Better on the one and worse on the other is another trade, not a better result: not comparable. Where too few
    searches or trainings tell whether the other is worse, neither can this be told. A network's searches are the same
    ones whichever section or document quotes them. Nodes of a beam are its width for each move, so that fewer
    are no merit of its network: not comparable.
    """
    by_beam = rows["quantity"].isin(NODES) & (rows["verdict"] == BETTER) & rows["results_file"].str.contains("/beams/")
    rows.loc[by_beam, "verdict"], rows.loc[by_beam, "reason"] = NOT_COMPARABLE, rows["reason"] + f"; {OF_BEAM}"
    weighed = rows[rows["quantity"].isin(WEIGHED_WITH)]
    lost = pd.Series([_may_be_worse(row) for row in weighed.to_dict("records")], index=weighed.index, dtype=bool)
    for place, row in weighed[weighed["verdict"] == BETTER].iterrows():
        alike = weighed["quantity"].isin(WEIGHED_WITH[row["quantity"]]) & lost
        for name in ("puzzle", "model"):
            alike &= weighed[name] == row[name]
        for name in TERMS:
            alike &= (weighed[name] == row[name]) | weighed[name].isna() | pd.isna(row[name])
        if alike.any():
            others = weighed[alike]
            verdict = NOT_COMPARABLE if (others["verdict"] == WORSE).any() else CANNOT_TELL
            names = ", ".join(quantity_of(name).title.partition(", ")[0] for name in others["quantity"].unique())
            rows.loc[place, ["verdict", "reason"]] = verdict, f"{row['reason']}; {TRADES[verdict].format(names)}"
    return rows


def _may_be_worse(row: Row) -> bool:
    """Whether a number is worse than the reported one, or cannot be told and its interval goes so far."""
    if row["verdict"] != CANNOT_TELL:
        return row["verdict"] == WORSE
    ends = [float(end) for end in row["interval_95"].strip("[]").split(",") if end] or [row["reproduced"]]
    return min(quantity_of(row["quantity"]).better * (end - row["reported"]) for end in ends) < 0


# Claims


def claims(rows: pd.DataFrame) -> pd.DataFrame:
    """One row for each claim: a sentence that several rows spell out, or a row that stands alone.

    Columns source, kind, recipe, verdict: the least favourable of its rows, so that it holds only if it does in every
    case; quantity, of the first row with that verdict; numbers, how many rows; no_merit, whether no heuristic at all
    does as well in every row; all_worse, whether the interval of one with that verdict is worse throughout;
    by_interval, whether one with that verdict misses the tolerance and lies in its interval; alone, whether a row rests
    on a single training.
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
        either = [any(row[mark] == YES for row in decisive) for mark in ("all_worse", "by_interval")]
        marks = [all(row["no_merit"] == YES for row in group), *either, any(row["seeds"] == 1 for row in group)]
        found.append([first["source"], first["kind"], recipe, verdict, decisive[0]["quantity"], len(group), *marks])
    columns = ["source", "kind", "recipe", "verdict", "quantity", "numbers", *MARKS, "alone"]
    return pd.DataFrame(found, columns=columns)


def claims_judged(rows: pd.DataFrame) -> pd.DataFrame:
    """The claims that are judged: costs and settings are not."""
    counted = claims(rows[rows["kind"] != COST].reset_index(drop=True))
    return counted[counted["verdict"] != NOT_JUDGED]


def scoreboard(rows: pd.DataFrame) -> pd.DataFrame:
    """How many claims have which verdict, a row for each document, recipe and kind, results apart from facts.

    Columns source, of (results, facts), recipe, claims and VERDICTS but the last: costs and what is not judged are not
    counted.
    """
    counted = claims_judged(rows)
    of = counted["kind"].map({FACT: "facts"}).fillna("results")
    table = counted.assign(of=of).groupby(["source", "of", "recipe"], sort=False)["verdict"].value_counts()
    wide = table.unstack(fill_value=0).reindex(columns=VERDICTS[:-1], fill_value=0)
    return wide.assign(claims=wide.sum(axis=1)).reset_index()[["source", "of", "recipe", "claims", *VERDICTS[:-1]]]


# The document on local value iteration, whose numbers are texts


def compare_texts(own: StudyResults) -> pd.DataFrame:
    """The numbers of that document beside ours; where wall-clock times may be seen, times alone.

    The document is about one puzzle; a study of another puzzle has no rows. Added are recipe, reproduced, as text,
    seeds, verdict, MARKS and reason; not run are those of steps that the study does not take.
    """
    reported = read_local_vi(own.references.reported / LOCAL_VI)
    told = ((reported["kind"] == COST) == own.timed) & (own.puzzle == local_vi.PUZZLE)
    reported = reported[told].drop(columns="erratum")
    rows, sizes = [], local_vi.sizes(own)
    for row in reported.to_dict("records"):
        asked = row | {"quantity": local_vi.PREFIX + row["quantity"]}
        found = answer(own, asked) if row["initial_size"] in sizes else None
        verdict, reason = judge_text(row, found) if found else (NOT_RUN, "")
        recipe = "" if row["kind"] == FACT else OURS
        words = {"recipe": recipe, "reproduced": found.text if found else "–", **dict.fromkeys(MARKS, "")}
        words |= {"seeds": NAN, "verdict": verdict, "reason": reason}  # its value functions are the same for every seed
        rows.append({"source": "local_value_iteration", **row, **words})
    columns = ["source", *reported.columns, "recipe", "reproduced", "seeds", "verdict", *MARKS, "reason"]
    return pd.DataFrame(rows, columns=columns).drop(columns="contradicted")


# Why not


def _why_not(own: StudyResults, row: Row, standing: Standing) -> Iterator[Verdict]:
    """Why a number has none of ours beside it: verdict after verdict, of which the first counts."""
    quantity, model = quantity_of(row["quantity"], row["repeated"]), row["model"]
    if row["repeated"] and quantity.clock and standing.recipe != EXACT:
        yield NOT_JUDGED, APART
    if row["repeated"] and standing.recipe:
        yield NOT_COMPARABLE, "not measured on these terms"
    if row["repeated"] and row["source"] in own.params.beside:
        told = "; timings.md has the hours that it would take" if model in set(not_run(own)["model"]) else ""
        yield NOT_RUN, f"the exact recipe has not been run, and the study has no counterpart{told}"
    yield from _listed(own, row) if row["listed"] else _unsolved_or_timed(own, row)
    if quantity.reason and (not row["quantity"].endswith("_tried") or model in LEARNED):
        yield NOT_RUN, quantity.reason
    if not row["listed"]:
        yield from _large(own, row)
    yield NOT_RUN, "the study has no counterpart, or has not run it"


def _listed(own: StudyResults, row: Row) -> Iterator[Verdict]:
    """Why not, of a training that is repeated by its name."""
    model = row["model"]
    if isinstance(model, str) and model not in OPTIMAL and not has_trained(recipe_of(own, row), model):
        yield NOT_RUN, f"the training has not been run: config/{row['source']}.yaml"
    if quantity_of(row["quantity"]).clock and model == NETWORK:
        yield NOT_JUDGED, APART
    if model in OPTIMAL:
        yield NOT_RUN, "another solver, which the study does not run"


def _unsolved_or_timed(own: StudyResults, row: Row) -> Iterator[Verdict]:
    """Why not, of searches on a puzzle too large to list: too few were solved, or seconds may not be seen."""
    model, found = row["model"], exact(own)
    if (model in OPTIMAL or row["quantity"] == "seconds_ratio_pdb") and found and not found.rows["solved"].all():
        solved, limit = found.rows["solved"], own.asked.optima.max_generated
        why = f"{found.what}, solves {solved.sum()} of {len(solved)} within {limit:,} nodes each: no mean of all"
        yield NOT_REACHED, why
    timed_here = model in LEARNED or (model in OPTIMAL and own.asked.optima is not None)
    if quantity_of(row["quantity"]).clock and timed_here and not own.timed:
        yield NOT_JUDGED, APART


def _large(own: StudyResults, row: Row) -> Iterator[Verdict]:
    """Why not, of a puzzle too large to list, where the quantity alone does not say it."""
    quantity, model = row["quantity"], row["model"]
    if row["set"] in OTHER_SETS:
        yield NOT_COMPARABLE, OTHER_SETS[row["set"]]
    asked_of = model in (*LEARNED[:1], *OPTIMAL, "Report_DNN")
    if quantity in NEEDS_OPTIMA and asked_of and external(own) is None and own.asked.external is not None:
        yield NOT_RUN, f"not measured yet: snakemake {own.study}-external measures it"
    if quantity in NEEDS_OPTIMA and external(own) is not None and known(own) is None:
        yield NOT_COMPARABLE, "needs optima, which are not known"
    if "Kociemba" in (model, BESIDE.get(quantity)) and own.asked.two_phase is not None:
        yield NOT_RUN, f"not measured yet: snakemake {own.study}-two_phase measures it"
    if isinstance(model, str) and model not in LEARNED:
        yield NOT_RUN, "another solver or training, which the study does not run"
    if quantity == "optimal_percent" and model == "DeepCube":
        yield NOT_RUN, "of cubes of 15 random turns, which the study does not have or not by trees"
