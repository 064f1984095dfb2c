# Local value iteration on the 15-puzzle, a target of its own: config/local_vi.yaml.

from costtogo.params_local_vi import load as load_local_vi

try:
    LOCAL_VI = load_local_vi(Path(workflow.basedir) / "config" / "local_vi.yaml")
    write_slices(LOCAL_VI, Path("results") / LOCAL_VI.study)
    settle(LOCAL_VI, Path("results") / LOCAL_VI.study, Path("reports") / LOCAL_VI.study)
except UserError as error:
    raise WorkflowError(str(error))

LOCAL_VI_TABLES = (
    "subproblems",
    "shares",
    "classes",
    "preferences",
    "policy",
    "boards",
    "larger",
)


rule local_vi_boards:
    input:
        params="results/local_vi/params/local_vi/puzzle15.json",
        code=code("local_vi", ["puzzle15"]),
    output:
        tables=expand(
            "results/local_vi/local_vi/puzzle15/{table}.parquet", table=LOCAL_VI_TABLES
        ),
        seconds="results/local_vi/timings/local_vi/puzzle15.parquet",
        card="results/local_vi/local_vi/puzzle15.json",
        timing="results/local_vi/timings/local_vi/puzzle15.json",
    log:
        "logs/local_vi/local_vi.log",
    params:
        out="results/local_vi/local_vi/puzzle15",
    message:
        "Local value iteration on all boards of the 15-puzzle, and on random ones."
    shell:
        "costtogo local-vi --params {input.params} --out {params.out} 2>&1 | tee {log}"


rule local_vi_compared:
    input:
        params="results/local_vi/params/compared/puzzle15.json",
        model="results/puzzle15/models/tiles/checkpoints.parquet",
        database="results/puzzle15/pattern_databases/7-8.npz",
        code=code("local_vi_compared", ["puzzle15"]),
    output:
        searches="results/local_vi/compared/puzzle15.parquet",
        seconds="results/local_vi/timings/compared/puzzle15.parquet",
        card="results/local_vi/compared/puzzle15.json",
        timing="results/local_vi/timings/compared/puzzle15.json",
    log:
        "logs/local_vi/compared.log",
    threads: LOCAL_VI.threads
    params:
        model="results/puzzle15/models/tiles",
    message:
        "The same boards by local value iteration, over the network and by IDA*."
    shell:
        "costtogo local-vi-compared --params {input.params} --model {params.model} --database {input.database}"
        " --out {output.searches} 2>&1 | tee {log}"


rule local_vi_report:
    input:
        rules.local_vi_boards.output,
        rules.local_vi_compared.output if LOCAL_VI.compared else [],
        params="results/local_vi/params/report/report.json",
        reported="data/reported/local_value_iteration.csv",
        captions=[
            f"workflow/captions/local_vi_{name}.rst"
            for name in ("policy", "lengths_by_class", "lengths_by_size", "compared")
        ],
        code=code("report_local_vi", ["puzzle15"]),
    output:
        "reports/local_vi/report.md",
        "reports/local_vi/timings.md",
        "reports/local_vi/metrics.json",
        "reports/local_vi/reported_vs_reproduced.csv",
        "results/local_vi/report/report.json",
        timing="results/local_vi/timings/report/report.json",
    log:
        "logs/local_vi/report.log",
    message:
        "Writing the report of local_vi."
    shell:
        "costtogo report-local-vi --params {input.params} --results results/local_vi --reports reports/local_vi"
        " 2>&1 | tee {log}"


rule local_vi:
    input:
        rules.local_vi_report.output,
    message:
        "Study local_vi is complete: read reports/local_vi/report.md."
