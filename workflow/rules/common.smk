# The parameters, checked; the paths of the study; which sources a stage runs through.

import os
import sys
from pathlib import Path

SOURCE = Path(workflow.basedir) / "src"
sys.path.insert(0, str(SOURCE))
os.environ["PYTHONPATH"] = str(SOURCE)
os.environ["PATH"] = os.pathsep.join(
    [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
)

from costtogo.figures.catalogue import catalogue
from costtogo.params import parse as parse_study
from costtogo.params import read_yaml
from costtogo.sources import sources
from costtogo.tracking import log_waiting
from costtogo.types import UserError
from costtogo.workflow import settle, write_slices

try:
    for path in map(Path, workflow.configfiles):
        if path.is_file():
            read_yaml(path)  # of a key that stands twice, Snakemake took the last
    STUDY = parse_study(config)
except UserError as error:
    raise WorkflowError(str(error))

RESULTS = f"results/{STUDY.study}"
REPORTS = f"reports/{STUDY.study}"
LOGS = f"logs/{STUDY.study}"

try:
    write_slices(STUDY, Path(RESULTS))
    settle(STUDY, Path(RESULTS), Path(REPORTS))
except UserError as error:
    raise WorkflowError(str(error))


wildcard_constraints:
    puzzle="|".join(STUDY.tables),
    model="|".join(STUDY.models),


def code(stage, puzzles=(*STUDY.tables, *STUDY.puzzles)):
    """The source files that a stage runs through, as inputs of its rule; puzzles: those of its study."""
    return [
        os.path.relpath(path) for path in sources(f"costtogo.stages.{stage}", puzzles)
    ]


def results(group, names, *files):
    """Card, timing and further files of stages."""
    kinds = [
        f"{RESULTS}/{group}/{{name}}.json",
        f"{RESULTS}/timings/{group}/{{name}}.json",
    ]
    return expand(
        kinds + [f"{RESULTS}/{group}/{{name}}{file}" for file in files], name=names
    )


TABLES = results("tables", STUDY.tables, ".npz")
INSTANCES = results("instances", STUDY.puzzles, ".parquet", "/distributions.parquet")
MODELS = results(
    "models", STUDY.models, "/checkpoints.parquet", "/curve.parquet", "/errors.parquet"
)
AUDITS = results(
    "audits", STUDY.models, "/values.npz", "/measures.parquet", "/by_distance.parquet"
)
FOUND = ["/grid.parquet", "/by_distance.parquet", "/searches.parquet"]
BASELINES = [f"baseline_{puzzle}" for puzzle in STUDY.puzzles]
OF_CHECKPOINTS = [
    "/selection.parquet",
    "/checkpoints.parquet",
    "/checkpoints_by_distance.parquet",
    "/admissible.parquet",
]
SEARCHES = results("searches", STUDY.models, *FOUND, *OF_CHECKPOINTS)
SEARCHES += results("searches", BASELINES, *FOUND)
SEARCHES += expand(
    f"{RESULTS}/timings/searches/{{name}}.parquet", name=[*STUDY.models, *BASELINES]
)
ENTRIES = catalogue(STUDY)
FIGURES = [
    f"{REPORTS}/{entry.stem}.{kind}" for entry in ENTRIES for kind in ("png", "svg")
]
DOCUMENTS = ["report.md", "timings.md", "metrics.json", "reported_vs_reproduced.csv"]
REPORT = [f"{REPORTS}/{name}" for name in DOCUMENTS] + [f"{RESULTS}/report/report.json"]
REPORT += [f"{RESULTS}/timings/report/report.json"]
FINDINGS = TABLES + INSTANCES + MODELS + AUDITS + SEARCHES
# Snakemake reads all inputs of a rule once for each output: figures and report name the cards, which change with what
# they stand for, and the times.
CARDS = [path for path in FINDINGS if path.endswith(".json") or "/timings/" in path]
ALL = FINDINGS + FIGURES + REPORT
