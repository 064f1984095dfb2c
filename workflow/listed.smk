# A study of puzzles whose states can be listed, from tables to report: the Snakefile's own, or a module with its parameters.


include: "rules/common.smk"
include: "rules/tables.smk"
include: "rules/instances.smk"
include: "rules/models.smk"
include: "rules/audits.smk"
include: "rules/searches.smk"
include: "rules/report.smk"
