"""Make the store ready before MLflow's pages are opened, and say what to open: python -m costtogo.tracking [study]."""

import sys
from pathlib import Path

from costtogo.tracking import links, prepare_store
from costtogo.types import UserError

try:
    prepare_store(Path.cwd())
    print(*links(Path.cwd(), *sys.argv[1:2]), sep="\n", flush=True)
except UserError as error:
    sys.exit(str(error))
