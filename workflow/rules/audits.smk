# Audits of the trained networks on every state.


rule audit:
    input:
        params=f"{RESULTS}/params/audits/{{model}}.json",
        table=lambda wildcards: f"{RESULTS}/tables/{STUDY.models[wildcards.model].puzzle}.npz",
        checkpoints=f"{RESULTS}/models/{{model}}/checkpoints.parquet",
        code=code("audit"),
    output:
        values=f"{RESULTS}/audits/{{model}}/values.npz",
        measures=f"{RESULTS}/audits/{{model}}/measures.parquet",
        by_distance=f"{RESULTS}/audits/{{model}}/by_distance.parquet",
        card=f"{RESULTS}/audits/{{model}}.json",
        timing=f"{RESULTS}/timings/audits/{{model}}.json",
    log:
        f"{LOGS}/audits/{{model}}.log",
    benchmark:
        f"{RESULTS}/timings/audits/{{model}}.jsonl"
    threads: STUDY.threads
    params:
        model=lambda wildcards: f"{RESULTS}/models/{wildcards.model}",
        out=lambda wildcards: f"{RESULTS}/audits/{wildcards.model}",
    message:
        "Auditing {wildcards.model} on every state."
    shell:
        "costtogo audit --params {input.params} --table {input.table} --model {params.model} --out {params.out}"
        " 2>&1 | tee {log}"


rule audits:
    input:
        AUDITS,
    message:
        "The audits are complete."
