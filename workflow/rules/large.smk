# Studies of one puzzle too large to list, each a target of its own: config/<study>.yaml with the key `puzzle`.

from costtogo.analysis.documents import documents
from costtogo.figures.catalogue_large import expected as expected_figures
from costtogo.files import digest
from costtogo.params_large import is_large
from costtogo.params_large import load as load_large

try:
    LARGE = {
        path.stem: load_large(path)
        for path in sorted((Path(workflow.basedir) / "config").glob("*.yaml"))
        if is_large(path)
    }
    for name, study in LARGE.items():
        write_slices(study, Path("results") / name)
        settle(study, Path("results") / name, Path("reports") / name)
except UserError as error:
    raise WorkflowError(str(error))


GROUPS = {  # targets of several studies
    "sliding": ("puzzle8", "puzzle15", "puzzle24"),
    "sliding-large": ("puzzle35", "puzzle48"),
    "lights_out": ("lights_out_7",),
}


wildcard_constraints:
    study="|".join(LARGE),
    large="|".join({study.puzzle for study in LARGE.values()}),
    network="|".join({name for study in LARGE.values() for name in study.models}),
    database="|".join(
        {name for study in LARGE.values() for name in study.pattern_databases}
    ),
    baseline="|".join({name for study in LARGE.values() for name in study.baselines}),


def large_literature(study):
    """The files with what the literature says of a study's puzzle."""
    return [str(path) for path in documents(LARGE[study].puzzle)]


def large_code(stage):
    """The source files that a stage runs through, by the study's puzzle."""
    return lambda wildcards: code(stage, [LARGE[wildcards.study].puzzle])


def large_table(wildcards):
    """The exact distances around the goal of a study's puzzle."""
    return f"results/{wildcards.study}/tables/{LARGE[wildcards.study].puzzle}.npz"


def large_sets(wildcards):
    """The instance sets of a study's puzzle, with their optima where the study finds them."""
    study = LARGE[wildcards.study]
    group = "instances" if study.optima is None else "optima"
    return f"results/{wildcards.study}/{group}/{study.puzzle}.parquet"


def large_database(name):
    """The pattern database that a wildcard's study goes by, if it is one of its pattern databases; name: of which."""

    def find(wildcards):
        study = LARGE[wildcards.study]
        chosen = name(study, wildcards)
        known = chosen in study.pattern_databases
        return (
            [f"results/{wildcards.study}/pattern_databases/{chosen}.npz"]
            if known
            else []
        )

    return find


def large_footprints(wildcards):
    """The checkpoints and the pattern databases whose memory and speed are measured."""
    study, folder = LARGE[wildcards.study], f"results/{wildcards.study}"
    return {
        "checkpoints": [
            f"{folder}/models/{name}/checkpoints.parquet" for name in study.models
        ],
        "databases": [
            f"{folder}/pattern_databases/{name}.npz"
            for name in study.baselines
            if name in study.pattern_databases
        ],
    }


def external_instances(wildcards):
    """The file of a study's external instances, where it is; a sentence where it is not."""
    from costtogo.external import find  # which loads much that no other study needs

    try:
        return {"instances": str(find(LARGE[wildcards.study].external.file))}
    except UserError as error:
        raise WorkflowError(str(error))


def large_results(study):
    """The cards of all that a study does."""
    wanted = LARGE[study]
    cards = expand(
        "{group}/{model}",
        group=["models", "audits", "searches", "beams"],
        model=wanted.models,
    )
    cards += [f"pattern_databases/{name}" for name in wanted.pattern_databases]
    cards += [f"baselines/{name}" for name in wanted.baselines]
    cards += [f"optima/{wanted.puzzle}"] if wanted.optima else []
    cards += [f"footprints/{wanted.puzzle}"] if wanted.baselines else []
    return [f"results/{study}/{card}.json" for card in cards]


def large_found(study):
    """What figures and report of a study read: cards and times, but those of external instances, which may be missing."""
    puzzle, cards = LARGE[study].puzzle, large_results(study)
    cards += [
        f"results/{study}/{group}/{puzzle}.json" for group in ("tables", "instances")
    ]
    return cards + [
        card.replace(f"results/{study}/", f"results/{study}/timings/") for card in cards
    ]


def large_external(study):
    """Digests of the cards of external instances that have been solved: figures and report are made again for others."""
    cards = [
        Path(f"results/{study}/external/{name}.json") for name in LARGE[study].models
    ]
    return [digest(card) for card in cards if card.exists()]


def large_figures(study):
    """The figures of a study, as PNG and SVG."""
    return [
        (f"reports/{study}/{entry.stem}.{kind}", entry)
        for entry in expected_figures(LARGE[study])
        for kind in ("png", "svg")
    ]


def large_report(study):
    """The documents of a study's report and the card of their stage."""
    documents = [
        "report.md",
        "timings.md",
        "metrics.json",
        "reported_vs_reproduced.csv",
    ]
    return [f"reports/{study}/{name}" for name in documents] + [
        f"results/{study}/report/report.json"
    ]


def large_all(study):
    """All that a study of a group ends in; puzzle8 is one of a puzzle whose states can be listed."""
    if study == "puzzle8":
        return PUZZLE8
    return large_results(study) + large_report(study)


rule large_table:
    input:
        params="results/{study}/params/tables/{large}.json",
        code=large_code("tables"),
    output:
        table="results/{study}/tables/{large}.npz",
        card="results/{study}/tables/{large}.json",
        timing="results/{study}/timings/tables/{large}.json",
    log:
        "logs/{study}/tables/{large}.log",
    message:
        "Listing the states of {wildcards.large} around the goal."
    shell:
        "costtogo table --params {input.params} --out {output.table} 2>&1 | tee {log}"


rule large_instances:
    input:
        params="results/{study}/params/instances/{large}.json",
        table="results/{study}/tables/{large}.npz",
        code=large_code("instances_large"),
    output:
        instances="results/{study}/instances/{large}.parquet",
        card="results/{study}/instances/{large}.json",
        timing="results/{study}/timings/instances/{large}.json",
    log:
        "logs/{study}/instances/{large}.log",
    message:
        "Drawing the instance sets of {wildcards.study}."
    shell:
        "costtogo instances-large --params {input.params} --table {input.table} --out {output.instances}"
        " 2>&1 | tee {log}"


rule large_pattern_database:
    input:
        params="results/{study}/params/pattern_databases/{database}.json",
        code=large_code("pattern_databases"),
    output:
        database="results/{study}/pattern_databases/{database}.npz",
        card="results/{study}/pattern_databases/{database}.json",
        timing="results/{study}/timings/pattern_databases/{database}.json",
    log:
        "logs/{study}/pattern_databases/{database}.log",
    message:
        "Building the pattern database {wildcards.database} of {wildcards.study}."
    shell:
        "costtogo pattern-database --params {input.params} --out {output.database} 2>&1 | tee {log}"


rule large_optima:
    input:
        params="results/{study}/params/optima/{large}.json",
        instances="results/{study}/instances/{large}.parquet",
        database=large_database(
            lambda study, wildcards: study.optima and study.optima.pattern_database
        ),
        code=large_code("optima"),
    output:
        instances="results/{study}/optima/{large}.parquet",
        seconds="results/{study}/timings/optima/{large}.parquet",
        card="results/{study}/optima/{large}.json",
        timing="results/{study}/timings/optima/{large}.json",
    log:
        "logs/{study}/optima/{large}.log",
    threads: lambda wildcards: LARGE[wildcards.study].threads
    params:
        database=lambda wildcards, input: (
            f"--database {input.database}" if input.database else ""
        ),
    message:
        "Solving the instance sets of {wildcards.study} exactly."
    shell:
        "costtogo optima --params {input.params} --instances {input.instances} {params.database}"
        " --out {output.instances} 2>&1 | tee {log}"


def large_start(wildcards):
    """The checkpoints of the model that a training begins with, if it does."""
    start = LARGE[wildcards.study].models[wildcards.network].starts_from
    return (
        []
        if start is None
        else [f"results/{wildcards.study}/models/{start}/checkpoints.parquet"]
    )


rule large_model:
    input:
        params="results/{study}/params/models/{network}.json",
        table=large_table,
        start=large_start,
        code=large_code("train"),
    output:
        checkpoints="results/{study}/models/{network}/checkpoints.parquet",
        curve="results/{study}/models/{network}/curve.parquet",
        errors="results/{study}/models/{network}/errors.parquet",
        card="results/{study}/models/{network}.json",
        timing="results/{study}/timings/models/{network}.json",
    log:
        "logs/{study}/models/{network}.log",
    benchmark:
        "results/{study}/timings/models/{network}.jsonl"
    threads: lambda wildcards: LARGE[wildcards.study].threads
    params:
        out=lambda wildcards: f"results/{wildcards.study}/models/{wildcards.network}",
        start=lambda wildcards, input: (
            f"--start {Path(input.start[0]).parent}" if input.start else ""
        ),
    message:
        "Training {wildcards.network} of {wildcards.study}."
    shell:
        "costtogo train --params {input.params} --table {input.table} --out {params.out} {params.start}"
        " 2>&1 | tee {log}"


rule large_audit:
    input:
        params="results/{study}/params/audits/{network}.json",
        table=large_table,
        instances=large_sets,
        checkpoints="results/{study}/models/{network}/checkpoints.parquet",
        code=large_code("audit_large"),
    output:
        nearby="results/{study}/audits/{network}/nearby.parquet",
        known="results/{study}/audits/{network}/known.parquet",
        consistency="results/{study}/audits/{network}/consistency.parquet",
        scrambled="results/{study}/audits/{network}/scrambled.parquet",
        greedy="results/{study}/audits/{network}/greedy.parquet",
        progress="results/{study}/audits/{network}/progress.parquet",
        card="results/{study}/audits/{network}.json",
        timing="results/{study}/timings/audits/{network}.json",
    log:
        "logs/{study}/audits/{network}.log",
    threads: lambda wildcards: LARGE[wildcards.study].threads
    params:
        model=lambda wildcards: f"results/{wildcards.study}/models/{wildcards.network}",
        out=lambda wildcards: f"results/{wildcards.study}/audits/{wildcards.network}",
    message:
        "Auditing {wildcards.network} of {wildcards.study}."
    shell:
        "costtogo audit-large --params {input.params} --table {input.table} --instances {input.instances}"
        " --model {params.model} --out {params.out} 2>&1 | tee {log}"


rule large_searches:
    input:
        params="results/{study}/params/searches/{network}.json",
        table=large_table,
        instances=large_sets,
        checkpoints="results/{study}/models/{network}/checkpoints.parquet",
        code=large_code("grid"),
    output:
        searches="results/{study}/searches/{network}/searches.parquet",
        grid="results/{study}/searches/{network}/grid.parquet",
        seconds="results/{study}/timings/searches/{network}.parquet",
        card="results/{study}/searches/{network}.json",
        timing="results/{study}/timings/searches/{network}.json",
    log:
        "logs/{study}/searches/{network}.log",
    threads: lambda wildcards: LARGE[wildcards.study].threads
    params:
        model=lambda wildcards: f"results/{wildcards.study}/models/{wildcards.network}",
        out=lambda wildcards: f"results/{wildcards.study}/searches/{wildcards.network}",
    message:
        "BWAS, λ × N, over {wildcards.network} of {wildcards.study}."
    shell:
        "costtogo grid --params {input.params} --table {input.table} --instances {input.instances}"
        " --model {params.model} --out {params.out} 2>&1 | tee {log}"


rule large_baseline:
    input:
        params="results/{study}/params/baselines/{baseline}.json",
        table=large_table,
        instances=large_sets,
        database=large_database(lambda study, wildcards: wildcards.baseline),
        code=large_code("baselines"),
    output:
        searches="results/{study}/baselines/{baseline}/searches.parquet",
        grid="results/{study}/baselines/{baseline}/grid.parquet",
        seconds="results/{study}/timings/baselines/{baseline}.parquet",
        card="results/{study}/baselines/{baseline}.json",
        timing="results/{study}/timings/baselines/{baseline}.json",
    log:
        "logs/{study}/baselines/{baseline}.log",
    params:
        database=lambda wildcards, input: (
            f"--database {input.database}" if input.database else ""
        ),
        out=lambda wildcards: f"results/{wildcards.study}/baselines/{wildcards.baseline}",
    message:
        "BWAS, λ × N, over {wildcards.baseline} of {wildcards.study}."
    shell:
        "costtogo baselines --params {input.params} --table {input.table} --instances {input.instances}"
        " {params.database} --out {params.out} 2>&1 | tee {log}"


rule large_footprints:
    input:
        unpack(large_footprints),
        params="results/{study}/params/footprints/{large}.json",
        code=large_code("footprints"),
    output:
        footprints="results/{study}/footprints/{large}.parquet",
        seconds="results/{study}/timings/footprints/{large}.parquet",
        card="results/{study}/footprints/{large}.json",
        timing="results/{study}/timings/footprints/{large}.json",
    log:
        "logs/{study}/footprints/{large}.log",
    threads: lambda wildcards: LARGE[wildcards.study].threads
    params:
        models=lambda wildcards, input: " ".join(
            f"--model {Path(path).parent}" for path in input.checkpoints
        ),
        databases=lambda wildcards, input: " ".join(
            f"--database {path}" for path in input.get("databases", [])
        ),
        out=lambda wildcards: f"results/{wildcards.study}/footprints/{wildcards.large}",
    message:
        "Measuring the memory and the speed of the heuristics of {wildcards.study}."
    shell:
        "costtogo footprints --params {input.params} {params.models} {params.databases} --out {params.out}"
        " 2>&1 | tee {log}"


rule large_beams:
    input:
        params="results/{study}/params/beams/{network}.json",
        table=large_table,
        instances=large_sets,
        checkpoints="results/{study}/models/{network}/checkpoints.parquet",
        code=large_code("beams"),
    output:
        searches="results/{study}/beams/{network}/searches.parquet",
        grid="results/{study}/beams/{network}/grid.parquet",
        seconds="results/{study}/timings/beams/{network}.parquet",
        card="results/{study}/beams/{network}.json",
        timing="results/{study}/timings/beams/{network}.json",
    log:
        "logs/{study}/beams/{network}.log",
    threads: lambda wildcards: LARGE[wildcards.study].threads
    params:
        model=lambda wildcards: f"results/{wildcards.study}/models/{wildcards.network}",
        out=lambda wildcards: f"results/{wildcards.study}/beams/{wildcards.network}",
    message:
        "Beam search over {wildcards.network} of {wildcards.study}."
    shell:
        "costtogo beams --params {input.params} --table {input.table} --instances {input.instances}"
        " --model {params.model} --out {params.out} 2>&1 | tee {log}"


rule large_external:
    input:
        unpack(external_instances),
        params="results/{study}/params/external/{network}.json",
        table=large_table,
        checkpoints="results/{study}/models/{network}/checkpoints.parquet",
        code=large_code("external"),
    output:
        searches="results/{study}/external/{network}/searches.parquet",
        summary="results/{study}/external/{network}/summary.parquet",
        seconds="results/{study}/timings/external/{network}.parquet",
        card="results/{study}/external/{network}.json",
        timing="results/{study}/timings/external/{network}.json",
    log:
        "logs/{study}/external/{network}.log",
    threads: lambda wildcards: LARGE[wildcards.study].threads
    params:
        model=lambda wildcards: f"results/{wildcards.study}/models/{wildcards.network}",
        out=lambda wildcards: f"results/{wildcards.study}/external/{wildcards.network}",
    message:
        "External instances of {wildcards.study}, solved over {wildcards.network}."
    shell:
        "costtogo external --params {input.params} --table {input.table} --model {params.model}"
        " --out {params.out} 2>&1 | tee {log}"


for name in LARGE:

    rule:
        name:
            f"{name}-figures"
        input:
            large_found(name),
            params=f"results/{name}/params/report/report.json",
            literature=large_literature(name),
            code=code("figures_large", [LARGE[name].puzzle]),
        output:
            [
                report(
                    path,
                    caption=f"../captions/{entry.kind}.rst",
                    category=entry.puzzle,
                    subcategory=entry.model or "all models",
                    labels={"figure": entry.label, "format": path.rsplit(".")[-1]},
                )
                for path, entry in large_figures(name)
            ],
        log:
            f"logs/{name}/figures.log",
        params:
            folders=f"--results results/{name} --reports reports/{name}",
            external=large_external(name),
        message:
            f"Drawing the figures of {name}."
        shell:
            "costtogo figures-large --params {input.params} {params.folders} 2>&1 | tee {log}"

    rule:
        name:
            f"{name}-report"
        input:
            large_found(name),
            [path for path, _ in large_figures(name)],
            params=f"results/{name}/params/report/report.json",
            literature=large_literature(name),
            captions=sorted(
                {
                    f"workflow/captions/{entry.kind}.rst"
                    for _, entry in large_figures(name)
                }
            ),
            code=code("report_large", [LARGE[name].puzzle]),
        output:
            large_report(name),
            timing=f"results/{name}/timings/report/report.json",
        log:
            f"logs/{name}/report.log",
        params:
            folders=f"--results results/{name} --reports reports/{name}",
            external=large_external(name),
        message:
            f"Writing the report of {name}."
        shell:
            "costtogo report-large --params {input.params} {params.folders} 2>&1 | tee {log}"

    rule:
        name:
            name
        input:
            large_results(name),
            large_report(name),
        message:
            f"Study {name} is complete: read reports/{name}/report.md."


for group, members in GROUPS.items():

    rule:
        name:
            group
        input:
            [path for name in members for path in large_all(name)],
        message:
            f"Target {group} is complete: read the reports of {', '.join(members)}."


for name in [name for name, study in LARGE.items() if study.external]:

    rule:
        name:
            f"{name}-external"
        input:
            expand(f"results/{name}/external/{{model}}.json", model=LARGE[name].models),
        message:
            f"External instances of {name} are solved: read results/{name}/external."
