# Instance sets with exact distances.


rule instance_sets:
    input:
        params=f"{RESULTS}/params/instances/{{puzzle}}.json",
        table=f"{RESULTS}/tables/{{puzzle}}.npz",
        code=code("instances"),
    output:
        instances=f"{RESULTS}/instances/{{puzzle}}.parquet",
        distributions=f"{RESULTS}/instances/{{puzzle}}/distributions.parquet",
        card=f"{RESULTS}/instances/{{puzzle}}.json",
        timing=f"{RESULTS}/timings/instances/{{puzzle}}.json",
    log:
        f"{LOGS}/instances/{{puzzle}}.log",
    message:
        "Drawing the instance sets of {wildcards.puzzle}."
    shell:
        "costtogo instances --params {input.params} --table {input.table} --out {output.instances}"
        " 2>&1 | tee {log}"


rule instances:
    input:
        INSTANCES,
    message:
        "The instance sets are complete."
