# Trainings by deep approximate value iteration.


rule model:
    message:
        "Training {wildcards.model}."
    input:
        params=f"{RESULTS}/params/models/{{model}}.json",
        table=lambda wildcards: f"{RESULTS}/tables/{STUDY.models[wildcards.model].puzzle}.npz",
        code=code("train"),
    output:
        checkpoints=f"{RESULTS}/models/{{model}}/checkpoints.parquet",
        curve=f"{RESULTS}/models/{{model}}/curve.parquet",
        errors=f"{RESULTS}/models/{{model}}/errors.parquet",
        card=f"{RESULTS}/models/{{model}}.json",
        timing=f"{RESULTS}/timings/models/{{model}}.json",
    params:
        out=lambda wildcards: f"{RESULTS}/models/{wildcards.model}",
    threads: STUDY.threads
    priority: 10
    log:
        f"{LOGS}/models/{{model}}.log",
    benchmark:
        f"{LOGS}/benchmarks/models/{{model}}.jsonl"
    shell:
        "costtogo train --params {input.params} --table {input.table} --out {params.out} 2>&1 | tee {log}"


rule models:
    message:
        "The trainings are complete."
    input:
        MODELS,
