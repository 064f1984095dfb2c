# Studies of one puzzle too large to list, each a target of its own: config/<study>.yaml with the key `puzzle`.

from costtogo.external import find as find_external
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


wildcard_constraints:
    study="|".join(LARGE),
    large="|".join({study.puzzle for study in LARGE.values()}),
    network="|".join({name for study in LARGE.values() for name in study.models}),


def large_table(wildcards):
    """The exact distances around the goal of a study's puzzle."""
    return f"results/{wildcards.study}/tables/{LARGE[wildcards.study].puzzle}.npz"


def large_sets(wildcards):
    """The instance sets of a study's puzzle."""
    return (
        f"results/{wildcards.study}/instances/{LARGE[wildcards.study].puzzle}.parquet"
    )


def external_instances(wildcards):
    """The file of a study's external instances, where it is; a sentence where it is not."""
    try:
        return {"instances": str(find_external(LARGE[wildcards.study].external.file))}
    except UserError as error:
        raise WorkflowError(str(error))


def large_results(study):
    """The cards of all that a study does."""
    return expand(
        f"results/{study}/{{group}}/{{model}}.json",
        group=["models", "audits", "searches", "beams"],
        model=LARGE[study].models,
    )


rule large_table:
    input:
        params="results/{study}/params/tables/{large}.json",
        code=code("tables"),
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
        code=code("instances_large"),
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


rule large_model:
    input:
        params="results/{study}/params/models/{network}.json",
        table=large_table,
        code=code("train"),
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
    message:
        "Training {wildcards.network} of {wildcards.study}."
    shell:
        "costtogo train --params {input.params} --table {input.table} --out {params.out} 2>&1 | tee {log}"


rule large_audit:
    input:
        params="results/{study}/params/audits/{network}.json",
        table=large_table,
        checkpoints="results/{study}/models/{network}/checkpoints.parquet",
        code=code("audit_large"),
    output:
        nearby="results/{study}/audits/{network}/nearby.parquet",
        consistency="results/{study}/audits/{network}/consistency.parquet",
        scrambled="results/{study}/audits/{network}/scrambled.parquet",
        greedy="results/{study}/audits/{network}/greedy.parquet",
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
        "costtogo audit-large --params {input.params} --table {input.table} --model {params.model}"
        " --out {params.out} 2>&1 | tee {log}"


rule large_searches:
    input:
        params="results/{study}/params/searches/{network}.json",
        table=large_table,
        instances=large_sets,
        checkpoints="results/{study}/models/{network}/checkpoints.parquet",
        code=code("grid"),
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


rule large_beams:
    input:
        params="results/{study}/params/beams/{network}.json",
        table=large_table,
        instances=large_sets,
        checkpoints="results/{study}/models/{network}/checkpoints.parquet",
        code=code("beams"),
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
        code=code("external"),
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
            name
        input:
            large_results(name),
        message:
            f"Study {name} is complete: its results are in results/{name}."


for name in [name for name, study in LARGE.items() if study.external]:

    rule:
        name:
            f"{name}-external"
        input:
            expand(f"results/{name}/external/{{model}}.json", model=LARGE[name].models),
        message:
            f"External instances of {name} are solved: read results/{name}/external."
