"""Write every stage's slice of the parameters of every study: slices.py FOLDER, in the root of a checkout.

A slice is FOLDER/<study>/<slice>.json, with the bytes that the workflow writes; a study has the name of its file.
"""

import sys
from pathlib import Path

from costtogo.files import write_json
from costtogo.params.loading import BASE, DEFAULT, load
from costtogo.params.slices import slices
from costtogo.workflow.graph import GROUPS


def main(folder: Path) -> None:
    """Write the slices of all studies."""
    for path in [Path(BASE), *sorted(Path("config").glob("*.yaml"))]:
        if path.name != GROUPS.name:
            for place, parameters in slices(load([path])).items():
                write_json(folder / (DEFAULT if path.name == BASE else path.stem) / f"{place}.json", parameters)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
