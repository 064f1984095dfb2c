"""What a report reads of tables that are large: fewer columns, or what their rows come to. This much is kept in git.

The reader of results takes it before anything else sees the table, so that a report is written from what was kept as
from the results themselves.
"""

from collections.abc import Callable
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from costtogo.analysis.intervals import weighted_means
from costtogo.analysis.several_seeds import CELLS

LOSS_ROWS = 300  # iterations that a table of losses shows
EARLY = (200, 250)  # iterations whose validation loss the thesis tells
Extract = Callable[[Any], pd.DataFrame]


def of_curve(curve: pd.DataFrame) -> pd.DataFrame:
    """The convergence points, the early iterations, and LOSS_ROWS evenly spread ones of those that validated: shown."""
    validated = np.flatnonzero(curve["validation_loss"].notna())
    places = validated[np.unique(np.linspace(0, len(validated) - 1, LOSS_ROWS).astype(int))] if len(validated) else []
    shown = np.isin(np.arange(len(curve)), places)
    return curve.assign(shown=shown)[shown | curve["updated"] | curve["iteration"].between(*EARLY)]


def of_instances(instances: pd.DataFrame) -> pd.DataFrame:
    """instances at each distance of each set, and how many states of them a selection set holds too: shared."""
    chosen_on = instances["rank"].isin(instances.loc[instances["role"] == "selection", "rank"])
    shared = chosen_on & ~instances.duplicated(["set", "rank"])
    cells = instances.assign(shared=shared).groupby(["set", "role", "distance"], sort=False, as_index=False)
    return cells.agg(instances=("rank", "size"), shared=("shared", "sum"))


def of_errors(errors: pd.DataFrame, layers: pd.DataFrame) -> pd.DataFrame:
    """The mean absolute error and bias over all states at each convergence point; layers: states by distance."""
    errors = errors.assign(states=errors["distance"].map(layers.set_index("distance")["states"]))
    means = weighted_means(errors, ["iteration", "convergence_point"], ["mean_absolute_error", "bias"])
    return means.drop(columns="states").sort_index().reset_index()


def of_table(arrays: dict[str, np.ndarray]) -> pd.DataFrame:
    """States at each distance of an exact table, of all of them or of those around the goal."""
    counts = arrays["layers"] if "layers" in arrays else np.bincount(arrays["distance"])
    return pd.DataFrame({"distance": np.arange(counts.size), "states": counts})


def of_clock(clock: pd.DataFrame) -> pd.DataFrame:
    """How many searches each setting timed, and their mean and longest seconds."""
    cell = list(clock.columns.drop(["instance", "seconds"]))
    return clock.groupby(cell, sort=False)["seconds"].agg(**MEASURED).reset_index()


MEASURED = {"searches": "size", "seconds": "mean", "longest": "max"}  # of the searches of a setting
ERRORS = ["iteration", "convergence_point", "scope", "distance", "states", "mean_absolute_error"]
SEARCHED = [*CELLS, "instance", "solved", "cost", "nodes_generated"]
without = partial(pd.DataFrame.drop, errors="ignore")
ARRAYS = ("tables", "audits/values")  # kinds that are arrays by name
OF_MORE = (*ARRAYS, "models/errors", "instances")  # kinds of which figures show more than their extract has
EXTRACTS: dict[str, Extract] = {  # by the kind of table, as kind_of says it
    "tables": of_table,
    "models/curve": of_curve,
    "instances": of_instances,
    "audits/by_distance": itemgetter(ERRORS),
    "searches/searches": itemgetter(SEARCHED),
    "baselines/searches": itemgetter(SEARCHED),
    "beams/searches": partial(without, columns=["state", "lower_bound"]),
    "anytime/searches": partial(without, columns=["text", "state", "lower_bound", "solution"]),
    "external/searches": partial(without, columns=["text", "state", "lower_bound"]),
    "optima": partial(without, columns=["state", "lower_bound"]),
    "trees/searches": partial(without, columns=["solution"]),
    "timings/trees": of_clock,
    "timings/policy_beams": of_clock,
}
FOR_OTHERS = (  # the kinds of tables that reports of other studies may ask for
    *("models/curve", "models/checkpoints", "audits/measures", "audits/by_distance", "searches/selection"),
    *("searches/grid", "searches/checkpoints", "searches/checkpoints_by_distance", "timings/searches"),
)


def kind_of(address: str) -> str:
    """The kind of a table.  "searches/net/grid" -> "searches/grid", "timings/searches/net" -> "timings/searches"."""
    group, name, *table = address.split("/")
    return f"timings/{name}" if group == "timings" else "/".join([group, *table])
