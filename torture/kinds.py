"""All kinds of trials, the cheap ones first."""

from torture import files, page, parameters, shell

KINDS = (parameters.KIND, shell.WORDS, shell.INSTANCES, page.KIND, files.KIND)
