# Figures and report of the study.


rule draw_figures:
    input:
        CARDS,
        kept=sorted({path for entry in ENTRIES for path in entry.kept}),
        params=f"{RESULTS}/params/report/report.json",
        code=code("figures"),
    output:
        [
            report(
                f"{REPORTS}/{entry.stem}.{kind}",
                caption=f"../captions/{entry.kind}.rst",
                category=entry.puzzle,
                subcategory=entry.model or "all models",
                labels={"figure": entry.label, "format": kind},
            )
            for entry in ENTRIES
            for kind in ("png", "svg")
        ],
    log:
        f"{LOGS}/figures.log",
    message:
        "Drawing the figures."
    shell:
        "costtogo figures --params {input.params} --results {RESULTS} --reports {REPORTS} 2>&1 | tee {log}"


rule write_report:
    input:
        CARDS,
        FIGURES,
        params=f"{RESULTS}/params/report/report.json",
        literature=sorted(str(path) for path in Path("data/reported").glob("**/*.csv")),
        measured=sorted(str(path) for path in Path("data/measured").glob("**/*.[cj]s*")),
        captions=sorted({f"workflow/captions/{entry.kind}.rst" for entry in ENTRIES}),
        code=code("report"),
    output:
        [f"{REPORTS}/{name}" for name in DOCUMENTS],
        card=f"{RESULTS}/report/report.json",
        timing=f"{RESULTS}/timings/report/report.json",
    log:
        f"{LOGS}/report.log",
    message:
        "Writing the report."
    shell:
        "costtogo report --params {input.params} --results {RESULTS} --reports {REPORTS} 2>&1 | tee {log}"


rule figures:
    input:
        FINDINGS,
        FIGURES,
    message:
        "The figures are complete."


rule report:
    input:
        ALL,
    message:
        "The report is complete: {REPORTS}/report.md."
