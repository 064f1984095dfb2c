"""Descriptions of runs, registered models and experiments: what it is, its numbers, where its files and its report are.

MLflow's pages show them as Markdown, and links in them by the part of the address after #.
"""

from typing import Any

from costtogo.cards import SHOWN
from costtogo.puzzles import title
from costtogo.tracking import addresses, record
from costtogo.tracking.place import is_server, shown, store_uri
from costtogo.tracking.record import Card, Stage
from costtogo.tracking.views import View

NOTE = "mlflow.note.content"  # MLflow's tag of a description
STAGES = {
    "table": "All states of {title} and their exact distances, by breadth-first search.",
    "instances": "Sets of instances of {title}.",
    "train": "Training of the network `{name}` for {title}: the curves are under *Model metrics*.",
    "audit": "Audit of the network `{name}` on every state of {title}: does it overestimate, is it consistent, how far "
    "is it off? `last_all_…`: over all states, at each checkpoint up to the last; `last_sample_…`: over random walks.",
    "audit_samples": "Audit of the network `{name}` on sampled states of {title}.",
    "search": "Batch weighted A* on {title} over path weights λ and batch sizes N.",
    "grid": "Batch weighted A* on {title} over path weights λ and batch sizes N.",
    "report": "The report of the study: its text, its figures and tables are under *Artifacts*.",
}


def run_note(card: Card) -> str:
    """The description of the run of a stage; the pages show its first lines, and the numbers of the run below it."""
    load = f" It is registered as `{model_name(card)}`, whose page says how to load it."
    return "\n\n".join([_first(card) + (load if card["group"] == "models" else ""), _files(card)])


def _first(card: Card) -> str:
    words = STAGES.get(card["stage"], f"{card['stage'].replace('_', ' ').capitalize()} of {{title}}: `{{name}}`.")
    puzzle = card["parameters"].get("puzzle")
    return words.format(name=card["name"], title=f"the {title(puzzle)}" if puzzle else "the puzzle")


def _files(card: Card) -> str:
    """Where the files are, and what a report calls the run."""
    study, key = card["study"], record.run_key(card)[:SHOWN]
    return (
        f"Files: `results/{study}/{card['group']}/{card['name']}*`. The report `reports/{study}/report.md` names this "
        f"run `{key}`; `costtogo track --open {key}` prints the address of this page."
    )


def model_name(card: Card) -> str:
    """What the network of a training is registered as."""
    return f"{card['study']}.{card['name']}"


def model_note(training: Stage, search: Stage | None) -> str:
    """The description of a registered network: what it estimates, how good it is, how to load it."""
    card, study, name = training.card, training.card["study"], training.card["name"]
    puzzle, points = card["parameters"]["puzzle"], record.points(search or training)
    last = {key: value for (key, _), value in sorted(points.items())}  # of a curve the last point
    rows = [[key.replace("_", " "), _short(value)] for key, value in last.items() if key in HEADLINE]
    parts = [
        f"Estimates the moves from a state of the {title(puzzle)} to its goal. Trained by the study `{study}`, whose "
        f"report is `reports/{study}/report.md`.",
        _table(["number", "value"], rows),
        "The alias `best` is the checkpoint that the searches use. To load it, in the project's folder:",
        example(model_name(card), puzzle, store_uri(training.root)),
        PREDICTS,
        f"Without MLflow: `costtogo solve --puzzle {puzzle} --model results/{study}/models/{name} …`.",
    ]
    return "\n\n".join(filter(None, parts))


PREDICTS = (
    "`predict` takes states `[N, D]`, a row for each state and a whole number for each cell, as an array or a data "
    "frame, and returns the moves to the goal, float32 `[N]`. The classes of `costtogo.puzzles` say what they mean."
)
HEADLINE = (
    *("optimal_percent", "nodes_expanded", "length", "selected_mean_absolute_error", "selected_admissible_percent"),
    *("loss", "last_mean_absolute_error", "iterations"),
)


def example(name: str, puzzle: str, store: str) -> str:
    """Five lines that load a network and ask it; store: the address of the store that has it."""
    address = shown(store) if is_server(store) else "sqlite:///mlflow.db"
    return f"""```python
import mlflow
from costtogo.puzzles import make
mlflow.set_tracking_uri("{address}")
network = mlflow.pyfunc.load_model("models:/{name}@best")
print(network.predict(make("{puzzle}").goal[None]))
```"""


def version_note(iteration: int | str, selected: bool) -> str:
    """The description of one version of a registered network."""
    why = "the one that the searches use, chosen on instances of their own" if selected else "the last of the training"
    return f"The checkpoint of iteration {int(iteration):,}: {why}. The page of the model says how to load it."


def study_note(study: str, experiment: str, views: list[View]) -> str:
    """The description of an experiment."""
    pictures = ", ".join(_link(view.name, addresses.view(experiment, view.key)) for view in views)
    registry = _link("Its networks in the registry", addresses.page("models", searchInput=f"{study}."))
    return (
        f"The study `{study}`. Its report is `reports/{study}/report.md`; `costtogo track --open KEY` prints the "
        f"address of a run that the report names.\n\nPictures, also under the button at the top right: {pictures}.\n\n"
        f"{registry}: each says how to load it."
    )


def _link(text: str, address: str) -> str:
    return f"[{text}]({address.removeprefix('/')})"


def _short(value: Any) -> str:
    return "–" if value is None else f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) if rows else ""
