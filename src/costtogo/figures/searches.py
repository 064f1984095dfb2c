"""Solutions and costs of searches by path weight λ and batch size N, with networks and with baselines."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from costtogo.analysis.intervals import percent_text
from costtogo.analysis.several_seeds import CELLS
from costtogo.figures import style
from costtogo.figures.binning import bin_width, binned_means
from costtogo.figures.chosen import in_cell, of_widest_set, telling_cell, weight_text

HEURISTICS = {"exact": "exact distance", "network": "network", "zero": "no heuristic"}
UNITS = ((1, "s"), (1e-3, "ms"), (1e-6, "µs"))  # of time, in seconds
UNSOLVED = "not all solved"
HALF_A_CELL = 0.5
REVERSED = f"{style.SEQUENTIAL}_r"  # the colours of measures that should be small: bright is good


def _range(values: pd.Series, least: float) -> tuple[float, float]:
    """The ends of a scale of colour, at least `least` apart; arbitrary if there are no values."""
    low = values.min() if values.notna().any() else 1.0
    return low, max(values.max() if values.notna().any() else low, low + least)


def seconds_text(value: float) -> str:
    """Seconds in the unit that fits.  0.0000223 -> "22 µs", 0.27 -> "270 ms", 2.72 -> "2.7 s"."""
    size, unit = next((pair for pair in UNITS if value >= pair[0]), UNITS[-1])
    scaled = value / size
    return f"{scaled:.0f} {unit}" if scaled >= 10 else f"{scaled:.2g} {unit}"


NAMES = {  # of measures of searches, by column
    "optimal_percent": "optimal solutions, %",
    "nodes_expanded": "nodes expanded",
    "seconds": "seconds a search",
    "solved_percent": "solved, %",
    "length": "length, moves",
    "nodes_generated": "nodes generated",
    "nodes_per_second": "nodes a second",
}
MAPS = {  # by column the scale of colour over some values, how a number is written, and the colours
    "optimal_percent": (lambda values: Normalize(min(values.min(), 99), 100), percent_text, style.SEQUENTIAL),
    "nodes_expanded": (lambda values: LogNorm(*_range(values.clip(lower=1), 1)), style.count_text, REVERSED),
    "seconds": (lambda values: LogNorm(*_range(values, 1e-6)), seconds_text, REVERSED),
    "solved_percent": (lambda values: Normalize(0, 100), "{:.0f}".format, style.SEQUENTIAL),
    "length": (lambda values: Normalize(*_range(values, 1)), "{:.1f}".format, REVERSED),
    "nodes_generated": (lambda values: LogNorm(*_range(values, 1)), style.count_text, REVERSED),
}


@style.kind_of_figure
def grid(networks: dict[str, pd.DataFrame], baseline: pd.DataFrame) -> Figure:
    """Optimal solutions, and nodes expanded, by λ and N (columns) and heuristic (rows); brighter is better.

    networks: of each model set, heuristic, path_weight, batch_size, instances, optimal_percent, nodes_expanded, one row
    a cell; baseline: the same with the exact and the zero heuristic.
    """
    first, beside = next(iter(networks.values())), baseline["heuristic"].map(HEURISTICS)
    own = pd.concat([rows.assign(label=model) for model, rows in networks.items()])
    cells = of_widest_set(pd.concat([own, baseline.assign(label=beside)], ignore_index=True), by=first)
    return cell_tables(cells, "optimal_percent", "nodes_expanded")


@style.kind_of_figure
def seconds(clocks: dict[str, pd.DataFrame]) -> Figure:
    """Mean seconds of one search with the network by λ and N (columns), model and engine (rows).

    clocks: of each model set, heuristic, engine, precision, path_weight, batch_size, searches, seconds; one row a cell.
    """
    clock = pd.concat([rows.assign(model=model) for model, rows in clocks.items()], ignore_index=True)
    timings = of_widest_set(clock[clock["heuristic"] == "network"].rename(columns={"searches": "instances"}))
    label = timings["model"] + ", " + timings["engine"]
    label += ", " + timings["precision"] if timings["precision"].nunique() > 1 else ""
    return cell_tables(timings.assign(label=label), "seconds")


def cell_tables(cells: pd.DataFrame, *columns: str) -> Figure:
    """Tables of numbers on colours, one over the other: a row for each label, a column for each λ and N.

    columns: of MAPS, a table each.
    """
    labels, settings = cells["label"].unique(), cells[["path_weight", "batch_size"]].drop_duplicates()
    settings = list(settings.sort_values(["path_weight", "batch_size"]).itertuples(index=False, name=None))
    height = 0.8 + len(columns) * (0.55 + 0.19 * len(labels))
    figure, panels = style.subplots(len(columns), grid=False, sharex=True, height=height)
    for axes, column in zip(panels, columns, strict=True):
        table = cells.pivot(index="label", columns=["path_weight", "batch_size"], values=column)
        draw_table(axes, table.reindex(index=labels, columns=pd.MultiIndex.from_tuples(settings)), column, size=6)
        axes.set_yticks(range(len(labels)), labels, fontsize=7)
        style.name_panel(axes, f"{NAMES[column]}, set {cells['set'].iloc[0]}")
    panels[-1].set_xticks(range(len(settings)), [f"{weight:g}\n{size}" for weight, size in settings])
    panels[-1].set_xlabel("path weight λ (above) and batch size N (below)")
    return figure


@style.kinds_of_figure(
    grid_heat_maps={"columns": ("solved_percent", "length", "nodes_generated")},
    grid_seconds={"columns": ("seconds",), "width": 3.6},
)
def heat_maps(
    grid: pd.DataFrame, chosen: str, columns: Sequence[str], clock: pd.DataFrame | None = None, width: float = 6.5
) -> Figure:
    """Measures of searches by λ and N on a set, heat maps side by side, the brighter the better.

    grid: set, path_weight, batch_size, solved_percent, length (of what was solved), nodes_generated.
    clock: set, path_weight, batch_size, seconds; a row a search.  width: of the figure, in inches.
    The number is written in each cell; one with unsolved searches is framed, one that is not there is left blank.
    """
    cells = grid[grid["set"] == chosen]
    if clock is not None:
        cells = cells.merge(clock.groupby(CELLS, as_index=False)["seconds"].mean(), on=CELLS)
    weights, sizes = weights_and_sizes(cells)
    figure, panels = style.subplots(1, len(columns), grid=False, sharey=True, height=3.4)
    for axes, column in zip(panels, columns, strict=True):
        table = cells.pivot(index="path_weight", columns="batch_size", values=column)
        draw_table(axes, table.reindex(index=weights, columns=sizes), column)
        axes.set_xticks(range(len(sizes)), [f"{size:,}" for size in sizes])
        axes.set_yticks(range(len(weights)), [f"{weight:g}" for weight in weights])
        mark_unsolved(axes, cells)
        style.name_panel(axes, NAMES[column])
    panels[0].set_ylabel("path weight λ")
    figure.supxlabel("batch size N")
    figure.set_figwidth(width)
    frame = Patch(fill=False, edgecolor=style.VERMILION, linewidth=1.6, label=UNSOLVED)
    return style.with_legend(figure, more=[frame])


def weights_and_sizes(cells: pd.DataFrame) -> tuple[list[float], list[int]]:
    """All λ, the largest first, and all N of the cells."""
    return sorted(cells["path_weight"].unique(), reverse=True), sorted(cells["batch_size"].unique())


def draw_table(axes: Axes, table: pd.DataFrame, column: str, size: float = 8) -> None:
    """Draw a table of numbers on colours, in black or white, whichever is easier to read; NaN is left blank.

    column: the measure, of MAPS.  size: of a number, in points.
    """
    scale_of, text, colors = MAPS[column]
    scale = scale_of(pd.Series(table.to_numpy().ravel()))
    mesh = axes.imshow(table, cmap=colors, norm=scale, aspect="auto")
    axes.hlines(np.arange(1, table.shape[0]) - 0.5, -0.5, table.shape[1] - 0.5, color="white", lw=1)
    axes.vlines(np.arange(1, table.shape[1]) - 0.5, -0.5, table.shape[0] - 0.5, color="white", lw=1)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for (row, column), number in np.ndenumerate(table.to_numpy()):
        if np.isfinite(number):
            style.write_in(axes, column, row, text(number), style.readable_on(mesh.cmap(scale(number))), size)


@style.kind_of_figure
def optimal_by_distance(shares: dict[str, pd.DataFrame], cards: dict[str, dict]) -> Figure:
    """Share of instances that each model solved optimally at each distance, above the number of instances.

    shares: set, path_weight, batch_size, distance, instances, optimal_percent, optimal_low, optimal_high.
    cards: of the searches; the figure shows the headline cell of the first, or telling_cell if that is one instance.
    Thin lines are 95 % intervals; a distance without instances has no marker.
    """
    first = next(iter(shares))
    cell = telling_cell(shares[first], cards[first]["parameters"]["search"]["headline"])
    results = pd.concat(shares, names=["label"]).reset_index("label")
    results = results[in_cell(results, cell)]
    figure, (optimal, instances) = style.subplots(2, grid=False, sharex=True, height_ratios=(4, 1))
    width = bin_width(int(results["distance"].max()))
    for look, group in style.lines(results, "label", clip_on=False):
        means = binned_means(group, ["optimal_percent"], "instances", width)
        look |= {} if width == 1 else {"marker": None}
        optimal.plot(means["distance"], means["optimal_percent"], **look)
        if width == 1 and (group["instances"] > 1).any():
            several = group[group["instances"] > 1]
            ends = (several["distance"], several["optimal_low"], several["optimal_high"])
            optimal.vlines(*ends, color=look["color"], lw=0.8, alpha=0.5)
    instances.bar(means["distance"], means["instances"], width=0.8 * width, color=style.GREY)
    least = results.loc[results["instances"] > 0, "optimal_percent"].min()
    optimal.set(ylabel="optimal solutions, %", ylim=(max(0, min(99, 1.2 * least - 22)), 100.3))
    optimal.margins(x=0.02)
    style.name_panel(optimal, f"set {cell['set']}, {weight_text(cell)}")
    optimal.grid(axis="y")
    instances.set_ylabel("instances")
    style.by_distance(instances)
    style.whole_ticks(instances.yaxis, 3)
    style.show_counts(instances.yaxis)
    return style.with_legend(figure, columns=3)


def mark_unsolved(axes: Axes, cells: pd.DataFrame) -> None:
    """Frame the cells of heat_maps with unsolved searches, and cross out those where nothing was solved."""
    weights, sizes = weights_and_sizes(cells)
    for cell in cells[cells["solved_percent"] < 100].itertuples():
        x, y = sizes.index(cell.batch_size), weights.index(cell.path_weight)
        corner = (x - HALF_A_CELL + 0.06, y - HALF_A_CELL + 0.08)
        axes.add_patch(Rectangle(corner, 0.88, 0.84, fill=False, edgecolor=style.VERMILION, linewidth=1.6))
        if not cell.solved_percent:
            axes.plot([x - 0.4, x + 0.4], [y + 0.38, y - 0.38], color=style.VERMILION, lw=1.2)


@style.kinds_of_figure(
    heuristics_compared={"rows": ("solved_percent", "length", "nodes_generated")},
    heuristics_seconds={"rows": ("seconds", "nodes_per_second")},
)
def heuristics(
    grids: dict[str, pd.DataFrame], chosen: str, rows: Sequence[str], clocks: dict[str, pd.DataFrame] | None = None
) -> Figure:
    """Measures of searches by λ on a set, a column of panels for each N, a line for each heuristic.

    grids: of each heuristic set, path_weight, batch_size, instances, known (of how many the optimum is known),
    solved_percent, length (of what was solved), optimal_length, nodes_generated.
    rows: the measures, of NAMES, a row of panels each.
    clocks: of each heuristic set, path_weight, batch_size, seconds; a row a search.
    A hollow marker shows that some instances were not solved.
    """
    cells = _on_set(grids, chosen)
    if clocks is not None:
        means = ["heuristic", *CELLS[1:]]
        cells = cells.merge(_on_set(clocks, chosen).groupby(means, as_index=False)["seconds"].mean(), on=means)
        cells["nodes_per_second"] = cells["nodes_generated"] / cells["seconds"]
    optimal = cells["optimal_length"].where(cells["known"] == cells["instances"])
    return _by_weight(cells, rows, optimal.iloc[0] if optimal.notna().all() else None)


def _on_set(frames: dict[str, pd.DataFrame], chosen: str) -> pd.DataFrame:
    """The rows of each heuristic on a set."""
    rows = pd.concat([frame.assign(heuristic=name) for name, frame in frames.items()], ignore_index=True)
    return rows[rows["set"] == chosen]


def _by_weight(cells: pd.DataFrame, rows: Sequence[str], optimum: float | None) -> Figure:
    """Panels by λ, a row for each column of cells, a column for each N.

    Shares and lengths have linear axes, the others logarithmic ones.  optimum: the mean length of shortest solutions.
    """
    sizes = sorted(cells["batch_size"].unique())
    figure, panels = style.subplots(len(rows), len(sizes), sharex=True, sharey="row", height=1.0 + 1.7 * len(rows))
    panels = panels.reshape(len(rows), -1)
    for look, own in style.lines(cells, "heuristic", clip_on=False):
        for place, size in enumerate(sizes):
            group = own[own["batch_size"] == size].sort_values("path_weight")
            lost = group[group["solved_percent"] < 100]
            for axes, column in zip(panels[:, place], rows, strict=True):
                axes.plot(group["path_weight"], group[column], **look)
                if len(lost):  # the layout finds no room for an unclipped line of nothing
                    axes.plot(lost["path_weight"], lost[column], **look | {"ls": "none", "mfc": "white"})
    for column, row in zip(rows, panels, strict=True):
        row[0].set_ylabel(NAMES[column])
        if column == "solved_percent":
            row[0].set_ylim(0, 100)
        elif column != "length" and (cells[column] > 0).any():
            style.logarithmic(row[0].yaxis)
        for axes in row if column == "length" and optimum is not None else ():
            axes.axhline(optimum, label="optimum", **style.REFERENCE)
    for axes, size in zip(panels[0], sizes, strict=True):
        style.name_panel(axes, f"N = {size:,}")
    figure.align_ylabels()
    figure.supxlabel("path weight λ")
    unsolved = Line2D([], [], ls="none", marker="o", mfc="white", mec=style.BLACK, label=UNSOLVED)
    return style.with_legend(figure, more=[unsolved], columns=6)
