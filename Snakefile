"""The workflow of costtogo: tables, instances, models, audits, searches, figures, report."""


configfile: "params.yaml"


include: "workflow/rules/listed.smk"
include: "workflow/rules/puzzle8.smk"
include: "workflow/rules/large.smk"
include: "workflow/rules/local_vi.smk"


onsuccess:
    log_waiting(Path.cwd())


onerror:
    log_waiting(Path.cwd())


rule all:
    default_target: True
    input:
        ALL,
    message:
        "Study {STUDY.study} is complete: read {REPORTS}/report.md."
