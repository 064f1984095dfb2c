"""The networks that come with costtogo, and the measurements of each; tools/pack.py puts them there."""

from typing import Any

from costtogo.files import read_json
from costtogo.heuristics.network import load
from costtogo.solving.measuring import SECONDS, measure
from costtogo.solving.model_cards import packaged
from costtogo.types import UserError, excerpt


def show(name: str | None, measured: bool) -> None:
    """Print the packaged networks, one or all; with measured, measure them again and print that too."""
    cards = [card for card in packaged() if name in (None, card.name)]
    if not cards:
        there = ", ".join(card.name for card in packaged()) or "none at all"
        raise UserError(f"No network of {excerpt(name or 'any puzzle')} comes with costtogo; there are {there}.")
    for card in cards:
        whole = read_json(card.path.with_suffix(".json"))
        trained = whole["training"]
        on = "a GPU" if trained.get("device") == "cuda" else trained["processor"]
        seen = f" on {trained['states_seen']:,} states" if "states_seen" in trained else ""
        time = f"{trained['seconds'] / 60:.0f} minutes of {on}"
        print(f"{card.name}: {whole['weights']:,} weights of 16 bits, trained{seen} in {time}")
        print(f"  model {whole['model']} of the study {whole['study']}, at commit {trained['commit'][:7]}")
        _tell("the card", whole["numbers"])
        _tell("with 32 bits, as trained", whole["as_trained"])
        if measured:
            _tell("measured now", measure(load(card.path)))


def _tell(title: str, numbers: dict[str, Any]) -> None:
    """Print in words the numbers that `measure` returned, or that a card holds."""
    of = f"{numbers['instances']} searches by {numbers['solver']}"
    limit = f", of at most {SECONDS:g} s where its time is its limit"
    optimal = "" if numbers["optimal_percent"] is None else f", {numbers['optimal_percent']:g} % by a shortest solution"
    length = "" if numbers["length"] is None else f", {numbers['length']:g} moves on average"
    print(f"  {title}: {of}{limit}")
    print(
        f"    solved {numbers['solved_percent']:g} %{optimal}{length}, {numbers['nodes_expanded']:,.0f} nodes expanded"
    )
    print(
        f"    values of {numbers['states']:,} states: {numbers['mean_absolute_error']:.2g} moves from the exact "
        f"distance on average, {numbers['overestimated_percent']:.3g} % of them above it"
    )
