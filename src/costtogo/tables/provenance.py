"""The files that a report rests on with their digests, and the stages that were taken over from other code."""

from typing import Any

import pandas as pd

from costtogo.tables.results import StudyResults

ADOPTED = 12  # characters of a commit between which a stage was taken over


def provenance(results: StudyResults) -> pd.DataFrame:
    """stage, name, path, sha256 of every file that the cards list; adopted, where any stage was taken over."""
    cards = list(results.cards.values())
    rows = [
        {"stage": card["stage"], "name": card["name"], "path": path, "sha256": digest, "adopted": adoptions(card)}
        for card in cards
        for path, digest in sorted(card["outputs"].items())
    ]
    frame = pd.DataFrame(rows, columns=["stage", "name", "path", "sha256", "adopted"])
    return frame if any(map(adoptions, cards)) else frame.drop(columns="adopted")


def adoptions(card: dict[str, Any]) -> str:
    """The commits between which a stage was taken over without a run, empty where it was not."""
    steps = card.get("adopted", [])
    return " ".join(f"{step['before'][:ADOPTED]}..{step['after'][:ADOPTED]}" for step in steps)
