"""What makes a difference, beyond the thesis: the part of the report on trainings repeated with several seeds."""

from collections.abc import Callable, Collection
from typing import Any

import pandas as pd

from costtogo.analysis.numbers import Format, amount, places, short
from costtogo.analysis.several_seeds import (
    BASE,
    CELLS,
    compare,
    divergence,
    in_order,
    last_checkpoints,
    longest,
    predictions,
)
from costtogo.params.trainers import training_of, used_parameters
from costtogo.puzzles import family
from costtogo.report.markdown import cell_text, code, table
from costtogo.report.render import render
from costtogo.report.several_seeds import Mean, bold_where_it_differs, in_code, means_table, spread, with_half
from costtogo.tables.kept import mean_distance_at_looks
from costtogo.tables.results import StudyResults

MEASURES = {  # of a checkpoint, over all states, and of the searches with it: heading and format
    "mean_absolute_error": ("mean absolute error, moves", places(3)),
    "rank_correlation": ("rank correlation", places(4)),
    "admissible_percent": ("admissible, %", places(2)),
    "overestimation_mean": ("overestimation, moves", places(3)),
    "consistent_percent": ("consistent, %", places(2)),
    "descending_percent": ("descending, %", places(2)),
    "optimal_percent": ("optimal, %", places(2)),
    "nodes_expanded": ("expanded", amount),
}
OF_TRAINING = {"convergence_point": ("convergence points", places(1)), **MEASURES}
FEW = 10  # a search is good that expands fewer than one in so many states
TARGETS = ["nodes_expanded", "optimal_percent"]
ALL_STARTS = "all_starts_"  # what the metrics of a search from every state begin with
Values = dict[str, Any]


def variants_text(kept: list[StudyResults], asked: Collection[str], drawn: Callable[[str], Callable[..., str]]) -> str:
    """The part; empty where no study with repeated trainings on the puzzles asked about was kept.

    kept: the results of the studies that were kept.  drawn(puzzle) gives a function that gives figures on a puzzle
    as Markdown.
    """
    repeated = [each for each in kept if each.find_frame("variants") is not None]
    studies = [_study(each, asked) for each in repeated if each.frame("variants")["puzzle"].isin(asked).any()]
    return render("variants", studies=studies, drawn=drawn) if studies else ""


def _study(kept: StudyResults, asked: Collection[str]) -> Values:
    """The values of a study: each puzzle asked about, what admissibility costs, the searches from every state."""
    rows = kept.frame("variants")
    rows = rows[rows["puzzle"].isin(asked)]
    puzzles, admissible = [_puzzle(kept, puzzle, own) for puzzle, own in rows.groupby("puzzle")], _admissible(kept)
    admissible = admissible[admissible["puzzle"].isin(asked)]
    return {"name": kept.study, "puzzles": puzzles, "admissible": admissible, "all_starts": _all_starts(kept)}


def _puzzle(kept: StudyResults, puzzle: str, rows: pd.DataFrame) -> Values:
    """The trainings on a puzzle; None for what does not suit it."""
    tower, mean = family(puzzle) == "hanoi", mean_distance_at_looks(kept.cards, puzzle)
    searched = None if tower or mean is not None else rows.dropna(subset=TARGETS)
    chosen = rows[rows["selected"].astype(bool)]
    last = last_checkpoints(rows)
    ends = {"at the end of the budget": last}
    ends |= {} if last.index.equals(chosen.index) else {"of the chosen checkpoint": chosen}
    return {
        "puzzle": puzzle,
        "base": BASE + puzzle,
        "changes": _changes(kept, puzzle, rows),
        "states_seen": rows["states_seen"].iloc[0],
        "towers": _from_the_start(last_checkpoints(rows), BASE + puzzle) if tower else None,
        "trainings": [] if tower else [_compared(frame, when, BASE + puzzle) for when, frame in ends.items()],
        "mean_distance": mean,
        "divergence": None if mean is None else _divergence(rows, mean, BASE + puzzle),
        "longer": None if searched is None else _longer(searched),
        "predictors": None if searched is None else _predictors(searched),
    }


def _changes(kept: StudyResults, puzzle: str, rows: pd.DataFrame) -> list[list[str]]:
    """What each variant changes, from the parameters themselves."""

    def parameters(variant: str) -> Values:
        record = kept.card(f"models/{kept.seeds_of(variant)[1]}")["parameters"]["training"]
        return used_parameters(training_of(**record).model_dump())  # also what was added since it was kept

    base, changes = parameters(BASE + puzzle), []
    for variant in in_order(rows["variant"], BASE + puzzle)[1:]:
        own = parameters(variant)
        changed = sorted(key for key in base | own if base.get(key) != own.get(key))
        changes.append([code(variant), "; ".join(f"{key} {short(own.get(key, '–'))}" for key in changed)])
    return changes


def _compared(frame: pd.DataFrame, when: str, base: str) -> Values:
    """The means over the seeds of each variant; in bold what differs from the base."""
    found = in_code(compare(frame, "variant", [*OF_TRAINING], base), "variant")
    means = [
        Mean(heading, name, bold_where_it_differs(with_half(form))) for name, (heading, form) in OF_TRAINING.items()
    ]
    searched, cell = frame["nodes_expanded"].notna().all(), cell_text(frame[CELLS].iloc[0])
    told, points = means_table(found, {"variant": "variant"}, means, "seeds"), _points(found)
    return {"table": told, "when": when, "cell": cell, "all_searched": searched, "points": points}


def _points(found: pd.DataFrame) -> dict[str, str]:
    """The variants, in what compare found, with more and fewer convergence points than the base, and the others."""
    points = found[found["measure"] == "convergence_point"].iloc[1:]
    more, fewer = points["difference_low"] > 0, points["difference_high"] < 0
    parts = {"more": more, "fewer": fewer, "others": ~(more | fewer)}
    return {name: ", ".join(points.loc[which, "variant"]) or "none" for name, which in parts.items()}


def _divergence(rows: pd.DataFrame, mean_distance: float, base: str) -> list[list[str]]:
    """Which trainings ended worse than they began, and when they were best (final-year report, 4.2.2)."""
    found, lines = divergence(rows, mean_distance), []
    for variant in in_order(found["variant"], base):
        own = found[found["variant"] == variant]
        within, errors = own["within_one"].dropna(), [own["least_error"], own["last_error"]]
        reached = f"{_spread(within)} ({len(within)} of {len(own)})" if len(within) else "never"
        times = [_spread(own["least_at"]), reached]
        diverged = f"{own['diverged'].sum()} of {len(own)}"
        lines.append([code(variant), diverged, *(_spread(error, places(3)) for error in errors), *times])
    return lines


def _longer(rows: pd.DataFrame) -> Values | None:
    """Each measure against the convergence point (thesis 5.6), of the variant that reaches the most points; None where
    no training has checkpoints of two."""
    points = rows[rows["kind"] == "convergence_point"]
    if not points.duplicated(["variant", "seed"]).any():
        return None
    variant = longest(points)
    found = compare(points[points["variant"] == variant], "convergence_point", [*MEASURES])
    means = [Mean(heading, name, with_half(form)) for name, (heading, form) in MEASURES.items()]
    return {"variant": variant, "table": means_table(found, {"convergence_point": "convergence point"}, means, "seeds")}


def _predictors(rows: pd.DataFrame) -> Values:
    """How each measure orders the checkpoints, compared with how the searches do."""
    headings = {name: heading for name, (heading, _) in MEASURES.items() if name not in TARGETS}
    headings["bias"] = "bias, moves"
    found = predictions(rows.reset_index(drop=True), list(headings), TARGETS).set_index(["measure", "within", "target"])
    scopes = [(within, target) for within in (False, True) for target in TARGETS]
    lines = [[head, *(_correlation(found.loc[(name, *scope)]) for scope in scopes)] for name, head in headings.items()]
    return {"rows": lines, "checkpoints": len(rows), "trainings": rows.groupby(["variant", "seed"]).ngroups}


def _correlation(row: pd.Series) -> str:
    return f"{row['correlation']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"


def _from_the_start(last: pd.DataFrame, base: str) -> Values:
    """How far the trainings on a tower came: the searches from its start state."""
    cells = list(last[CELLS].drop_duplicates().itertuples(index=False, name=None))
    _, weight, size = hardest = max(cells, key=lambda cell: (cell[1], -cell[2]))
    few, lines = int(last["states"].max() / FEW), []
    for variant in in_order(last["variant"], base):
        group = last[last["variant"] == variant]
        searched = {cell: group[(group[CELLS] == list(cell)).all(axis=1)] for cell in cells}
        names = ("states_seen", "reach", "mean_absolute_error", "descending_percent")
        measured = [_spread(searched[hardest][name]) for name in names]
        expanded = [_spread(found["nodes_expanded"]) for found in searched.values()]
        below = (searched[hardest]["nodes_expanded"] < few).sum()
        lines.append([code(variant), *measured, *expanded, f"{below} of {len(searched[hardest])}"])
    header = ["variant", "states drawn", "disks or walk length reached", "mean absolute error, moves", "descending, %"]
    header += [f"expanded, λ = {weight:g}, N = {size}" for _, weight, size in cells]
    told = table([*header, f"seeds below {amount(few)}"], lines)
    return {"table": told, "states": last["states"].max(), "path_weight": weight, "batch_size": size}


def _spread(values: pd.Series, form: Format = amount) -> str:
    """The median of the seeds, and the least and the most where they differ.  -> "81 [64, 120]"."""
    return spread(values.min(), values.median(), values.max(), form)


def _admissible(kept: StudyResults) -> pd.DataFrame:
    """The network less its largest overestimate, and what that costs; of repeated trainings the first seed."""
    rows = kept.frame("admissible").set_index(["model", "puzzle"])
    rows = rows[[kept.trainings[model].seed in (0, 1) for model, _ in rows.index]]
    network, exact, shifted = (rows[rows["heuristic"] == kind] for kind in ("network", "exact", "shifted"))
    return network.assign(
        overestimation_max=shifted["overestimation_max"],
        shifted_optimal_percent=shifted["optimal_percent"],
        shifted_nodes_expanded=shifted["nodes_expanded"],
        exact_nodes_expanded=exact["nodes_expanded"],
        instances=shifted["instances"],
        price=shifted["nodes_expanded"] / network["nodes_expanded"],
    ).reset_index()


def _all_starts(kept: StudyResults) -> pd.DataFrame:
    """The searches from every state; without rows where there are none."""
    rows = []
    for place, card in kept.cards.items():
        metrics = card["metrics"]
        if f"{ALL_STARTS}optimal_percent" in metrics:
            cell = cell_text(card["parameters"]["search"]["headline"]).partition(", ")[2]
            rows.append({"model": place.removeprefix("searches/"), "cell": cell, **metrics})
    return pd.DataFrame(rows)
