"""The wall-clock times of the study of a large puzzle, kept apart from its report."""

from pathlib import Path

import pandas as pd

from costtogo.figures.catalogue_large import drawable
from costtogo.params_large import LargeStudy
from costtogo.stages.report_large_compared import rows_table
from costtogo.stages.report_large_tables import of_models
from costtogo.stages.report_markdown import amount, frame_table, short
from costtogo.stages.report_tables import Results
from costtogo.stages.report_text import gallery
from costtogo.stages.report_timings import stages_table

SEARCHES = {
    "searches": ["set", "path_weight", "batch_size"],
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


def search_timings(study: LargeStudy, results: Results) -> pd.DataFrame:
    """Mean and longest seconds of the searches by group, model and setting; NaN where a group has no such setting."""
    frames = [pd.DataFrame(columns=COLUMNS)]
    for group, keys in SEARCHES.items():
        clock = of_models(results, study, f"timings/{group}/{{}}.parquet")
        if not clock.empty:
            cells = clock.groupby(["model", *keys], sort=False)["seconds"].agg(["size", "mean", "max"]).reset_index()
            names = {"size": "searches", "mean": "seconds", "max": "longest"}
            frames.append(cells.rename(columns=names).assign(group=group))
    return pd.concat(frames[1:] or frames).reindex(columns=COLUMNS)


def timings_text(
    study: LargeStudy,
    results: Results,
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
    drawn = [entry for entry in drawable(study, results.folder) if entry.timed]
    parts = [
        f"# Wall-clock times of the study `{study.study}`\n",
        "They differ from run to run; everything else is in [report.md](report.md). All stages together:"
        f" {amount(stages['seconds'].sum())} s.\n",
        "## Stages\n",
        stages_table(stages),
        "## Searches\n",
        "Seconds of a search, the mean and the longest. Searches of BWAS run in step and share each call of the"
        " network: theirs is the time of all, shared by the nodes each expanded.\n",
        frame_table(searches, columns) if len(searches) else "None yet.\n",
        "## The literature's times\n",
        "On other machines; [timings/reported_vs_reproduced.csv](timings/reported_vs_reproduced.csv) has the notes.\n",
        rows_table(covered) if len(covered) else "Nothing to compare yet.\n",
        *(gallery([entry], captions) for entry in drawn),
    ]
    return "\n".join(parts)
