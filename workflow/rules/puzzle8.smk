# The 8-puzzle's study, config/puzzle8.yaml over params.yaml, as a target beside the study that is run.

from costtogo.params import overlay, read_yaml

if STUDY.study == "puzzle8":
    PUZZLE8 = ALL
else:
    try:
        PUZZLE8_VALUES = overlay(
            *(
                read_yaml(Path(workflow.basedir) / name)
                for name in ("params.yaml", "config/puzzle8.yaml")
            )
        )
    except UserError as error:
        raise WorkflowError(str(error))

    module puzzle8:
        snakefile:
            "listed.smk"
        config:
            PUZZLE8_VALUES

    use rule * from puzzle8 as puzzle8_*

    PUZZLE8 = puzzle8.ALL


rule:
    name:
        "puzzle8"
    input:
        PUZZLE8,
    message:
        "Study puzzle8 is complete: read reports/puzzle8/report.md."
