"""Prepare the store for MLflow's UI and print the addresses to open: python -m costtogo.tracking."""

import sys
from pathlib import Path

from costtogo.tracking import ui_lines
from costtogo.types import UserError

try:
    print(*ui_lines(Path.cwd()), sep="\n", flush=True)
except UserError as error:
    sys.exit(str(error))
