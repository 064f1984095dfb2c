"""Make the store ready before another program opens it: python -m costtogo.tracking."""

import sys
from pathlib import Path

from costtogo.tracking import prepare_store
from costtogo.types import UserError

try:
    prepare_store(Path.cwd())
except UserError as error:
    sys.exit(str(error))
