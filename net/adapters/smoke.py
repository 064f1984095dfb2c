"""Run smoke studies of every kind in a checkout: smoke.py CORES, in its root. They leave results/ and reports/.

The files of configs/ override those of the same names in the checkout, which makes its studies tiny.
"""

import subprocess
import sys
from pathlib import Path

import yaml

from costtogo.params.loading import overlay
from costtogo.params.reading import read_yaml

OVERLAYS = Path(__file__).with_name("configs.yaml")
CONFIG = Path("config")
TARGETS = ("all", "puzzle8", "cube3-smoke", "puzzle15-smoke", "lights_out_7", "local_vi")
DEFAULT = CONFIG / "smoke.yaml"  # the study of the target all


def make_tiny() -> None:
    """Override the checkout's files with the tiny configurations."""
    for name, tiny in read_yaml(OVERLAYS).items():
        target = CONFIG / name
        target.write_text(yaml.safe_dump(overlay(read_yaml(target), tiny), sort_keys=False))


def main(cores: str) -> int:
    """Run Snakemake; its exit code."""
    make_tiny()
    command = ["snakemake", "--cores", cores, *TARGETS, "--configfile", str(DEFAULT)]
    return subprocess.run(command).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
