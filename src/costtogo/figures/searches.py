"""What searches found over path weight λ and batch size N, with networks and beside baselines, and what it cost."""

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
REVERSED = f"{style.SEQUENTIAL}_r"  # the map of what should be small: bright is good


@style.kind_of_figure
def grid(networks: dict[str, pd.DataFrame], baseline: pd.DataFrame) -> Figure:
    """Optimal solutions, and nodes expanded, by λ and N (to the right) with each heuristic (downwards).

    networks: of each model set, heuristic, path_weight, batch_size, instances, optimal_percent, nodes_expanded, one row
    a cell; baseline likewise, with the exact and the zero heuristic. The brighter the better.
    """
    first, beside = next(iter(networks.values())), baseline["heuristic"].map(HEURISTICS)
    own = pd.concat([rows.assign(label=model) for model, rows in networks.items()])
    cells = of_widest_set(pd.concat([own, baseline.assign(label=beside)], ignore_index=True), by=first)
    percent = Normalize(min(cells["optimal_percent"].min(), 99), 100)
    nodes = LogNorm(*_range(cells["nodes_expanded"].clip(lower=1), 1))
    maps = {
        "optimal solutions, %": ("optimal_percent", percent, percent_text),
        "nodes expanded": ("nodes_expanded", nodes, style.count_text, REVERSED),
    }
    return cell_tables(maps, cells)


@style.kind_of_figure
def seconds(clocks: dict[str, pd.DataFrame]) -> Figure:
    """Mean seconds of one search with the network by λ and N (to the right), of each model and engine (downwards).

    clocks: of each model set, heuristic, engine, precision, path_weight, batch_size, searches, seconds; one row a cell.
    """
    clock = pd.concat([rows.assign(model=model) for model, rows in clocks.items()], ignore_index=True)
    timings = of_widest_set(clock[clock["heuristic"] == "network"].rename(columns={"searches": "instances"}))
    label = timings["model"] + ", " + timings["engine"]
    label += ", " + timings["precision"] if timings["precision"].nunique() > 1 else ""
    timings = timings.assign(label=label)
    scale = LogNorm(*_range(timings["seconds"], 1e-6))
    return cell_tables({"seconds a search": ("seconds", scale, seconds_text, REVERSED)}, timings)


def cell_tables(maps: dict[str, tuple], cells: pd.DataFrame) -> Figure:
    """Tables of numbers on colours, one over the other: a row for each label, a column for each λ and N.

    maps: by what is shown its column, its scale of colour, how a number is written and, if another, the colours.
    """
    labels, settings = cells["label"].unique(), cells[["path_weight", "batch_size"]].drop_duplicates()
    settings = list(settings.sort_values(["path_weight", "batch_size"]).itertuples(index=False, name=None))
    height = 0.8 + len(maps) * (0.55 + 0.19 * len(labels))
    figure, panels = style.subplots(len(maps), grid=False, sharex=True, height=height)
    for axes, (name, (value, *shown)) in zip(panels, maps.items(), strict=True):
        table = cells.pivot(index="label", columns=["path_weight", "batch_size"], values=value)
        draw_table(axes, table.reindex(index=labels, columns=pd.MultiIndex.from_tuples(settings)), *shown, size=6)
        axes.set_yticks(range(len(labels)), labels, fontsize=7)
        style.name_panel(axes, f"{name}, set {cells['set'].iloc[0]}")
    panels[-1].set_xticks(range(len(settings)), [f"{weight:g}\n{size}" for weight, size in settings])
    panels[-1].set_xlabel("path weight λ (above) and batch size N (below)")
    return figure


def seconds_text(value: float) -> str:
    """Seconds in the unit that fits.  0.0000223 -> "22 µs", 0.27 -> "270 ms", 2.72 -> "2.7 s"."""
    size, unit = next((pair for pair in UNITS if value >= pair[0]), UNITS[-1])
    scaled = value / size
    return f"{scaled:.0f} {unit}" if scaled >= 10 else f"{scaled:.2g} {unit}"


def heat_maps(maps: dict[str, tuple], cells: pd.DataFrame) -> Figure:
    """Heat maps over λ and N side by side, the number written in each cell, those with unsolved searches framed.

    maps: as of cell_tables. A cell that is not there is left blank.
    """
    weights, sizes = weights_and_sizes(cells)
    figure, panels = style.subplots(1, len(maps), grid=False, sharey=True, height=3.4)
    for axes, (name, (value, *shown)) in zip(panels, maps.items(), strict=True):
        table = cells.pivot(index="path_weight", columns="batch_size", values=value)
        draw_table(axes, table.reindex(index=weights, columns=sizes), *shown)
        axes.set_xticks(range(len(sizes)), [f"{size:,}" for size in sizes])
        axes.set_yticks(range(len(weights)), [f"{weight:g}" for weight in weights])
        mark_unsolved(axes, cells)
        style.name_panel(axes, name)
    panels[0].set_ylabel("path weight λ")
    figure.supxlabel("batch size N")
    frame = Patch(fill=False, edgecolor=style.VERMILION, linewidth=1.6, label=UNSOLVED)
    return style.with_legend(figure, more=[frame])


def weights_and_sizes(cells: pd.DataFrame) -> tuple[list[float], list[int]]:
    """All λ, the largest first, and all N of the cells."""
    return sorted(cells["path_weight"].unique(), reverse=True), sorted(cells["batch_size"].unique())


def draw_table(
    axes: Axes, table: pd.DataFrame, scale: Normalize, text, colors=style.SEQUENTIAL, size: float = 8
) -> None:
    """A table of numbers on colours, each written in black or white as the colour below asks; NaN is left blank."""
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
    cards: of the searches, of which the first names the cell that stands for the puzzle; shown is the set that tells
    most with its λ and N. Thin lines are 95 % intervals; a distance without instances has no marker.
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


@style.kind_of_figure
def grid_heat_maps(grid: pd.DataFrame, chosen: str) -> Figure:
    """Share solved, mean length and nodes generated by λ and N on a set, the brighter the better.

    grid: set, path_weight, batch_size, solved_percent, length (of what was solved), nodes_generated.  A framed cell has
    unsolved searches.
    """
    cells = grid[grid["set"] == chosen]
    lengths, nodes = Normalize(*_range(cells["length"], 1)), LogNorm(*_range(cells["nodes_generated"], 1))
    maps = {
        "solved, %": ("solved_percent", Normalize(0, 100), "{:.0f}".format),
        "length, moves": ("length", lengths, "{:.1f}".format, REVERSED),
        "nodes generated": ("nodes_generated", nodes, style.count_text, REVERSED),
    }
    return heat_maps(maps, cells)


@style.kind_of_figure
def grid_seconds(grid: pd.DataFrame, clock: pd.DataFrame, chosen: str) -> Figure:
    """Mean seconds of a search by λ and N on a set, the brighter the better; a framed cell has unsolved searches.

    grid: set, path_weight, batch_size, solved_percent.  clock: set, path_weight, batch_size, seconds; a row a search.
    """
    cells = grid.merge(clock.groupby(CELLS, as_index=False)["seconds"].mean(), on=CELLS)
    cells = cells[cells["set"] == chosen]
    scale = LogNorm(*_range(cells["seconds"], 1e-3))
    maps = {"seconds a search": ("seconds", scale, seconds_text, REVERSED)}
    figure = heat_maps(maps, cells)
    figure.set_figwidth(3.6)  # inches
    return figure


def _range(values: pd.Series, least: float) -> tuple[float, float]:
    """The ends of a scale of colour, at least so far apart; any where there is nothing to show."""
    low = values.min() if values.notna().any() else 1.0
    return low, max(values.max() if values.notna().any() else low, low + least)


def mark_unsolved(axes: Axes, cells: pd.DataFrame) -> None:
    """Frame the cells of heat_maps with unsolved searches, and cross out those where nothing was solved."""
    weights, sizes = weights_and_sizes(cells)
    for cell in cells[cells["solved_percent"] < 100].itertuples():
        x, y = sizes.index(cell.batch_size), weights.index(cell.path_weight)
        corner = (x - HALF_A_CELL + 0.06, y - HALF_A_CELL + 0.08)
        axes.add_patch(Rectangle(corner, 0.88, 0.84, fill=False, edgecolor=style.VERMILION, linewidth=1.6))
        if not cell.solved_percent:
            axes.plot([x - 0.4, x + 0.4], [y + 0.38, y - 0.38], color=style.VERMILION, lw=1.2)


@style.kind_of_figure
def heuristics_compared(grids: dict[str, pd.DataFrame], chosen: str) -> Figure:
    """Share solved, length and nodes generated by λ on a set, a column of panels for each N, a line for each heuristic.

    grids: of each heuristic set, path_weight, batch_size, instances, known (of how many the optimum is known),
    solved_percent, length (of what was solved), optimal_length, nodes_generated.  A hollow marker: not all were solved.
    """
    cells = _on_set(grids, chosen)
    optimal = cells["optimal_length"].where(cells["known"] == cells["instances"])
    rows = {"solved_percent": "solved, %", "length": "length, moves", "nodes_generated": "nodes generated"}
    return _by_weight(cells, rows, optimal.iloc[0] if optimal.notna().all() else None)


@style.kind_of_figure
def heuristics_seconds(grids: dict[str, pd.DataFrame], clocks: dict[str, pd.DataFrame], chosen: str) -> Figure:
    """Seconds of a search and nodes generated a second by λ, as heuristics_compared.

    clocks: of each heuristic set, path_weight, batch_size, seconds; a row a search.
    """
    means = ["heuristic", *CELLS[1:]]
    seconds = _on_set(clocks, chosen).groupby(means, as_index=False)["seconds"].mean()
    cells = _on_set(grids, chosen).merge(seconds, on=means)
    cells["nodes_per_second"] = cells["nodes_generated"] / cells["seconds"]
    rows = {"seconds": "seconds a search", "nodes_per_second": "nodes a second"}
    return _by_weight(cells, rows)


def _on_set(frames: dict[str, pd.DataFrame], chosen: str) -> pd.DataFrame:
    """The rows of each heuristic on a set."""
    rows = pd.concat([frame.assign(heuristic=name) for name, frame in frames.items()], ignore_index=True)
    return rows[rows["set"] == chosen]


def _by_weight(cells: pd.DataFrame, rows: dict[str, str], optimum: float | None = None) -> Figure:
    """Panels by λ, a row for each column of cells with its name, a column for each N.

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
    for (column, title), row in zip(rows.items(), panels, strict=True):
        row[0].set_ylabel(title)
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
