"""Each number of the literature beside ours: what was found, the verdict on it, and why.

compare makes one frame, which is reported_vs_reproduced.csv; claims counts it, a sentence of a source once.
"""

import math
from dataclasses import replace

import pandas as pd

from costtogo.literature.answers import local_vi
from costtogo.literature.answers.listed_searches import NO_MERIT, is_no_merit
from costtogo.literature.claims import MARKS, YES
from costtogo.literature.documents import LOCAL_VI
from costtogo.literature.finding import NAN, Finding, Row, absent, deciding, look_up, pooled
from costtogo.literature.other_seeds import with_other_seeds
from costtogo.literature.quantities import TIMES, is_share, quantity_of
from costtogo.literature.reported import read_local_vi, rows_on
from costtogo.literature.standing import COMPACT, EXACT, OURS, Standing, has_trained, ours, stand, terms_of
from costtogo.literature.verdicts import TRIVIAL, is_by_interval, is_worse_throughout, judge, judge_text
from costtogo.literature.why_not import why_not
from costtogo.literature.words import BETTER, CANNOT_TELL, COST, FACT, NOT_COMPARABLE, NOT_RUN, REPRODUCED, WORSE
from costtogo.puzzles import make
from costtogo.tables.results import StudyResults

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
        verdict, why = next(why_not(own, row, standing))
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
        several = [pooled([one, *with_other_seeds(own, of)]) for of in each if (one := look_up(own, of)) is not None]
        compact = deciding(several, row) if len(several) == len(each) else single
    return standing._replace(compact=compact, basis=compact if standing.basis is single else standing.basis)


def _generates_otherwise(row: Row) -> bool:
    """Whether a row counts nodes that were generated, and its source has other actions on the puzzle than ours."""
    return row["quantity"] == "nodes_generated" and row["actions"] not in (None, len(make(row["puzzle"]).actions))


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
        found = look_up(own, asked) if row["initial_size"] in sizes else None
        verdict, reason = judge_text(row, found) if found else (NOT_RUN, "")
        recipe = "" if row["kind"] == FACT else OURS
        words = {"recipe": recipe, "reproduced": found.text if found else "–", **dict.fromkeys(MARKS, "")}
        words |= {"seeds": NAN, "verdict": verdict, "reason": reason}  # its value functions are the same for every seed
        rows.append({"source": "local_value_iteration", **row, **words})
    columns = ["source", *reported.columns, "recipe", "reproduced", "seeds", "verdict", *MARKS, "reason"]
    return pd.DataFrame(rows, columns=columns).drop(columns="contradicted")
