"""Make the store ready before another program opens it: python -m costtogo.tracking."""

import sys
from pathlib import Path

from costtogo.tracking import TrackingError, prepare_store

try:
    prepare_store(Path.cwd())
except TrackingError as error:
    sys.exit(str(error))
