"""What an earlier run wrote for models that the study no longer has."""

from collections.abc import Container, Iterable
from pathlib import Path


def remove_others(found: Iterable[Path], written: Container[Path]) -> None:
    """Remove the files found that are not among those written."""
    for path in sorted(found):
        if path not in written:
            path.unlink()
