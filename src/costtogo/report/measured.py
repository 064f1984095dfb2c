"""What longer studies have kept in data/measured, as a section of the report."""

from costtogo.params import variant_of
from costtogo.report.markdown import short, table
from costtogo.report.results import StudyResults

SHOWN = ("searches", "audits")


def measured_text(kept: list[StudyResults]) -> str:
    """A table for each study kept by `costtogo keep`; nothing where none was kept."""
    if not kept:
        return ""
    parts = ["\n## Kept from longer studies\n"]
    for results in kept:
        rows = [
            [f"`{place}`", measure, short(value), stage["timing"].get("commit", "")[:12] or "–"]
            for place, stage in sorted(results.cards.items())
            if place.split("/")[0] in SHOWN and not variant_of(place)[1]
            for measure, value in sorted(stage["metrics"].items())
        ]
        name = results.study
        parts += [f"The study `{name}`, with full provenance in [{name}.json](../../data/measured/{name}.json):\n"]
        parts += [table(["stage", "measure", "value", "commit"], rows)]
    return "\n".join(parts)
