"""Damaged files of each kind that users supply: networks, puzzles, levels, pickles, and outputs of stages."""

import json
import pickle
import random
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import numpy as np
import pandas as pd
import torch

from costtogo import files
from costtogo.params.reading import read_yaml
from costtogo.solving import model_cards
from costtogo.types import UserError
from tools import import_deepcubea
from torture.calls import Told, call, check_solution, is_sentence
from torture.parameters import spoilt
from torture.shell import folder
from torture.trials import Damage, Kind, Trial

NETWORK = "hanoi_7"
SCRAMBLE = ("--scramble", "0>2 0>1 2>1")
GAP = "# two cells\nM_A:=(1,2,3)(4,5);\nM_B:=(3,4);\nip:=[[1,2],[5]];\n"
READERS: dict[str, Callable] = {
    "values.parquet": files.read_frame,
    "values.npz": files.read_arrays,
    "values.safetensors": files.read_tensors,
    "values.json": files.read_json,
    "values.csv": files.read_csv,
    "values.yaml": read_yaml,
}
COMMANDS: dict[str, tuple[str, ...]] = {  # each reads the file in its key, and succeeds while that file is whole
    "networks/hanoi_7.safetensors": ("solve", "--json", "--solver", "bwas", "--puzzle", NETWORK, *SCRAMBLE),
    "networks/hanoi_7.json": ("solve", "--json", "--solver", "bwas", "--puzzle", NETWORK, *SCRAMBLE),
    "model.safetensors": ("solve", "--json", "--model", "model.safetensors", *SCRAMBLE),
    "data/puzzles/pyraminx.json": (
        "solve", "--json", "--puzzle", "data/puzzles/pyraminx.json", "--solver", "exact", "--scramble", "U",
        "--seconds", "1",
    ),
    "level.txt": (
        "solve", "--json", "--puzzle", "sokoban", "--level", "level.txt", "--solver", "exact", "--seconds", "1",
    ),
    "boards.pkl": ("boards.pkl", "--out", "made.csv"),
    "made_up.gap": ("import-puzzle", "made_up.gap", "--out", "made.json"),
}  # fmt: skip
TOOLS = {"boards.pkl": import_deepcubea.main}  # readers of files that costtogo does not read


def write_all() -> None:
    """Write a whole file of each kind into the working folder."""
    numbers = pd.DataFrame({"text": ["a", "b"] * 50, "number": range(100)})
    files.write_frame("values.parquet", numbers)
    files.write_arrays("values.npz", numbers=np.arange(100), flags=np.ones(9, dtype=bool))
    files.write_tensors("values.safetensors", {"weights": torch.arange(100.0)}, {"puzzle": "hanoi_4"})
    files.write_json("values.json", {"name": "λ", "numbers": list(range(50))})
    files.write_csv("values.csv", numbers)
    Path("values.yaml").write_text("name: {first: [1, 2, 3], second: 'λ'}\n", encoding="utf-8")
    shutil.copy(f"networks/{NETWORK}.safetensors", "model.safetensors")
    Path("made_up.gap").write_text(GAP, encoding="utf-8")
    Path("boards.pkl").write_bytes(pickled_boards())


def pickled_boards() -> bytes:
    """A test set of two boards, pickled like DeepCubeA's classes."""
    module = ModuleType("environments.n_puzzle")
    module.NPuzzleState = type("NPuzzleState", (), {"__module__": module.__name__})
    states = [module.NPuzzleState(), module.NPuzzleState()]
    for state, tiles in zip(states, ([*range(1, 16), 0], [*range(1, 15), 0, 15]), strict=True):
        state.tiles = np.array(tiles, dtype=np.uint8)
    with patch.dict(sys.modules, {"environments": ModuleType("environments"), module.__name__: module}):
        return pickle.dumps({"states": states, "solutions": [[], ["L"]]})


@contextmanager
def ready(work: Path) -> Iterator[Trial]:
    """Whole files; each trial damages one."""

    def trial(generator: random.Random, number: int) -> None:
        name = generator.choice([*READERS, *COMMANDS])
        path = Path(name)
        whole = path.read_bytes()
        done, content = spoilt(generator, whole)
        path.write_bytes(content)
        try:
            if name in READERS:
                read(READERS[name], path)
            else:
                use(name, content == whole)
        except Damage as damage:
            raise Damage(f"{name}, {done}: {damage}") from damage
        finally:
            path.write_bytes(whole)
            for made in ("made.csv", "made.json"):
                Path(made).unlink(missing_ok=True)

    shutil.copytree(model_cards.packaged_folder(), work / "networks")
    with folder(work), patch.object(model_cards, "packaged_folder", lambda: Path("networks")):
        write_all()
        yield trial


def read(reader: Callable, path: Path) -> None:
    """Damage if a reader raises anything but one sentence."""
    try:
        reader(path)
    except UserError as error:
        if not is_sentence(str(error)):
            raise Damage(f"refused with {str(error)!r}") from error


def run(name: str) -> Told:
    """Run the command for a file."""
    return call(*COMMANDS[name], command=TOOLS.get(name))


def use(name: str, whole: bool) -> None:
    """Damage if a command makes nonsense of a damaged file."""
    told = run(name)
    if told.code == 0 and name == f"networks/{NETWORK}.safetensors" and not whole:
        raise Damage("a network that is not the one that was measured was searched with")
    if told.code == 0 and "--json" in COMMANDS[name]:
        check_solution(told.out)
    elif told.code == 0 and Path("made.json").exists():
        json.loads(Path("made.json").read_text(encoding="utf-8"))
    elif told.code != 0 and (Path("made.csv").exists() or Path("made.json").exists()):
        raise Damage("refused, and a file written")


KIND = Kind("files", "Files of each kind cut off, emptied, with bits turned or bytes put in, read alone", 1000, ready)
