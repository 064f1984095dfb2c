"""The wall-clock times of a study, kept apart from the report because they differ from run to run."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from costtogo.figures.catalogue import catalogue
from costtogo.files import read_frame, read_json
from costtogo.stages.report_markdown import amount, frame_table, places, short
from costtogo.stages.report_tables import Results, same_weights
from costtogo.stages.report_text import TIMED, flatten, gallery, puzzle_title

NETWORK_ENGINE = "network alone"  # the engine that, like the literature's, searches one instance at a time


def stage_timings(results: Results) -> pd.DataFrame:
    """group, name and what the stage noted of its run (seconds, threads, processor …), one row a stage."""
    paths = sorted((results.folder / "timings").glob("*/*.json"))
    return pd.DataFrame([{"group": path.parent.name, "name": path.stem, **flatten(read_json(path))} for path in paths])


def search_timings(results: Results, reported: pd.DataFrame) -> pd.DataFrame:
    """Seconds of a search by search and cell, and the literature's beside those of the network engine.

    reported: the literature's rows; only its seconds are used.
    """
    frames = [
        read_frame(path).assign(search=path.stem)
        for path in sorted((results.folder / "timings" / "searches").glob("*.parquet"))
    ]
    timings = pd.concat(frames)
    seconds = reported[reported["quantity"] == "seconds"]
    theirs = {
        (row["puzzle"], row["set"], row["path_weight"], row["batch_size"]): row["value"]
        for row in seconds.to_dict("records")
    }
    puzzles = {model: puzzle for puzzle, models in results.models.items() for model in models}
    timings["reported_seconds"] = [
        theirs.get((puzzles.get(row.search), row.set, row.path_weight, row.batch_size), np.nan)
        if row.engine == NETWORK_ENGINE
        else np.nan
        for row in timings.itertuples()
    ]
    return timings[["search", *timings.columns.drop("search")]]


def timings_text(
    study,
    results: Results,
    stages: pd.DataFrame,
    searches: pd.DataFrame,
    reported: pd.DataFrame,
    captions: Path,
) -> str:
    """timings.md: the stages, the searches, and a figure of the searches of each model."""
    parts = [
        f"# Wall-clock times of the study `{study.study}`\n",
        "They differ from run to run; everything else is in [report.md](report.md). All stages together:"
        f" {amount(stages['seconds'].sum())} s.\n",
        "## Stages\n",
        _stages_table(stages),
        "## Searches\n",
        "Mean seconds of one search at each puzzle's headline λ and N, and wherever the thesis gives"
        " seconds; *timings/searches.csv* has the other settings. *table*: the network's values"
        f" were computed once for all states and looked up; *{NETWORK_ENGINE}*: one search at a time calls"
        " the network; *network in step*: many searches share each call. The thesis's seconds (Tardón"
        f" Rubio 2022) stand beside *{NETWORK_ENGINE}* only, which is how it searched, on another"
        " computer. Searches over the network are some of each set, spread over it, without those that took more"
        " than network_max_steps steps over the table; *expanded* is their own mean.\n",
        *_search_sections(results, searches, reported),
        *_ranges(results, reported),
        gallery([entry for entry in catalogue(study) if entry.kind == TIMED], captions),
    ]
    return "\n".join(parts)


def _stages_table(stages: pd.DataFrame) -> str:
    columns = {
        "group": ("group", str),
        "name": ("name", "`{}`".format),
        "seconds": ("seconds", places(2)),
        "threads": ("threads", short),
        "processor": ("processor", str),
    }
    return frame_table(stages, columns)


def _search_sections(results: Results, searches: pd.DataFrame, reported: pd.DataFrame) -> Iterator[str]:
    """The searches at the headline λ and N, and wherever the literature gives seconds or a range of them."""
    ranges = reported[reported["quantity"] == "seconds_least"]
    ranged = set(zip(ranges["puzzle"], ranges["set"], ranges["batch_size"], strict=True))
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
        "reported_seconds": ("thesis, seconds", places(2)),
    }
    for puzzle, models in results.models.items():
        own = searches[searches["search"].isin([*models, f"baseline_{puzzle}"])]
        cell = results.headline(puzzle)
        in_range = np.array([(puzzle, row.set, row.batch_size) in ranged for row in own.itertuples()], dtype=bool)
        alone = own["engine"] == NETWORK_ENGINE
        own = own[same_weights(own, cell) | own["reported_seconds"].notna() | (alone & in_range)]
        if not own.empty:
            yield f"### {puzzle_title(puzzle)}\n"
            yield frame_table(own, columns)


def _ranges(results: Results, reported: pd.DataFrame) -> Iterator[str]:
    """The literature's seconds that it gives as a range over λ."""
    ranges = reported[reported["quantity"].isin(["seconds_least", "seconds_most"])]
    ranges = ranges[ranges["puzzle"].isin(results.models)]
    if ranges.empty:
        return
    yield "The thesis gives these seconds as ranges over λ:\n"
    columns = {
        "puzzle": ("puzzle", puzzle_title),
        "set": ("set", str),
        "batch_size": ("N", short),
        "quantity": ("", lambda quantity: quantity.removeprefix("seconds_")),
        "value": ("thesis, seconds", places(2)),
    }
    yield frame_table(ranges, columns)
