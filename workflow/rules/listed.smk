# A study of puzzles whose states can be listed, from tables to report: the Snakefile's own, or a module with its parameters.


include: "common.smk"
include: "tables.smk"
include: "instances.smk"
include: "models.smk"
include: "audits.smk"
include: "searches.smk"
include: "report.smk"
