"""The workflow of costtogo: tables, instances, models, audits, searches, figures, report."""


include: "workflow/rules/stages.smk"


# With --software-deployment-method apptainer each job runs in this image: docs/container.md says how it is made.
container: "costtogo.sif"


onstart:
    GRAPH.begin()
    if workflow.local_exec:  # elsewhere, machines may have what this one has not
        refuse_absent_devices()
    begin_run(Path.cwd())


onsuccess:
    log_waiting(Path.cwd())


onerror:
    log_waiting(Path.cwd())


rule all:
    default_target: True
    input:
        GRAPH.marks_of(GRAPH.study.study),
    message:
        f"Study {GRAPH.study.study} is complete: read reports/{GRAPH.study.study}/report.md."
