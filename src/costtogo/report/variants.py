"""What makes a difference, beyond the thesis: the section of the report on trainings repeated with several seeds."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from costtogo.analysis.variants import (
    BASE,
    CELLS,
    by_point,
    compare,
    divergence,
    last_checkpoints,
    longest,
    predictions,
)
from costtogo.figures.catalogue import mean_distance_at_looks
from costtogo.puzzles import family
from costtogo.report.markdown import amount, is_missing, percent, places, short, table
from costtogo.report.results import StudyResults
from costtogo.report.text import used_parameters

SHARE, MOVES, RATIO, NODES = places(2), places(3), places(4), amount
MEASURES = {  # of a checkpoint, over all states, and of the searches with it: heading and format
    "mean_absolute_error": ("mean absolute error, moves", MOVES),
    "rank_correlation": ("rank correlation", RATIO),
    "admissible_percent": ("admissible, %", SHARE),
    "overestimation_mean": ("overestimation, moves", MOVES),
    "consistent_percent": ("consistent, %", SHARE),
    "descending_percent": ("descending, %", SHARE),
    "optimal_percent": ("optimal, %", SHARE),
    "nodes_expanded": ("expanded", NODES),
}
FEW = 10  # a search is good that expands fewer than one in so many states
TARGETS = ["nodes_expanded", "optimal_percent"]


def variants_text(kept: list[StudyResults], pictures) -> str:
    """The section; nothing where no study with repeated trainings was kept.

    kept: the results of the studies that were kept.  pictures(kind, puzzle) gives the figures of a kind on a puzzle as
    Markdown.
    """
    repeated = [each for each in kept if each.find("variants") is not None]
    parts = [part for each in repeated for part in _study(each, pictures)]
    return "\n".join(["\n## Beyond the thesis: what makes a difference\n", *parts]) if parts else ""


def _study(kept: StudyResults, pictures) -> Iterator[str]:
    frame, cards = kept.frame("variants"), kept.cards
    yield (
        f"The study `{kept.study}` ([config/{kept.study}.yaml](../../config/{kept.study}.yaml)) repeats trainings that"
        " differ in one thing with several seeds, on equal budgets of states; the same seed gives the same first"
        f" weights and samples. All numbers: [data/measured/{kept.study}](../../data/measured/{kept.study}).\n"
    )
    for puzzle, rows in frame.groupby("puzzle"):
        tower = family(puzzle) == "hanoi"
        yield f"### {puzzle}\n"
        yield _differences(cards, rows)
        yield from _towers(rows) if tower else _trainings(rows)
        yield pictures("variants", puzzle)
        if (mean := mean_distance_at_looks(cards, puzzle)) is not None:
            yield _divergence(rows, mean)
            for kind in ("variant_errors", "variant_losses", "variant_costs"):
                yield pictures(kind, puzzle)
        elif not tower:
            searched = rows.dropna(subset=TARGETS)
            yield from _longer(searched)
            yield pictures("measures_by_point", puzzle)
            yield from _predictors(searched)
            yield pictures("predictors", puzzle)
    yield from _admissible(kept.frame("admissible"))
    yield from _all_starts(cards)


def _differences(cards: dict[str, Any], rows: pd.DataFrame) -> str:
    """What each variant changes, from the parameters themselves."""
    puzzle = rows["puzzle"].iloc[0]
    base = used_parameters(cards[f"models/{BASE}{puzzle}_seed1"]["parameters"]["training"])
    listed = []
    for variant in sorted(set(rows["variant"]) - {BASE + puzzle}):
        own = used_parameters(cards[f"models/{variant}_seed1"]["parameters"]["training"])
        changed = [key for key in base | own if base.get(key) != own.get(key)]
        listed.append([f"`{variant}`", "; ".join(f"{key} {short(own.get(key, '–'))}" for key in sorted(changed))])
    seen = f"{amount(rows['states_seen'].iloc[0])} states drawn in each training.\n"
    if not listed:
        return f"`{BASE}{puzzle}`: {seen}"
    return f"What each changes of `{BASE}{puzzle}`:\n\n" + table(["variant", "parameters"], listed)


def _trainings(rows: pd.DataFrame) -> Iterator[str]:
    """The end of each training, and the checkpoint that its selection set chose."""
    chosen = rows[rows["selected"].astype(bool)]
    for title, frame in {
        "at the end of the budget": last_checkpoints(rows),
        "of the chosen checkpoint": chosen,
    }.items():
        yield _compared(frame, title)


def _compared(frame: pd.DataFrame, title: str) -> str:
    base = BASE + frame["puzzle"].iloc[0]
    measures = ["convergence_point", *MEASURES]
    found = compare(frame, base, measures).set_index(["variant", "measure"])
    variants = list(dict.fromkeys(found.index.get_level_values("variant")))
    formats = {"convergence_point": ("convergence points", places(1)), **MEASURES}
    rows = []
    for name in variants:
        cells = [_cell(found.loc[(name, key)], formats[key][1]) for key in measures]
        rows.append([f"`{name}`", str(found.loc[(name, measures[0]), "seeds"]), *cells])
    cell = frame[CELLS].iloc[0]
    note = (
        f"\nMeans {title} over the seeds measured so far ± half their 95 % interval (Student's t); in bold where the"
        f" difference from `{base}`, paired by seed, has an interval without 0. Searched: {cell['set']},"
        f" λ = {cell['path_weight']:g}, N = {cell['batch_size']}; *descending* is the share of states whose neighbour"
        " of least cost-to-go is nearer the goal"
        + (".\n" if frame["nodes_expanded"].notna().all() else "; – where a training was audited and not searched.\n")
    )
    return table(["variant", "seeds", *(formats[key][0] for key in measures)], rows) + note


def _cell(row: pd.Series, form) -> str:
    half = (row["high"] - row["low"]) / 2
    text = form(row["mean"]) + ("" if is_missing(half) else f" ± {form(half)}")
    differs = row["difference_low"] > 0 or row["difference_high"] < 0
    return f"**{text}**" if differs else text


def _divergence(rows: pd.DataFrame, mean_distance: float) -> str:
    """Which trainings ended worse than they began, and when they were best (final-year report, 4.2.2)."""
    lines = []
    found = divergence(rows, mean_distance)
    base = BASE + rows["puzzle"].iloc[0]
    for variant in [base, *sorted(set(found["variant"]) - {base})]:
        own = found[found["variant"] == variant]
        spreads = [_spread(own[name], MOVES) for name in ("least_error", "last_error")]
        within = own["within_one"].dropna()
        times = [
            _spread(own["least_at"]),
            f"{_spread(within)} ({len(within)} of {len(own)})" if len(within) else "never",
        ]
        lines.append([f"`{variant}`", f"{own['diverged'].sum()} of {len(own)}", *spreads, *times])
    head = (
        "Does training diverge, and what does it reach (final-year report, 4.2.2)? Medians over the seeds, in brackets"
    )
    head += (
        " the least and the most, of the mean absolute error over all states. *Diverged*: the last network errs by more"
    )
    head += f" than {mean_distance:.2f} moves, which is the error of no heuristic at all.\n\n"
    header = ["variant", "diverged", "least error, moves", "error at the end, moves", "iteration of the least"]
    return head + table([*header, "iteration with an error below 1 move"], lines)


def _longer(rows: pd.DataFrame) -> Iterator[str]:
    """Each measure against the convergence point (thesis 5.6), of the variant that reaches the most points."""
    points = rows[rows["kind"] == "convergence_point"]
    variant = longest(points)
    found = by_point(points[points["variant"] == variant], list(MEASURES)).set_index(["convergence_point", "measure"])
    lines = []
    for point in found.index.get_level_values(0).unique():
        cells = [_interval(found.loc[(point, name)], form) for name, (_, form) in MEASURES.items()]
        lines.append([str(point), str(found.loc[(point, "nodes_expanded"), "seeds"]), *cells])
    yield f"Does longer training make the heuristic worse (thesis 5.6)? `{variant}`, by convergence point:\n"
    yield table(["convergence point", "seeds", *(heading for heading, _ in MEASURES.values())], lines)


def _interval(row: pd.Series, form) -> str:
    half = (row["high"] - row["low"]) / 2
    return form(row["mean"]) + ("" if is_missing(half) else f" ± {form(half)}")


def _predictors(rows: pd.DataFrame) -> Iterator[str]:
    measures = [name for name in MEASURES if name not in TARGETS] + ["bias"]
    found = predictions(rows.reset_index(drop=True), measures, TARGETS).set_index(["measure", "target", "within"])
    headings = {**{name: heading for name, (heading, _) in MEASURES.items()}, "bias": "bias, moves"}
    scopes = [(target, within) for within in (False, True) for target in TARGETS]
    lines = [[headings[name], *(_correlation(found.loc[(name, *scope)]) for scope in scopes)] for name in measures]
    trainings = len(rows.groupby(["variant", "seed"]))
    yield "What makes a good search heuristic? How each measure orders the checkpoints, beside how the searches do:\n"
    header = ["measure", "expanded", "optimal, %", "expanded, within a point", "optimal, %, within a point"]
    yield table(header, lines)
    yield (
        f"Spearman's ρ over {len(rows)} checkpoints of {trainings} trainings, with 95 % by bootstrap over trainings."
        " *Within a point* compares checkpoints of the same convergence point only, which takes out what merely grows"
        " as training goes on.\n"
    )


def _correlation(row: pd.Series) -> str:
    return f"{row['correlation']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"


def _towers(rows: pd.DataFrame) -> Iterator[str]:
    """How far the trainings on a tower came: the searches from its start state."""
    puzzle = rows["puzzle"].iloc[0]
    last = last_checkpoints(rows)
    cells = list(last[CELLS].drop_duplicates().itertuples(index=False, name=None))
    few = int(last["states"].max() / FEW)
    hardest = max(cells, key=lambda cell: (cell[1], -cell[2]))
    lines = []
    for variant, group in sorted(last.groupby("variant"), key=lambda pair: (pair[0] != BASE + puzzle, pair[0])):
        searched = {cell: group[(group[CELLS] == list(cell)).all(axis=1)] for cell in cells}
        measured = [_spread(searched[hardest][name]) for name in ("reach", "mean_absolute_error", "descending_percent")]
        expanded = [_spread(found["nodes_expanded"]) for found in searched.values()]
        below = (searched[hardest]["nodes_expanded"] < few).sum()
        lines.append([f"`{variant}`", *measured, *expanded, f"{below} of {len(searched[hardest])}"])
    header = ["variant", "disks or walk length reached", "mean absolute error, moves", "descending, %"]
    header += [f"expanded, λ = {weight:g}, N = {size}" for _, weight, size in cells]
    yield table([*header, f"seeds below {amount(few)}"], lines)
    yield (
        f"Searches from the start state with the network at the end of its training, of {amount(last['states'].max())}"
        " states in all: medians over the seeds, in brackets the least and the most; at last how many seeds expanded"
        f" fewer than a tenth of all states at λ = {hardest[1]:g}, N = {hardest[2]}.\n"
    )


def _spread(values: pd.Series, form=amount) -> str:
    low, middle, high = (form(value) for value in (values.min(), values.median(), values.max()))
    return middle if low == high else f"{middle} [{low}, {high}]"


def _admissible(frame: pd.DataFrame) -> Iterator[str]:
    """The network less its largest overestimate, and what that costs."""
    lines = []
    for (puzzle, model), rows in frame.groupby(["puzzle", "model"], sort=False):
        if "_seed" in model and not model.endswith("_seed1"):
            continue
        found = rows.set_index("heuristic")
        shifted, exact = found.loc["shifted"], found.loc["exact"]
        price = shifted["nodes_expanded"] / found.loc["network", "nodes_expanded"]
        numbers = [amount(shifted["instances"]), places(3)(shifted["overestimation_max"])]
        numbers += [percent(found.loc["network", "optimal_percent"]), percent(shifted["optimal_percent"])]
        numbers += [amount(found.loc[name, "nodes_expanded"]) for name in ("network", "shifted")]
        lines.append([f"`{model}`", puzzle, *numbers, f"{price:.3g}", amount(exact["nodes_expanded"])])
    yield "### Made admissible\n"
    yield (
        "A network less its largest overestimate over all states, cut at 0, never overestimates: with λ = 1 and N = 1"
        " every solution must be optimal. The price is in nodes expanded (of repeated trainings the first seed).\n"
    )
    header = [
        "model",
        "puzzle",
        "instances",
        "largest overestimate, moves",
        "optimal, %",
        "optimal, made admissible, %",
    ]
    header += ["expanded", "expanded, made admissible", "price, times", "exact heuristic"]
    yield table(header, lines)


def _all_starts(cards: dict[str, Any]) -> Iterator[str]:
    lines = []
    for place, card in cards.items():
        metrics = card["metrics"]
        if "all_starts_optimal_percent" in metrics:
            cell = card["parameters"]["search"]["headline"]
            line = [f"`{place.removeprefix('searches/')}`", f"λ = {cell['path_weight']:g}, N = {cell['batch_size']}"]
            line += [percent(metrics["all_starts_optimal_percent"]), places(5)(metrics["all_starts_mean_excess"])]
            line += [amount(metrics["all_starts_worst_excess"]), amount(metrics["all_starts_nodes_expanded"])]
            lines.append(line)
    if lines:
        yield "### From every state\n"
        header = ["model", "search", "optimal, %", "mean excess, moves", "worst excess, moves", "expanded"]
        yield table(header, lines)
