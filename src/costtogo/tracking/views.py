"""Saved views of a study's runs, which MLflow's pages offer under `Views` and open by address.

The pages keep a saved view in a tag of the experiment: its name and, as JSON, which runs are shown in which order, with
which columns and charts. They add a chart for each number that has none, unless a chart of it is named as deleted.
"""

import json
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from costtogo.tracking.cells import FOUND, LAMBDA, SIZE

LOSSES = "losses"  # the key of the view of the curves
TAG = "mlflow.sharedViewState."
CREATED = 1_577_836_800_000  # ms, 2020-01-01 UTC: the same view is the same tag
CURVES = {"loss": True, "last_mean_absolute_error": True, "validation_loss": True, "effective_k": False}  # logarithmic?
SEARCHED = ("optimal_percent", "nodes_expanded", "length", "selected_mean_absolute_error")
SECTION = "Model metrics"  # the pages' own name of the section that has no name
CURRENT = "tags.result != 'former'"
HEADLINES = f"metrics.length >= 0 and tags.stage != 'cell' and {CURRENT}"  # runs whose numbers stand for a network
BY_NAME = ("tags.`mlflow.runName`", True)
BY_NODES = ("metrics.`nodes_expanded`", True)  # by anything but the date, the pages show cells without their search


@dataclass(frozen=True)
class View:
    """One saved view.  key: its name in an address.  runs: MLflow's condition.  order: what sorts, ascending or not."""

    key: str
    name: str
    runs: str
    order: tuple[str, bool]
    columns: tuple[str, ...]
    charts: list[dict[str, Any]] = field(default_factory=list)

    def state(self, metrics: Collection[str]) -> dict[str, Any]:
        """What the pages keep of the view; metrics: the names of all numbers of its runs."""
        names = dict.fromkeys(chart["metricSectionId"] for chart in self.charts)
        left_out = sorted(set(metrics) - {chart.get("metricKey") for chart in self.charts})
        charts = [*self.charts, *({**_chart("LINE", name), "deleted": True} for name in left_out)]
        return {
            "searchFilter": self.runs,
            "orderByKey": self.order[0],
            "orderByAsc": self.order[1],
            "startTime": "ALL",
            "lifecycleFilter": "Active",
            "modelVersionFilter": "All Runs",
            "datasetsFilter": [],
            "selectedColumns": list(self.columns),
            "runsHiddenMode": "FIRST_20_RUNS" if self.key == LOSSES else "SHOW_ALL",
            "compareRunCharts": charts,
            "compareRunSections": [_section(name) for name in names],
            "isAccordionReordered": True,
            "hideEmptyCharts": True,
        }

    def tag(self, metrics: Collection[str]) -> tuple[str, str]:
        """The tag of the experiment that holds the view: its name and its value."""
        state = json.dumps(self.state(metrics), sort_keys=True)
        text = json.dumps({"name": self.name, "createdAt": CREATED, "updatedAt": CREATED, "state": state})
        return TAG + self.key, text


def losses() -> View:
    """The curves of the trainings, the losses on a logarithmic axis."""
    charts = [_line(name, logarithmic) for name, logarithmic in CURVES.items()]
    columns = (_metric("loss"), _metric("last_mean_absolute_error"), _param("epsilon"), _param("iterations"))
    return View(LOSSES, "Loss curves", f"tags.stage = 'train' and {CURRENT}", BY_NAME, columns, charts)


def networks() -> View:
    """The networks by the numbers that stand for them: how good their searches are, and how dear."""
    charts = [_scatter("nodes_expanded", "optimal_percent"), *(_chart("BAR", name) for name in SEARCHED)]
    return View("networks", "Networks compared", HEADLINES, BY_NODES, tuple(map(_metric, SEARCHED)), charts)


def cells(search: str, instances: str, settings: list[str]) -> View:
    """The cells of one search on one set; settings: the names of what tells them apart."""
    settings = sorted(settings, key=lambda name: (name != LAMBDA, name))
    runs = f"tags.cell_of = '{search}' and tags.set = '{instances}' and {CURRENT}"
    columns = (*map(_param, settings), *map(_metric, FOUND))
    is_plane = {LAMBDA, SIZE} <= {*settings}
    charts = [_contour(name) for name in ("nodes_expanded", "optimal_percent")] if is_plane else []
    parallel = _chart("PARALLEL") | {
        "selectedParams": settings,
        "selectedMetrics": ["optimal_percent", "nodes_expanded"],
    }
    charts += [_scatter("nodes_expanded", "optimal_percent"), parallel | {"showAllRuns": True}]
    name = f"{'λ × N' if is_plane else search.partition('/')[0]}: {search.partition('/')[2]}, {instances}"
    return View(re.sub(r"[^\w.]+", "-", f"{search}-{instances}"), name, runs, BY_NODES, columns, charts)


def _contour(metric: str) -> dict[str, Any]:
    """A number over λ and N, in a section of its own, whose name says which: that of the chart names its axes alone."""
    axes = {"xaxis": {"key": LAMBDA, "type": "PARAM"}, "yaxis": {"key": SIZE, "type": "PARAM"}}
    axes |= {"zaxis": {"key": metric, "type": "METRIC"}}
    return _chart("CONTOUR") | axes | {"uuid": f"CONTOUR-{metric}", "metricSectionId": f"{metric} over λ × N"}


def _section(name: str) -> dict[str, Any]:
    """A part of the page with charts; one of a single chart has its whole width."""
    columns = 2 if name == SECTION else 1
    kept = {"uuid": name, "name": name, "display": True, "isReordered": True, "deleted": False, "isGenerated": False}
    return kept | {"columns": columns, "cardHeight": 340}


def _metric(name: str) -> str:
    return f"metrics.`{name}`"


def _param(name: str) -> str:
    return f"params.`{name}`"


def _chart(kind: str, metric: str | None = None) -> dict[str, Any]:
    """A chart as the pages keep it; metric: the number that it shows, of one that shows one."""
    own = {"metricKey": metric, "displayName": metric} if metric else {}
    place = {"uuid": f"{kind}-{metric}", "metricSectionId": SECTION, "deleted": False, "isGenerated": False}
    return {"type": kind, "runsCountToCompare": 100, **place, **own}


def _line(metric: str, logarithmic: bool) -> dict[str, Any]:
    axis = {"scaleType": "log" if logarithmic else "linear", "xAxisKey": "step", "xAxisScaleType": "linear"}
    usual = {"lineSmoothness": 0, "useGlobalXaxisKey": True, "useGlobalLineSmoothing": True, "yAxisKey": "metric"}
    return _chart("LINE", metric) | axis | usual | {"yAxisExpressions": [], "range": {}, "ignoreOutliers": False}


def _scatter(x: str, y: str) -> dict[str, Any]:
    axes = {"xaxis": {"key": x, "type": "METRIC"}, "yaxis": {"key": y, "type": "METRIC"}}
    return _chart("SCATTER") | axes | {"displayName": f"{y} over {x}"}
