# The parameters, checked; a rule for each stage of every study, all made alike from the table of stages.

import os
import sys
from pathlib import Path

from snakemake.cli import get_argument_parser

SOURCE = Path(workflow.basedir) / "src"
sys.path.insert(0, str(SOURCE))
os.environ["PYTHONPATH"] = str(SOURCE)
os.environ["PATH"] = os.pathsep.join(
    [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
)

from costtogo.figures.catalogue import write_captions
from costtogo.params.loading import BASE
from costtogo.tracking import begin_run, log_waiting
from costtogo.types import UserError
from costtogo.workflow.graph import Graph
from costtogo.workflow.resources import resources_of

try:
    settings, root = workflow.config_settings, Path(workflow.basedir)
    files = [root / BASE, *settings.configfiles]
    # Snakemake reads this file before it says what is asked for: its own parser reads the command line again.
    asked, _ = get_argument_parser().parse_known_args(sys.argv[1:])
    GRAPH = Graph(
        files,
        root / "config",
        changes=dict(settings.config),
        words=sys.argv[1:],
        job=workflow.remote_exec,
        targets=asked.targets,
    )
except UserError as error:
    raise WorkflowError(str(error))


# Where Snakemake's own report, if it is asked for, finds the captions.
PICTURES = Path.cwd() / ".snakemake" / "costtogo" / "captions"
if any(word.startswith("--report") for word in sys.argv):
    write_captions(PICTURES)


def reads(stage):
    """What a stage reads, its recipe first; a function, so that only what is asked for is looked at."""

    def find(wildcards):
        try:
            return GRAPH.reads(stage)
        except UserError as error:
            raise WorkflowError(str(error))

    return find


def grown(stage, name):
    """What a stage asks of a cluster, as many times as the attempt counts."""
    return lambda wildcards, attempt: attempt * getattr(resources_of(stage), name)


def gpus(stage):
    """How many GPUs a stage asks for, at each attempt."""
    return lambda wildcards: resources_of(stage).gpu


def output(stage):
    """What a stage writes, its mark last; figures stand in Snakemake's own report."""
    drawn = stage.drawn
    for path in stage.outputs:
        picture = drawn.get(path)
        yield (
            path
            if picture is None
            else report(
                path,
                caption=str(PICTURES / f"{picture.kind}.rst"),
                category=picture.puzzle,
                subcategory=picture.model or "all models",
                labels={"figure": picture.label, "format": path.rsplit(".")[-1]},
            )
        )
    yield GRAPH.mark(stage)


def refuse_absent_devices():
    """End before anything starts where a stage to be run asks for a device that is not here."""
    try:
        GRAPH.refuse_absent_devices(
            job.rule.name for job in workflow.dag.needrun_jobs()
        )
    except UserError as error:
        raise WorkflowError(str(error))


for stage in GRAPH.stages:

    rule:
        name:
            stage.rule
        input:
            ancient(reads(stage)),
        output:
            list(output(stage)),
        log:
            f"logs/{stage.id}.log",
        benchmark:
            stage.benchmark
        priority: stage.priority
        threads: stage.threads
        resources:
            mem_mb=grown(stage, "mem_mb"),
            runtime=grown(stage, "runtime"),
            gpu=gpus(stage),
        params:
            command=GRAPH.command(stage),
            plan=GRAPH.plan(stage),
        message:
            GRAPH.message(stage)
        shell:
            "COSTTOGO_PLAN={params.plan} {params.command} 2>&1 | tee {log}"


for target in GRAPH.targets:

    rule:
        name:
            target.name
        input:
            target.marks,
        message:
            target.message
