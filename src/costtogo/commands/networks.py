"""The networks that come with costtogo, and the measurements of each; tools/pack.py puts them there."""

from costtogo.files import read_json
from costtogo.heuristics.network import load
from costtogo.solving.measuring import in_words, measure
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
        seen += f" after {trained['starts_from']}," if "starts_from" in trained else ""
        time = f"{trained['seconds'] / 60:.0f} minutes of {on}"
        print(f"{card.name}: {whole['weights']:,} weights of 16 bits, trained{seen} in {time}")
        print(f"  model {whole['model']} of the study {whole['study']}, at commit {trained['commit'][:7]}")
        place = f", on {whole['measured_on']}" if "measured_on" in whole else ""
        titled = {f"the card{place}": whole["numbers"], "with 32 bits, as trained": whole["as_trained"]}
        for title, numbers in (titled | ({"measured now": measure(load(card.path))} if measured else {})).items():
            print(f"  {title}:", *in_words(numbers), sep="\n    ")
