# Trainings by deep approximate value iteration.


rule model:
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
    log:
        f"{LOGS}/models/{{model}}.log",
    benchmark:
        f"{RESULTS}/timings/models/{{model}}.jsonl"
    priority: 10
    threads: STUDY.threads
    params:
        out=lambda wildcards: f"{RESULTS}/models/{wildcards.model}",
    message:
        "Training {wildcards.model}."
    shell:
        "costtogo train --params {input.params} --table {input.table} --out {params.out} 2>&1 | tee {log}"


rule models:
    input:
        MODELS,
    message:
        "The trainings are complete."
