"""Measurements as rows of results.csv, a table of README.md and a picture."""

import platform
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd

from benchmarks.works import LESS, WORKS, Row, Work
from costtogo.files import write_bytes

COLUMNS = ["benchmark", "ours", "peer", "ratio_median", "ratio_min", "ratio_max", "unit", "note"]
BEGIN, END = "<!-- table: written by python -m benchmarks -->", "<!-- end of the table -->"
PEERS = ("cayleypy", "deepxube", "torch", "numba", "numpy")


@dataclass(frozen=True)
class Outcome:
    """The measures of both sides in each round, and the reason if a side failed."""

    ours: list[dict[str, float]]
    peer: list[dict[str, float]]
    failed: dict[str, str]

    def told(self, work: Work) -> str:
        """One line about it."""
        return "; ".join(
            f"{row['benchmark']}: {row['ours']:.4g} {row['unit']}"
            + (f", ratio {row['ratio_median']:.2f}" if not np.isnan(row["ratio_median"]) else "")
            for row in self.rows(work)
        )

    def rows(self, work: Work) -> list[dict]:
        """The lines of the table."""
        return [self._row(work, row) for row in work.rows]

    def _row(self, work: Work, row: Row) -> dict:
        ours = np.array([found[row.measure] for found in self.ours])
        peer = np.array([found[row.measure] for found in self.peer])
        rounds = min(len(ours), len(peer))
        ratios = peer[:rounds] / ours[:rounds] if row.better == LESS else ours[:rounds] / peer[:rounds]
        values = [np.median(ratios), ratios.min(), ratios.max()] if rounds else [np.nan] * 3
        failed = (f"{side} failed: {why}" for side, why in self.failed.items())
        notes = [row.note, self._wanted(work, row), *failed, f"on {processor()}"]
        told = [np.median(side) if len(side) else np.nan for side in (ours, peer)]
        note = "; ".join(note for note in notes if note)
        return dict(zip(COLUMNS, [row.benchmark, *told, *values, row.unit, note], strict=True))

    @staticmethod
    def _wanted(work: Work, row: Row) -> str:
        if work.peer:
            return f"beside {work.peer}, {row.at_least:g} × wanted" if row.at_least > 1 else f"beside {work.peer}"
        return f"{'at most' if row.better == LESS else 'at least'} {row.at_least:,g} {row.unit} wanted"


def write(folder: Path, work: Work, outcome: Outcome) -> None:
    """Replace the rows of a work among the others, then write table and picture again."""
    path = folder / "results.csv"
    known = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=COLUMNS)
    rows = pd.DataFrame(outcome.rows(work), columns=COLUMNS)
    kept = known[~known["benchmark"].isin(rows["benchmark"])]
    table = rows if kept.empty else pd.concat([kept, rows])
    order = {row.benchmark: place for place, row in enumerate(row for work in WORKS for row in work.rows)}
    table = table[table["benchmark"].isin(order)].sort_values("benchmark", key=lambda names: names.map(order))
    write_bytes(path, table.to_csv(index=False, float_format="%.6g").encode())
    write_table(folder / "README.md", table)
    draw(folder / "ratios.png", table)


def write_table(readme: Path, table: pd.DataFrame) -> None:
    """Write the table between its two marks, and the machine above it."""
    lines = [
        machine(),
        "",
        "| benchmark | ours | peer | ratio: median | min – max | unit | note |",
        "| :-- | --: | --: | --: | --: | :-- | :-- |",
    ]
    for row in table.to_dict("records"):
        spread = "–" if np.isnan(row["ratio_min"]) else f"{row['ratio_min']:.1f} – {row['ratio_max']:.1f}"
        median = "–" if np.isnan(row["ratio_median"]) else f"**{row['ratio_median']:.1f}**"
        cells = [row["benchmark"], amount(row["ours"]), amount(row["peer"]), median, spread, row["unit"], row["note"]]
        lines.append("| " + " | ".join(cells) + " |")
    put_between(readme, BEGIN, END, [*lines, "", "![The ratios](ratios.png)"])


def put_between(readme: Path, begin: str, end: str, lines: list[str]) -> None:
    """Replace the text between two marks."""
    head, rest = readme.read_text(encoding="utf-8").split(begin)
    write_bytes(readme, (head + begin + "\n" + "\n".join(lines) + "\n" + end + rest.split(end)[1]).encode())


def processor() -> str:
    """The name of the processor."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return next((line.split(":")[1].strip() for line in lines if "model name" in line), platform.processor())


def machine() -> str:
    """Processor and versions in one sentence."""
    versions = ", ".join(f"{name} {version(name)}" for name in PEERS)
    return f"Measured last on {processor()}, Python {platform.python_version()}, {versions}."


def version(name: str) -> str:
    """The installed version of a package."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def amount(value: float) -> str:
    """A measure with three significant digits."""
    if np.isnan(value):
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def draw(path: Path, table: pd.DataFrame) -> None:
    """The ratios with their spread, on a logarithmic scale."""
    matplotlib.use("Agg")
    from matplotlib import pyplot

    shown = table[table["ratio_median"].notna()].iloc[::-1]
    if shown.empty:
        return
    figure, axes = pyplot.subplots(figsize=(8, 0.4 * len(shown) + 1), layout="constrained")
    spread = [shown["ratio_median"] - shown["ratio_min"], shown["ratio_max"] - shown["ratio_median"]]
    axes.barh(shown["benchmark"], shown["ratio_median"], xerr=spread, color="#4477aa", ecolor="#222222", height=0.6)
    axes.set_xscale("log")
    axes.set_xticks([0.5, 1, 2, 5, 10, 20, 50], ["½", "1", "2", "5", "10", "20", "50"])
    axes.minorticks_off()
    axes.axvline(1, color="#222222", linewidth=0.8)
    axes.set_xlabel("times as fast, or as small, as the peer")
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
