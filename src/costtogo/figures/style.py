"""The look that all figures share, and how a figure becomes bytes that never change without a reason.

Colours are Okabe and Ito's, which people with colour-blindness can distinguish; maps are perceptually even.
"""

import io
from collections.abc import Callable, Iterator, Sequence
from functools import partial, wraps
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter
from PIL import Image

SIZE = (6.5, 4.0)  # inches: one column of text
DOTS_PER_INCH = 150
PANELS_A_ROW = 3  # of small multiples
WIDE_RANGE = 300  # ratio of its ends from which a logarithmic axis has ticks at powers of ten only
ROOM_FOR_ROWS = 2  # of a legend
ROW_INCHES = 0.17  # height of one more
LINE_POINTS = 2000  # a longer line is drawn as pixels inside the SVG

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY, PALE = "#6E6E6E", "#D4D4D4"
WINE = "#661100"  # Paul Tol's, darker than Okabe and Ito's
SERIES = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, WINE)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
REFERENCE = {"color": BLACK, "ls": ":", "lw": 1}  # a line to compare others with
SEQUENTIAL = "cividis"
ORDERED, BRIGHTEST = "viridis", 0.87  # lines in an order, from dark to bright; brighter ones are too pale for paper
DIVERGING = "coolwarm"

SETTINGS = {
    "figure.dpi": DOTS_PER_INCH,
    "figure.constrained_layout.use": True,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 9,
    "figure.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "svg.hashsalt": "costtogo",
    "svg.fonttype": "path",
}

FIGURES: dict[str, Callable[..., Figure]] = {}  # the functions of all kinds of figures by name


def kind_of_figure(draw: Callable[..., Figure]) -> Callable[..., Figure]:
    """Mark the function of a kind of figure of the catalogue; both have the same name."""
    return kinds_of_figure(**{draw.__name__: {}})(draw)


def kinds_of_figure(**kinds: dict[str, Any]) -> Callable[[Callable[..., Figure]], Callable[..., Figure]]:
    """Mark a function that draws several kinds of figures; kinds: by name, the arguments that this kind adds.

    The function draws with the shared settings; those of matplotlib stay as they were.
    """

    def mark(draw: Callable[..., Figure]) -> Callable[..., Figure]:
        @wraps(draw)
        def draw_in_style(*args, **options) -> Figure:
            with matplotlib.rc_context(SETTINGS):
                return draw(*args, **options)

        FIGURES.update({name: partial(draw_in_style, **own) for name, own in kinds.items()})
        return draw_in_style

    return mark


def image(figure: Figure, kind: str) -> bytes:
    """The figure as "png" or "svg": the same figure gives the same bytes, without date or version.

    A PNG has a palette of 256 colours, which halves its size without a visible difference.
    """
    metadata = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}[kind]
    buffer = io.BytesIO()
    with matplotlib.rc_context(SETTINGS):
        figure.savefig(buffer, format=kind, metadata=metadata)
    if kind == "png":
        picture = Image.open(buffer).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        buffer = io.BytesIO()
        picture.save(buffer, format="png", optimize=True, dpi=(DOTS_PER_INCH, DOTS_PER_INCH))
    return buffer.getvalue()


def look_of(number: int, **more) -> dict:
    """Colour and marker of one of several lines; more: its other settings."""
    return {"color": SERIES[number % len(SERIES)], "marker": MARKERS[number % len(MARKERS)]} | more


def lines(frame: pd.DataFrame, by: str, *, ordered: bool = False, **more) -> Iterator[tuple[dict, pd.DataFrame]]:
    """The look and the rows of each line, one for each value of a column, which is its label.

    ordered: whether the lines have an order, shown from dark to bright.  more: other settings of their look.
    """
    groups = frame.groupby(by, sort=False)
    places = np.linspace(0, BRIGHTEST, len(groups))
    for number, (name, rows) in enumerate(groups):
        shade = {"color": matplotlib.colormaps[ORDERED](places[number])} if ordered else {}
        yield look_of(number, label=name, **shade, **more), rows


def write_in(axes: Axes, x: float, y: float, text: str, color: str, size: float) -> None:
    """Write a text with its middle at (x, y)."""
    axes.text(x, y, text, ha="center", va="center", color=color, fontsize=size)


def subplots(
    rows: int = 1, columns: int = 1, *, shown: int | None = None, height: float = SIZE[1], grid: bool = True, **options
) -> tuple[Figure, np.ndarray]:
    """A figure and its panels, row by row.

    shown: the number of panels that are used, None for all.  height: in inches.  grid: whether panels have horizontal
    lines.  options: of plt.subplots.  In a single column the labels of the panels are aligned.
    """
    figure = Figure(figsize=(SIZE[0], height))
    panels = figure.subplots(rows, columns, squeeze=False, **options).ravel()
    for axes in panels[:shown] if grid else ():
        axes.grid(axis="y")
    for axes in panels[shown:] if shown else ():
        axes.set_axis_off()
    if columns == 1:
        figure.align_ylabels()
    return figure, panels[:shown]


def small_multiples(
    count: int, *, a_row: int = PANELS_A_ROW, row_height: float = 1.5, **options
) -> tuple[Figure, np.ndarray]:
    """A figure of `count` panels of one kind, up to `a_row` in a row, and its panels.  options: of subplots."""
    across = min(count, a_row)
    rows = -(-count // across)
    return subplots(rows, across, shown=count, grid=False, height=1.2 + row_height * rows, **options)


def labelled(figure: Figure) -> list:
    """Everything with a label on the panels, in the order drawn; of several with the same label, the first."""
    by_label = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            by_label.setdefault(label, handle)
    return list(by_label.values())


def with_legend(figure: Figure, *, handles: Sequence | None = None, more: Sequence = (), columns: int = 4) -> Figure:
    """Put the legend above the panels, where it covers no data, in as many columns as fit, up to `columns`.

    handles: the entries; None for everything with a label on the panels.  more: entries that follow.
    A legend of more than ROOM_FOR_ROWS rows makes the figure higher, not the panels smaller.
    """
    handles = [*(labelled(figure) if handles is None else handles), *more]
    if not handles:
        return figure
    for count in range(min(columns, len(handles)), 0, -1):
        legend = figure.legend(handles=handles, loc="outside upper center", ncols=count)
        if count == 1 or legend.get_window_extent().width <= figure.bbox.width:
            break
        legend.remove()
    rows = -(-len(handles) // count)
    figure.set_figheight(figure.get_figheight() + ROW_INCHES * max(rows - ROOM_FOR_ROWS, 0))
    return figure


def count_text(value: float) -> str:
    """A count in few characters.

    999.4 -> "999", 8.25 -> "8.25", 12345 -> "12,345", 123456 -> "123 k", 1234567 -> "1.23 M", 1e10 -> "10 G".
    """
    if value >= 999_500_000:
        return f"{value / 1e9:.3g} G"
    if value >= 999_500:
        return f"{value / 1e6:.3g} M"
    if value >= 99_999.5:
        return f"{value / 1e3:.0f} k"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def show_counts(axis) -> None:
    """Write the ticks of an axis as counts with thousands separated."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: count_text(value) if value else "0"))


def logarithmic(*axes) -> None:
    """Make the axes of some panels logarithmic."""
    for axis in axes:
        axis.axes.set(**{f"{axis.axis_name}scale": "log"})
        plain_logarithmic_ticks(axis)


def plain_logarithmic_ticks(axis) -> None:
    """Give a logarithmic axis ticks that are plain numbers: 0.05, 0.1, 0.2 … or 1, 10, 100 …"""
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < WIDE_RANGE else (1,)))
    axis.set_minor_formatter(NullFormatter())
    show_counts(axis)


def readable_on(color: Sequence[float]) -> str:
    """Black or white, whichever has more contrast with a colour (relative luminance of WCAG 2)."""
    red, green, blue = (part / 12.92 if part <= 0.04 else ((part + 0.055) / 1.055) ** 2.4 for part in color[:3])
    return BLACK if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 else "white"


def whole_ticks(axis, most: int = 8) -> None:
    """Give an axis of whole numbers whole ticks only, up to `most`."""
    axis.set_major_locator(MaxNLocator(nbins=most, integer=True))


def by_distance(axes: Axes, most: int = 15) -> None:
    """Make distance the horizontal axis of a panel."""
    axes.set_xlabel("distance from the goal, moves")
    whole_ticks(axes.xaxis, most)


def by_iteration(axes: Axes) -> None:
    """Make the iterations of a training the horizontal axis of a panel."""
    axes.set_xlabel("iteration")
    show_counts(axes.xaxis)


def name_panel(axes: Axes, text: str) -> None:
    """Write what a panel shows at its upper left, above the data."""
    axes.set_title(text, loc="left")
