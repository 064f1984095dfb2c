"""The wall-clock times of a study, kept apart from the report because they differ from run to run."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from costtogo.figures.catalogue import catalogue
from costtogo.files import read_frame, read_json
from costtogo.report.answers.cells import NETWORK_ENGINE
from costtogo.report.literature import repeated_table
from costtogo.report.markdown import amount, frame_table, places, short
from costtogo.report.results import StudyResults
from costtogo.report.tables import same_weights
from costtogo.report.text import flatten, gallery, puzzle_title


def stage_timings(results: StudyResults) -> pd.DataFrame:
    """group, name and what the stage noted of its run (seconds, threads, processor …), one row a stage."""
    paths = sorted((results.folder / "timings").glob("*/*.json"))
    return pd.DataFrame([{"group": path.parent.name, "name": path.stem, **flatten(read_json(path))} for path in paths])


def search_timings(results: StudyResults) -> pd.DataFrame:
    """Seconds of a search by search, engine and cell."""
    frames = [
        read_frame(path).assign(search=path.stem)
        for path in sorted((results.folder / "timings" / "searches").glob("*.parquet"))
    ]
    timings = pd.concat(frames)
    return timings[["search", *timings.columns.drop("search")]]


def timings_text(
    results: StudyResults,
    stages: pd.DataFrame,
    searches: pd.DataFrame,
    comparison: pd.DataFrame,
    captions: Path,
) -> str:
    """timings.md: the stages, the searches, the literature's times beside ours, and a figure of each model.

    comparison: the literature's times beside ours, as comparison.compare returns it.
    """
    parts = [
        f"# Wall-clock times of the study `{results.study}`\n",
        "They differ from run to run; everything else is in [report.md](report.md). All stages together:"
        f" {amount(stages['seconds'].sum())} s.\n",
        "## Stages\n",
        stages_table(stages),
        "## Searches\n",
        "Mean seconds of one search at each puzzle's headline λ and N; *timings/searches.csv* has the other"
        " settings. *table*: the network's values were computed once for all states and looked up;"
        f" *{NETWORK_ENGINE}*: one search at a time calls the network; *network in step*: many searches share each"
        " call. Searches over the network are some of each set, spread over it, without those that took more than"
        " network_max_steps steps over the table; *expanded* is their own mean.\n",
        *_search_sections(results, searches),
        *_literature(comparison),
        gallery([entry for entry in catalogue(results.params) if entry.timed], captions),
    ]
    return "\n".join(parts)


def _literature(comparison: pd.DataFrame) -> Iterator[str]:
    """The literature's times beside ours, where it has any of these puzzles."""
    if len(comparison):
        yield "## The literature's times\n"
        yield (
            "The thesis (Tardón Rubio 2022) trained and searched on a laptop (Intel Core i7-8550U), the final-year"
            " report searched on one (i7-8565, GeForce MX150) and trained on a Tesla P100; their seconds stand beside"
            f" *{NETWORK_ENGINE}*, which is how they searched. *Exact recipe* is what `data/measured/` keeps, *compact*"
            " this study.\n"
        )
        yield repeated_table(comparison)


def stages_table(stages: pd.DataFrame) -> str:
    """What each stage took, and where it ran."""
    columns = {
        "group": ("group", str),
        "name": ("name", "`{}`".format),
        "seconds": ("seconds", places(2)),
        "threads": ("threads", short),
        "processor": ("processor", str),
    }
    return frame_table(stages, columns)


def _search_sections(results: StudyResults, searches: pd.DataFrame) -> Iterator[str]:
    """The searches at the headline λ and N of each puzzle."""
    columns = {
        "search": ("search", "`{}`".format),
        "engine": ("engine", str),
        "heuristic": ("heuristic", str),
        "set": ("set", str),
        "path_weight": ("λ", short),
        "batch_size": ("N", short),
        "searches": ("searches", amount),
        "seconds": ("seconds", "{:.3g}".format),
        "nodes_expanded": ("expanded", amount),
        "nodes_per_second": ("nodes per second", amount),
        "precision": ("precision", str),
    }
    for puzzle, models in results.models.items():
        own = searches[searches["search"].isin([*models, f"baseline_{puzzle}"])]
        own = own[same_weights(own, results.headline(puzzle))]
        if not own.empty:
            yield f"### {puzzle_title(puzzle)}\n"
            yield frame_table(own, columns)
