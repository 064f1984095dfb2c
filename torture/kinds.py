"""All kinds of trials, the cheap ones first."""

from torture import damage, disks, files, kills, memory, page, parameters, places, servers, shell, stores

KINDS = (
    parameters.KIND,
    shell.WORDS,
    shell.INSTANCES,
    page.KIND,
    files.KIND,
    damage.KIND,
    stores.KIND,
    servers.KIND,
    places.KIND,
    memory.KIND,
    disks.KIND,
    kills.STAGES,
    kills.STUDIES,
)
