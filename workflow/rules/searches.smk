# BWAS over λ × N: for each model, and for the exact and the zero heuristic.


rule model_search:
    input:
        params=f"{RESULTS}/params/searches/{{model}}.json",
        table=lambda wildcards: f"{RESULTS}/tables/{STUDY.models[wildcards.model].puzzle}.npz",
        instances=lambda wildcards: f"{RESULTS}/instances/{STUDY.models[wildcards.model].puzzle}.parquet",
        checkpoints=f"{RESULTS}/models/{{model}}/checkpoints.parquet",
        values=f"{RESULTS}/audits/{{model}}/values.npz",
        code=code("search"),
    output:
        selection=f"{RESULTS}/searches/{{model}}/selection.parquet",
        grid=f"{RESULTS}/searches/{{model}}/grid.parquet",
        by_distance=f"{RESULTS}/searches/{{model}}/by_distance.parquet",
        checkpoints=f"{RESULTS}/searches/{{model}}/checkpoints.parquet",
        checkpoints_by_distance=f"{RESULTS}/searches/{{model}}/checkpoints_by_distance.parquet",
        admissible=f"{RESULTS}/searches/{{model}}/admissible.parquet",
        searches=f"{RESULTS}/searches/{{model}}/searches.parquet",
        seconds=f"{RESULTS}/timings/searches/{{model}}.parquet",
        card=f"{RESULTS}/searches/{{model}}.json",
        timing=f"{RESULTS}/timings/searches/{{model}}.json",
    log:
        f"{LOGS}/searches/{{model}}.log",
    benchmark:
        f"{RESULTS}/timings/searches/{{model}}.jsonl"
    threads: STUDY.threads
    params:
        model=lambda wildcards: f"{RESULTS}/models/{wildcards.model}",
        audit=lambda wildcards: f"{RESULTS}/audits/{wildcards.model}",
        out=lambda wildcards: f"{RESULTS}/searches/{wildcards.model}",
    message:
        "Searching with {wildcards.model} over λ × N."
    shell:
        "costtogo search --params {input.params} --table {input.table} --instances {input.instances}"
        " --audit {params.audit} --model {params.model} --out {params.out} 2>&1 | tee {log}"


rule baseline_search:
    input:
        params=f"{RESULTS}/params/searches/baseline_{{puzzle}}.json",
        table=f"{RESULTS}/tables/{{puzzle}}.npz",
        instances=f"{RESULTS}/instances/{{puzzle}}.parquet",
        code=code("search"),
    output:
        grid=f"{RESULTS}/searches/baseline_{{puzzle}}/grid.parquet",
        by_distance=f"{RESULTS}/searches/baseline_{{puzzle}}/by_distance.parquet",
        searches=f"{RESULTS}/searches/baseline_{{puzzle}}/searches.parquet",
        seconds=f"{RESULTS}/timings/searches/baseline_{{puzzle}}.parquet",
        card=f"{RESULTS}/searches/baseline_{{puzzle}}.json",
        timing=f"{RESULTS}/timings/searches/baseline_{{puzzle}}.json",
    log:
        f"{LOGS}/searches/baseline_{{puzzle}}.log",
    benchmark:
        f"{RESULTS}/timings/searches/baseline_{{puzzle}}.jsonl"
    threads: STUDY.threads
    params:
        out=lambda wildcards: f"{RESULTS}/searches/baseline_{wildcards.puzzle}",
    message:
        "Searching {wildcards.puzzle} with the exact and the zero heuristic over λ × N."
    shell:
        "costtogo search --params {input.params} --table {input.table} --instances {input.instances}"
        " --out {params.out} 2>&1 | tee {log}"


rule searches:
    input:
        SEARCHES,
    message:
        "The searches are complete."
