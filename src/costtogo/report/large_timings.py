"""The wall-clock times of the study of a large puzzle, kept apart from its report."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from costtogo.figures.catalogue_large import drawable
from costtogo.report.large_exact import compared, speeds
from costtogo.report.literature import documents_table
from costtogo.report.markdown import amount, frame_table, percent, places, short, table
from costtogo.report.results import StudyResults
from costtogo.report.text import gallery
from costtogo.report.timings import stages_table

SEARCHES = {
    "searches": ["set", "path_weight", "batch_size"],
    "baselines": ["set", "path_weight", "batch_size"],
    "optima": ["set"],
    "beams": ["set", "width"],
    "external": ["seconds_allowed"],
}
COLUMNS = [
    "group",
    "model",
    "set",
    "path_weight",
    "batch_size",
    "width",
    "seconds_allowed",
    "searches",
    "seconds",
    "longest",
]


def search_timings(results: StudyResults) -> pd.DataFrame:
    """Mean and longest seconds of the searches by group, model and setting; NaN where a group has no such setting."""
    frames = [pd.DataFrame(columns=COLUMNS)]
    names = {"baselines": results.asked.baselines, "optima": [results.puzzle]}
    for group, keys in SEARCHES.items():
        clock = results.of_each(names.get(group, results.model_names), f"timings/{group}/{{}}")
        if not clock.empty:
            cells = clock.groupby(["model", *keys], sort=False)["seconds"].agg(["size", "mean", "max"]).reset_index()
            columns = {"size": "searches", "mean": "seconds", "max": "longest"}
            frames.append(cells.rename(columns=columns).assign(group=group))
    return pd.concat(frames[1:] or frames).reindex(columns=COLUMNS)


def _of_heuristics(results: StudyResults) -> Iterator[str]:
    """Seconds of networks beside those of pattern databases, where the study has both."""
    timed = speeds(results, compared(results))
    if timed.empty:
        return
    columns = {
        "solver": ("solver", str),
        "heuristic": ("heuristic", "`{}`".format),
        "set": ("set", str),
        "path_weight": ("λ", short),
        "batch_size": ("N", amount),
        "solved_percent": ("solved, %", percent),
        "seconds": ("seconds", "{:.3g}".format),
        "longest": ("longest", "{:.3g}".format),
        "nodes_per_second": ("nodes generated a second", lambda value: amount(round(value))),
    }
    yield "## Networks beside pattern databases\n"
    yield "Searches of [the report's table](report.md); networks compute with all threads, the others with one.\n"
    yield frame_table(timed, columns)
    clock = results.find(f"timings/footprints/{results.puzzle}")
    if clock is not None:
        yield "Seconds for the children of a state, by how many states are asked for at a time (DeepCubeA, table 3):\n"
        columns = {
            "heuristic": ("heuristic", "`{}`".format),
            "states_at_a_time": ("states at a time", amount),
            "seconds": ("seconds a state", "{:.2g}".format),
        }
        yield frame_table(clock, columns)
    built = [name for name in results.asked.pattern_databases if results.has(f"pattern_databases/{name}")]
    if built:
        yield "Building the pattern databases:\n"
        timings = {name: results.card(f"pattern_databases/{name}")["timing"] for name in built}
        header = ["database", "seconds of the search", "peak memory, MB"]
        yield table(
            header,
            [
                [
                    f"`{name}`",
                    places(1)(timing["parts"].get("backward search")),
                    amount(timing.get("peak_memory_bytes", 0) // 10**6),
                ]
                for name, timing in timings.items()
            ],
        )


def timings_text(
    results: StudyResults,
    stages: pd.DataFrame,
    searches: pd.DataFrame,
    times: pd.DataFrame,
    captions: Path,
) -> str:
    """timings.md: the stages, the searches, the literature's times beside ours, the figures that show time."""
    columns = {
        "model": ("model", "`{}`".format),
        "group": ("group", str),
        "set": ("set", lambda value: value if isinstance(value, str) else "–"),
        "path_weight": ("λ", short),
        "batch_size": ("N", amount),
        "width": ("width", amount),
        "seconds_allowed": ("seconds allowed", short),
        "searches": ("searches", amount),
        "seconds": ("seconds", "{:.3g}".format),
        "longest": ("longest", "{:.3g}".format),
    }
    covered = times[times["reproduced"].notna()]
    drawn = [entry for entry in drawable(results.params, results.folder) if entry.timed]
    parts = [
        f"# Wall-clock times of the study `{results.study}`\n",
        "They differ from run to run; everything else is in [report.md](report.md). All stages together:"
        f" {amount(stages['seconds'].sum())} s.\n",
        "## Stages\n",
        stages_table(stages),
        "## Searches\n",
        "Seconds of a search, the mean and the longest. Searches of BWAS run in step and share each call of the"
        " network: theirs is the time of all, shared by the nodes each expanded.\n",
        frame_table(searches, columns) if len(searches) else "None yet.\n",
        *_of_heuristics(results),
        "## The literature's times\n",
        "On other machines; [timings/reported_vs_reproduced.csv](timings/reported_vs_reproduced.csv) has the notes.\n",
        documents_table(covered) if len(covered) else "Nothing to compare yet.\n",
        *(gallery([entry], captions) for entry in drawn),
    ]
    return "\n".join(parts)
