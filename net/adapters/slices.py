"""Write every stage's slice of the parameters of every study: slices.py FOLDER, in the root of a checkout.

A slice is FOLDER/<study>/<slice>.json, in the bytes that the workflow gives it; a study is named as its file.
"""

import sys
from pathlib import Path

from costtogo import params, params_large, params_local_vi
from costtogo.files import write_json

DEFAULT = Path("params.yaml")


def load(path: Path):
    """The study of a file of config/, or of params.yaml."""
    if path == DEFAULT:
        return params.load([path])
    if params_large.is_large(path):
        return params_large.load(path)
    return params_local_vi.load(path) if params_local_vi.is_local_vi(path) else params.load([DEFAULT, path])


def main(folder: Path) -> None:
    """Write the slices of all studies."""
    for path in [DEFAULT, *sorted(Path("config").glob("*.yaml"))]:
        name = "default" if path == DEFAULT else path.stem
        for place, parameters in load(path).slices().items():
            write_json(folder / name / f"{place}.json", parameters)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
