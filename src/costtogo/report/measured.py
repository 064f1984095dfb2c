"""What longer studies have kept in data/measured, as a section of the report."""

from pathlib import Path

from costtogo.files import read_json
from costtogo.params.base import variant_of
from costtogo.report.markdown import short, table

SHOWN = ("searches", "audits")


def measured_text(cards: list[Path]) -> str:
    """A table for each study kept by `costtogo keep`, by their files; nothing where none was kept."""
    kept = {path.stem: read_json(path) for path in cards}
    if not kept:
        return ""
    parts = ["\n## Kept from longer studies\n"]
    for study, stages in kept.items():
        rows = [
            [f"`{place}`", name, short(value), stage["timing"].get("commit", "")[:12] or "–"]
            for place, stage in sorted(stages.items())
            if place.split("/")[0] in SHOWN and not variant_of(place)[1]
            for name, value in sorted(stage["metrics"].items())
        ]
        parts += [f"The study `{study}`, with full provenance in [{study}.json](../../data/measured/{study}.json):\n"]
        parts += [table(["stage", "measure", "value", "commit"], rows)]
    return "\n".join(parts)
