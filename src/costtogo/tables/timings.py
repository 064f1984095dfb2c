"""The wall-clock times of a study, kept apart from its report because they differ from run to run."""

import pandas as pd

from costtogo.analysis.several_seeds import CELLS
from costtogo.files import flatten
from costtogo.params.study import PuzzleStudy
from costtogo.tables.extracts import MEASURED, of_clock
from costtogo.tables.results import StudyResults
from costtogo.tables.whole import baseline

SETTINGS = {  # what tells the searches of a group of stages apart, of a puzzle whose states are sampled
    "searches": CELLS,
    "baselines": CELLS,
    "optima": ["set"],
    "beams": ["set", "width"],
    "external": ["seconds_allowed"],
}


def stage_timings(results: StudyResults) -> pd.DataFrame:
    """group, name and what each stage but the report noted of its run: seconds, threads, processor …"""
    places = {tuple(place.split("/")): timing for place, timing in results.timings.items()}
    rows = [{"group": group, "name": name, **flatten(timing)} for (group, name), timing in places.items()]
    return pd.DataFrame([row for row in rows if row["group"] != "report"])


def search_timings(results: StudyResults) -> pd.DataFrame:
    """Seconds of the searches of every puzzle: by search, engine and cell, or by group, model and setting."""
    listed = [of_cells(results.of(puzzle)) for puzzle, asked in results.puzzles.items() if asked.is_exhaustive]
    exhaustive = [pd.concat(listed).sort_values("search", kind="stable")] if listed else []
    others = [of_settings(results.of(puzzle)) for puzzle, asked in results.puzzles.items() if has_settings(asked)]
    return pd.concat([*exhaustive, *others])


def has_settings(asked: PuzzleStudy) -> bool:
    """True if searches of a puzzle are timed by their settings: all where states are sampled, else by_group's."""
    return bool(asked.by_group) or not asked.is_exhaustive


def of_cells(results: StudyResults) -> pd.DataFrame:
    """Seconds of a search by search, engine and cell, of a puzzle whose states are all listed."""
    names = sorted([*results.model_names, baseline(results)])
    return results.of_each(names, "timings/searches/{}").rename(columns={"model": "search"})


def of_settings(results: StudyResults) -> pd.DataFrame:
    """Mean and longest seconds of the searches by group, model and setting; NaN where a group has no such setting."""
    names, frames = {"baselines": results.asked.baselines, "optima": [results.puzzle]}, []
    every = {} if results.asked.is_exhaustive else SETTINGS  # BWAS over listed states is timed by of_cells
    every = every | {group: [*searches[0].cell] for group, searches in results.asked.by_group.items()}
    for group, keys in every.items():
        clock = results.of_each(names.get(group, results.model_names), f"timings/{group}/{{}}")
        if not clock.empty:
            whole = clock if "searches" in clock else of_clock(clock[["model", *keys, "instance", "seconds"]])
            frames.append(whole.assign(group=group))
    settings = dict.fromkeys(key for keys in every.values() for key in keys)
    found = pd.concat(frames) if frames else pd.DataFrame()
    return found.reindex(columns=["group", "model", *settings, *MEASURED])
