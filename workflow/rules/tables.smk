# Exact distance tables by breadth-first search.


rule table:
    input:
        params=f"{RESULTS}/params/tables/{{puzzle}}.json",
        code=code("tables"),
    output:
        table=f"{RESULTS}/tables/{{puzzle}}.npz",
        card=f"{RESULTS}/tables/{{puzzle}}.json",
        timing=f"{RESULTS}/timings/tables/{{puzzle}}.json",
    log:
        f"{LOGS}/tables/{{puzzle}}.log",
    message:
        "Listing all states of {wildcards.puzzle} by their distance from the goal."
    shell:
        "costtogo table --params {input.params} --out {output.table} 2>&1 | tee {log}"


rule tables:
    input:
        TABLES,
    message:
        "The exact tables are complete."
