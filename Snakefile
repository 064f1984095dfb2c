"""The workflow of costtogo: tables, instances, models, audits, searches, figures, report."""


configfile: "params.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/instances.smk"
include: "workflow/rules/models.smk"
include: "workflow/rules/audits.smk"
include: "workflow/rules/searches.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/large.smk"


rule all:
    default_target: True
    input:
        ALL,
    message:
        "Study {STUDY.study} is complete: read {REPORTS}/report.md."
