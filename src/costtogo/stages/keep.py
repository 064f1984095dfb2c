"""Keep what a long study measured: data/measured/<study>.json, metrics with their provenance, in git."""

from pathlib import Path

from costtogo.files import read_json, write_json
from costtogo.types import UserError

KEPT = ("stage", "parameters", "inputs", "outputs", "code", "versions", "metrics")


def run(results: Path, out: Path) -> Path:
    """Copy every card and timing of a study into one file named after it; stages kept before and gone since stay."""
    cards = sorted(card for card in results.glob("*/*.json") if card.parent.name not in ("timings", "params", "resume"))
    if not cards:
        raise UserError(f"{results} holds no finished stage to keep; run the study first.")
    target = out / f"{results.name}.json"
    kept = read_json(target) if target.exists() else {}
    kept |= {f"{path.parent.name}/{path.stem}": _kept(path) for path in cards}
    write_json(target, kept)
    print(f"{len(cards)} stages of {results.name} kept in {target}")
    return target


def _kept(path: Path) -> dict:
    card = read_json(path)
    timing = path.parents[1] / "timings" / path.parent.name / path.name
    return {name: card[name] for name in KEPT if name in card} | {
        "timing": read_json(timing) if timing.exists() else {}
    }
