# Figures and report of the study.


rule draw_figures:
    message:
        "Drawing the figures."
    input:
        FINDINGS,
        params=f"{RESULTS}/params/report/report.json",
        code=code("figures"),
    output:
        [
            report(
                f"{REPORTS}/figures/{entry.name}.{kind}",
                caption=f"../captions/{entry.kind}.rst",
                category=entry.puzzle,
                subcategory=entry.model or "all models",
                labels={"figure": entry.label, "format": kind},
            )
            for entry in catalogue(STUDY)
            for kind in ("png", "svg")
        ],
    log:
        f"{LOGS}/figures.log",
    shell:
        "costtogo figures --params {input.params} --results {RESULTS} --reports {REPORTS} 2>&1 | tee {log}"


rule write_report:
    message:
        "Writing the report."
    input:
        FINDINGS,
        FIGURES,
        params=f"{RESULTS}/params/report/report.json",
        literature="data/reported/thesis.csv",
        code=code("report"),
    output:
        [f"{REPORTS}/{name}" for name in DOCUMENTS],
        card=f"{RESULTS}/report/report.json",
        timing=f"{RESULTS}/timings/report/report.json",
    log:
        f"{LOGS}/report.log",
    shell:
        "costtogo report --params {input.params} --results {RESULTS} --reports {REPORTS} 2>&1 | tee {log}"


rule figures:
    message:
        "The figures are complete."
    input:
        FINDINGS,
        FIGURES,


rule report:
    message:
        "The report is complete: {REPORTS}/report.md."
    input:
        ALL,
