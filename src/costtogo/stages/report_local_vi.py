"""Stage: write the report of the study of local value iteration, its figures, its tables and its timings."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd

from costtogo.figures import local_vi as drawings
from costtogo.figures.catalogue import KINDS, file_of
from costtogo.figures.style import image
from costtogo.files import read_text, write_bytes, write_csv, write_json, write_text
from costtogo.params_local_vi import LocalViStudy
from costtogo.puzzles import make
from costtogo.report.local_vi_compared import (
    AGREES,
    DIFFERS,
    REPORTED,
    WITHIN,
    compare,
    local,
    read_reported,
)
from costtogo.report.markdown import amount, frame_table, places, short
from costtogo.report.results import StudyResults
from costtogo.stages.leftovers import remove_others
from costtogo.stages.stage_run import StageRun, parameters_of, whole_cards

EXCHANGED = "1 2 4 3 5 6 7 8 9 10 11 12 13 15 14 0"
CAPTIONS = Path("workflow/captions")


def run(params: Path, results: Path, reports: Path) -> None:
    """Write everything; results and reports are the study's folders."""
    study = LocalViStudy(**{name: value for name, value in parameters_of(params).items() if name != "puzzle"})
    cards = whole_cards(results)
    stage = StageRun("report_local_vi", __name__, params, results / "report" / "report", [REPORTED, *cards])
    found = StudyResults(results, study, timed=True)
    searches, seconds = _searches(found)
    reported = read_reported()
    frames = frames_of(found, searches, seconds)
    comparison, timed = compare(reported, found), compare(reported, found, timed=True)
    metrics = {f"{row.initial_size}_average_moves": row.average_moves for row in frames["sizes"].itertuples()}
    written = write_figures(reports, draw(found, reported, searches, seconds))
    written += write_tables(reports, frames, comparison, timed)
    write_json(reports / "metrics.json", metrics)
    write_text(reports / "report.md", "\n".join(text(found, frames, comparison)))
    write_text(reports / "timings.md", "\n".join(timings(found, timed, searches, seconds)))
    for folder in ("figures", "svg/figures", "svg/timings", "tables", "timings"):
        remove_others((reports / folder).glob("*.*"), written)
    files = sorted(reports.rglob("*.*"))
    timed = [path for path in files if "timings" in str(path.relative_to(reports))]
    stage.finish([path for path in files if path not in timed], metrics, timed)


def frames_of(
    results: StudyResults, searches: pd.DataFrame | None, seconds: pd.DataFrame | None
) -> dict[str, pd.DataFrame]:
    """The tables of the report by name."""
    frames = {
        "classes": readable(local(results, "classes")),
        "sizes": sizes_of(results),
        "larger": local(results, "larger"),
    }
    frames |= {
        "shares": local(results, "shares"),
        "subproblems": local(results, "subproblems"),
        "preferences": local(results, "preferences"),
    }
    if searches is not None:
        frames["compared"] = solvers_of(searches, seconds).drop(columns=["seconds", "longest"])
    return frames


def write_figures(reports: Path, figures: dict) -> list[Path]:
    """Write the figures of draw in each kind; returns their files."""
    written = []
    for (folder, name), figure in figures.items():
        for kind in KINDS:
            written.append(reports / file_of(f"{folder}/{name}", kind))
            write_bytes(written[-1], image(figure, kind))
    return written


def write_tables(
    reports: Path, frames: dict[str, pd.DataFrame], comparison: pd.DataFrame, timed: pd.DataFrame
) -> list[Path]:
    """Write the tables and the numbers reported beside ours; returns their files."""
    files = {reports / "tables" / f"{name}.csv": frame for name, frame in frames.items()}
    files[reports / "reported_vs_reproduced.csv"] = comparison
    files[reports / "timings" / "reported_vs_reproduced.csv"] = timed
    for path, frame in files.items():
        write_csv(path, frame)
    return list(files)


def _searches(results: StudyResults) -> tuple[pd.DataFrame | None, pd.DataFrame | None]:
    """The boards solved by all solvers, and the seconds of each; none where the study compares none."""
    if results.asked.compared is None:
        return None, None
    return results.frame(f"compared/{results.puzzle}"), results.frame(f"timings/compared/{results.puzzle}")


def draw(
    results: StudyResults,
    reported: pd.DataFrame,
    searches: pd.DataFrame | None,
    seconds: pd.DataFrame | None,
) -> dict:
    """The figures by folder and name; those that a clock tells of stand among the timings."""
    numbers = reported[reported["section"].isin(["Table 1", "Table 2"])].assign(
        value=lambda rows: rows["value"].astype(float)
    )
    drawn = local(results, "boards").rename(columns={"length_1": "length", "considered_1": "considered"})
    classes = readable(local(results, "classes")).query("initial_size == 1")
    found = {
        ("figures", "policy"): drawings.policy(local(results, "policy"), make(results.puzzle).side),
        ("figures", "lengths_by_size"): drawings.lengths_by_size(
            sizes_of(results), numbers[numbers["section"] == "Table 2"]
        ),
        ("figures", "lengths_by_class"): drawings.lengths_by_class(
            drawn, classes, numbers[numbers["section"] == "Table 1"]
        ),
    }
    if searches is not None:
        found["timings", "compared"] = drawings.compared(searches, seconds)
    return found


def readable(classes: pd.DataFrame) -> pd.DataFrame:
    """The classes with their fractions as numbers beside them."""
    found = classes.rename(columns={"share": "share_exact", "average_moves": "average_exact"})
    found["share_percent"] = [float(100 * Fraction(text)) for text in found["share_exact"]]
    found["average_moves"] = [float(Fraction(text)) for text in found["average_exact"]]
    return found


def sizes_of(results: StudyResults) -> pd.DataFrame:
    """By initial size: averages and most moves of the boards drawn and of all boards."""
    rows = []
    for size in local(results, "classes")["initial_size"].unique():
        classes, lengths = (
            local(results, "classes").query("initial_size == @size"),
            local(results, "boards")[f"length_{size}"],
        )
        average = sum(Fraction(row.share) * Fraction(row.average_moves) for row in classes.itertuples())
        rows.append(
            {
                "initial_size": size,
                "drawn_average": lengths.mean(),
                "longest": int(lengths.max()),
                "average_moves": float(average),
                "maximum_moves": int(classes["maximum_moves"].max()),
                "considered": int(classes["considered"].max()),
                "states": int(local(results, "subproblems").query("initial_size == @size")["states"].sum()),
            }
        )
    return pd.DataFrame(rows)


def solvers_of(searches: pd.DataFrame, seconds: pd.DataFrame) -> pd.DataFrame:
    """A row for each solver: share solved, length beside the optimum of the boards it solved, and its times."""
    whole = searches.merge(seconds, on=["solver", "instance"], validate="one_to_one")
    rows = []
    for solver, found in whole.groupby("solver", sort=False):
        solved = found.dropna(subset="length")
        rows.append(
            {
                "solver": drawings.name_of(solver),
                "boards": len(found),
                "solved_percent": 100 * len(solved) / len(found),
                "length": solved["length"].mean(),
                "optimal_length": solved["optimal"].mean(),
                "ratio": solved["length"].mean() / solved["optimal"].mean() if len(solved) else np.nan,
                "seconds": found["seconds"].mean(),
                "longest": found["seconds"].max(),
            }
        )
    return pd.DataFrame(rows)


def text(results: StudyResults, frames: dict, comparison: pd.DataFrame) -> Iterator[str]:
    """report.md, part by part."""
    sizes, counted = frames["sizes"], comparison["verdict"].value_counts()
    first, last = sizes.iloc[0], sizes.iloc[-1]
    yield "# The 15-puzzle by local value iteration: the study `local_vi`\n"
    yield "## Key results\n"
    yield (
        f"- All {results.asked.boards:,} random boards were solved with each initial size, and every solution "
        f"replayed. With {first.initial_size:.0f} tile a step all boards together take {first.average_moves:.4f} moves "
        "on average "
        f"and at most {first.maximum_moves:.0f}, with {last.initial_size:.0f} tiles {last.average_moves:.4f} and "
        f"{last.maximum_moves:.0f}: exact, over all {make(results.puzzle).state_count:,} boards."
    )
    words = {AGREES: "agree", WITHIN: "are within chance", DIFFERS: "do not hold"}
    told = ", ".join(f"{counted.get(verdict, 0)} {word}" for verdict, word in words.items())
    yield (
        f"- Of {len(comparison)} numbers of the document that no clock tells: {told}. See [where it "
        f"differs](#where-the-document-differs)."
    )
    if "compared" in frames:
        yield (
            "- Beside other solvers on the same boards: [below](#beside-other-solvers), in seconds in "
            "[timings.md](timings.md)."
        )
    yield ""
    yield _figure("policy", "what the policy does with each tile")
    yield "## What was done\n"
    yield (
        "A subproblem G, R brings the tiles of G home without moving those of R. Its state is where the tiles of G "
        "and the blank lie. Its value function is computed by backward search from all states whose tiles are home; "
        "a test holds it equal to value iteration as the document's Algorithm 1 has it. Algorithm 2 takes G = {i} "
        "for i = 1, 2, … and adds the tile brought home last to G until the board can be solved; value functions are "
        "made once.\n\n"
        "What the policy does depends on the cells that it looks at alone, so after each step the other tiles lie at "
        "random as before. The cell of the blank and the most tiles considered so far are therefore a Markov chain, "
        "and shares, averages and maxima over all boards follow exactly. On the 8-puzzle a test compares them with "
        "every one of its 181,440 states.\n"
    )
    yield from _theorems(results, frames)
    yield from _experiment(sizes)
    yield from _differences(results, comparison)
    yield from _beyond(results, frames)


def _figure(name: str, label: str, folder: str = "figures") -> str:
    caption = " ".join(read_text(CAPTIONS / f"local_vi_{name}.rst").split())
    return f"![{label}]({folder}/{name}.png)\n\n**{label[0].upper()}{label[1:]}.** {caption}\n"


def _theorems(results: StudyResults, frames: dict) -> Iterator[str]:
    every = local(results, "shares")
    yield "## Theorem 1: tiles considered, and states\n"
    yield (
        "Share of the boards for which so many tiles are considered at once when a tile is brought home, exact. The "
        "document takes the blank to lie at random when a tile's turn comes; it does not, but the shares come out "
        "the same: "
        f"{'all' if (every['share'] == every['uniform']).all() else 'not all'} of them.\n"
    )
    shares = every.query("initial_size == 1")
    merged = shares.merge(local(results, "subproblems").query("initial_size == 1"), on=["tile", "considered"])
    columns = {
        "tile": ("tile", short),
        "considered": ("considered", short),
        "tiles": ("G", str),
        "share": ("share", str),
        "states": ("placements", amount),
        "solvable": ("of them solvable", amount),
        "most_moves": ("most moves M", short),
    }
    yield frame_table(merged, columns)
    yield "## Theorems 2 and 3: classes of boards\n"
    yield (
        "A class has the boards for which so many tiles are considered at once at most. The bound φ is the "
        "document's: the sum of the most moves of every step. The longest is that of a board that there is.\n"
    )
    columns = {
        "considered": ("class", short),
        "share_exact": ("share", str),
        "share_percent": ("%", places(4)),
        "average_moves": ("average moves", places(3)),
        "maximum_moves": ("longest", short),
        "bound": ("bound φ", short),
    }
    yield frame_table(frames["classes"].query("initial_size == 1"), columns)
    yield _figure("lengths_by_class", "random boards by class")


def _experiment(sizes: pd.DataFrame) -> Iterator[str]:
    yield "## Initial sizes\n"
    columns = {
        "initial_size": ("tiles a step", short),
        "drawn_average": ("average of the boards drawn", places(2)),
        "longest": ("longest of them", short),
        "average_moves": ("average of all boards", places(4)),
        "maximum_moves": ("longest of all", short),
        "considered": ("most tiles at once", short),
        "states": ("states of all subproblems", amount),
    }
    yield frame_table(sizes, columns)
    yield _figure("lengths_by_size", "lengths by initial size")


def _differences(results: StudyResults, comparison: pd.DataFrame) -> Iterator[str]:
    yield "## Where the document differs\n"
    yield "Every number is in [reported_vs_reproduced.csv](reported_vs_reproduced.csv); these do not hold:\n"
    rows = comparison[comparison["verdict"] == DIFFERS]
    columns = {
        "section": ("where", str),
        "quantity": ("quantity", str),
        "tile": ("tile", _or_dash),
        "considered": ("considered", _or_dash),
        "value": ("document", str),
        "reproduced": ("here", str),
    }
    yield frame_table(rows, columns)
    yield from _halved(results)
    yield (
        "The averages and maxima of its tables depend on which of several equally good moves a policy takes, which "
        "it does not say: *tables/preferences.csv* has those of all 24 orders. A number within their range, and "
        "within three standard deviations of a sample, counts as within chance.\n"
    )


def _halved(results: StudyResults) -> Iterator[str]:
    """A board that shows why the states are not halved."""
    puzzle = make("puzzle15")
    board = puzzle.parse_state(EXCHANGED)  # which refuses boards that cannot be solved
    states = local(results, "subproblems").query("initial_size == 1")
    pair = states.query("tile == 4 and considered == 2")["solvable"].iloc[0]
    yield (
        "The document halves the states of every subproblem, since half of all boards can be solved. But with two "
        "tiles or more outside of G and R both halves are reached: exchange two of those. In the board\n\n"
        f"```text\n{puzzle.draw(board)}\n```\n\n"
        "tiles 3 and 4 are exchanged against the goal, all else that the subproblem {3, 4}, {1, 2} looks at is as in "
        "it, and it "
        f"can be solved because 14 and 15 are exchanged, too. So {pair:,} states of that subproblem occur, and "
        f"{states['solvable'].max():,} of the largest one that Algorithm 2 calls for.\n"
    )


def _or_dash(value) -> str:
    return str(value) if value else "–"


def _beyond(results: StudyResults, frames: dict) -> Iterator[str]:
    yield "## Larger boards\n"
    yield "Row by row, the last two rows column by column, one tile a step: two tiles at once suffice on every side.\n"
    columns = {
        "side": ("side", short),
        "boards": ("boards", amount),
        "average_moves": ("average moves", places(1)),
        "longest": ("longest", amount),
        "exact_average_moves": ("average of all", places(4)),
        "maximum_moves": ("longest of all", amount),
        "considered": ("most tiles at once", short),
        "subproblems": ("subproblems", short),
        "states": ("their states", amount),
    }
    yield frame_table(local(results, "larger"), columns)
    if "compared" in frames:
        yield "## Beside other solvers\n"
        columns = {
            "solver": ("solver", str),
            "boards": ("boards", amount),
            "solved_percent": ("solved, %", places(1)),
            "length": ("moves", places(2)),
            "optimal_length": ("optimum of the solved", places(2)),
            "ratio": ("times the optimum", places(3)),
        }
        yield frame_table(frames["compared"], columns)


def timings(
    results: StudyResults, timed: pd.DataFrame, searches: pd.DataFrame | None, seconds: pd.DataFrame | None
) -> Iterator[str]:
    """timings.md, part by part."""
    yield "# Wall-clock times of the study `local_vi`\n"
    yield "They differ from run to run; everything else is in [report.md](report.md).\n"
    yield "## Value functions and boards\n"
    clock = results.frame(f"timings/local_vi/{results.puzzle}").assign(tiles=lambda rows: rows["side"] ** 2 - 1)
    columns = {
        "tiles": ("tiles of the board", short),
        "initial_size": ("tiles a step", short),
        "what": ("what", str),
        "seconds": ("seconds of all", places(3)),
    }
    yield frame_table(clock, columns)
    yield "## Beside the document\n"
    columns = {
        "section": ("where", str),
        "quantity": ("quantity", str),
        "initial_size": ("tiles a step", short),
        "value": ("document", str),
        "reproduced": ("here", str),
        "verdict": ("", str),
    }
    yield frame_table(timed, columns)
    if searches is not None:
        yield "## Beside other solvers\n"
        columns = {
            "solver": ("solver", str),
            "length": ("moves", places(2)),
            "milliseconds": ("ms a board", places(3)),
            "longest_milliseconds": ("longest, ms", places(3)),
        }
        rows = solvers_of(searches, seconds)
        rows = rows.assign(milliseconds=1e3 * rows["seconds"], longest_milliseconds=1e3 * rows["longest"])
        yield frame_table(rows, columns)
        yield _figure("compared", "every board by every solver", "timings")
