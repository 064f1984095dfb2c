"""Networks that come with the package: what packing writes, refuses and measures."""

import json
import os
import sys

import numpy as np
import pandas as pd
import pytest
import torch
from messages import is_one_sentence

from costtogo import cli, solving
from costtogo.exact.bfs import distances
from costtogo.exact.graph import graph_of
from costtogo.files import digest, read_json, read_tensors, write_frame, write_json
from costtogo.heuristics import network as networks
from costtogo.heuristics.table import tabulate
from costtogo.params.training import architecture_of
from costtogo.puzzles import make
from costtogo.solving import measuring, model_cards
from costtogo.types import UserError
from tools import pack

CLEAN = "a" * 40
RECIPE = {"trainer": "davi", "iterations": 7}
TIMING = {"commit": CLEAN, "device": "cuda", "processor": "some processor", "seconds": 3.5}


@pytest.fixture
def study(tmp_path, monkeypatch):
    """The folder of a model of a study that ran at a clean commit, and an empty folder of packaged networks.

    The working folder is empty: a network of a study there would go before a packaged one.
    """
    puzzle, model = make("hanoi_4"), tmp_path / "results" / "tiny" / "models" / "towers"
    network = networks.build(architecture_of(first_layers=[8], residual_blocks=1), puzzle, seed=0)
    description = {"puzzle": puzzle.name, "precision": "float32", "iteration": 7}
    networks.save(model / "7.safetensors", network, description)
    write_frame(model / "checkpoints.parquet", pd.DataFrame({"iteration": [7], "file": ["7.safetensors"]}))
    parameters = {"training": RECIPE, "starts_from": "smaller"}
    write_json(model.with_suffix(".json"), {"metrics": {"states_seen": 7000.0}, "parameters": parameters})
    write_json(model.parents[1] / "timings" / "models" / "towers.json", TIMING)
    for name in ("networks", "elsewhere"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setattr(model_cards, "packaged_folder", lambda: tmp_path / "networks")
    monkeypatch.setattr(pack, "packaged_folder", lambda: tmp_path / "networks")
    monkeypatch.setattr(pack, "commit", lambda: CLEAN)
    monkeypatch.setattr(measuring, "INSTANCES", 4)
    return model


def test_the_packaged_file_has_16_bits_and_its_card_what_that_file_does(study):
    path = pack.run(study)
    card = read_json(path.with_suffix(".json"))
    tensors, description = read_tensors(path)
    assert {tensor.dtype for tensor in tensors.values() if tensor.is_floating_point()} == {torch.float16}
    assert description["puzzle"] == "hanoi_4" and card["sha256"] == digest(path)
    assert card["bytes"] == path.stat().st_size
    assert card["training"] == TIMING | {"states_seen": 7000, "starts_from": "smaller"}
    assert card["recipe"] == RECIPE
    puzzle = make("hanoi_4")
    distance = distances(graph_of(puzzle), int(puzzle.rank(puzzle.goal[None])[0]))
    for numbers, checkpoint in ((card["numbers"], path), (card["as_trained"], study / "7.safetensors")):
        values = tabulate(puzzle, networks.load(checkpoint)).values
        (reached,) = numbers["reached"]
        assert numbers["states"] == 81 and reached["solved_percent"] == 100 and reached["optimal_percent"] is not None
        assert reached["instances"] == 4 and reached["seconds"] is None
        assert numbers["mean_absolute_error"] == pytest.approx(np.abs(values - distance).mean(), rel=1e-3)
        over = 100 * (values > distance + measuring.EDGE).mean()
        assert numbers["overestimated_percent"] == pytest.approx(over, rel=1e-3)
    assert solving.load("hanoi_4").card.numbers == card["numbers"]


@pytest.mark.parametrize("where", ["training", "here"])
def test_no_network_is_packed_from_changed_files(study, monkeypatch, where):
    if where == "training":
        write_json(study.parents[1] / "timings" / "models" / "towers.json", {"commit": CLEAN + "+"})
    else:
        monkeypatch.setattr(pack, "commit", lambda: CLEAN + "+")
    with pytest.raises(UserError, match="commit them first") as told:
        pack.run(study)
    assert is_one_sentence(str(told.value)) and not list(model_cards.packaged_folder().iterdir())


@pytest.mark.parametrize(("lack", "told"), [("room", "too large for the package"), ("solutions", "no search by bwas")])
def test_a_network_too_large_or_that_solves_nothing_leaves_the_package_as_it_was(study, monkeypatch, lack, told):
    before = pack.run(study)
    kept = {path: path.read_bytes() for path in (before, before.with_suffix(".json"))}
    networks.save(study / "7.safetensors", networks.build(architecture_of(first_layers=[8]), make("hanoi_4"), seed=1),
                  {"puzzle": "hanoi_4", "precision": "float32", "iteration": 7})  # fmt: skip
    if lack == "room":
        monkeypatch.setattr(pack, "MOST_BYTES", 100)
    else:
        nothing = {"reached": [{"solved_percent": 0.0}], "solver": "bwas"}
        monkeypatch.setattr(pack, "measure", lambda network, *budgets: nothing)
    with pytest.raises(UserError, match=told) as error:
        pack.run(study)
    assert is_one_sentence(str(error.value))
    assert {path: path.read_bytes() for path in model_cards.packaged_folder().iterdir()} == kept


def test_a_weight_beyond_16_bits_is_refused_and_a_whole_number_kept():
    assert pack.halved(torch.tensor([3])).dtype == torch.int64
    with pytest.raises(UserError, match="too large for 16 bits"):
        pack.halved(torch.tensor([1e6]))


def test_networks_lists_cards_and_measures_again(study, capsys):
    pack.run(study)
    capsys.readouterr()
    cli.app(["networks", "hanoi_4", "--measure"], standalone_mode=False)
    first, second, *lines = capsys.readouterr().out.splitlines()
    assert first == "hanoi_4: 305 weights of 16 bits, trained on 7,000 states after smaller, in 0 minutes of a GPU"
    assert second == f"  model towers of the study tiny, at commit {CLEAN[:7]}"
    told = {lines[k].strip(): lines[k + 1 : k + 3] for k in range(0, 9, 3)}
    on_card = f"the card, on {os.cpu_count()} cores of {pack.processor()}:"
    assert told[on_card] == told["measured now:"] and "100 % solved" in told["with 32 bits, as trained:"][1]
    assert "values of 81 states" in told[on_card][0]
    with pytest.raises(UserError, match="No network of cube2 comes with costtogo") as refused:
        cli.app(["networks", "cube2"], standalone_mode=False)
    assert is_one_sentence(str(refused.value))


def test_a_packed_network_is_measured_again(study, monkeypatch):
    path = pack.run(study)
    before, content = read_json(path.with_suffix(".json")), path.read_bytes()
    other = "f" * 40
    monkeypatch.setattr(measuring, "INSTANCES", 3)
    monkeypatch.setattr(pack, "commit", lambda: other)
    after = read_json(pack.measured_again("hanoi_4"))
    assert after["measured_at"] == other and after["numbers"]["reached"][0]["instances"] == 3
    assert {key: before[key] for key in before.keys() - {"measured_at", "numbers"}}.items() <= after.items()
    assert path.read_bytes() == content
    with pytest.raises(UserError, match="No network cube2 is packed; there are hanoi_4.") as refused:
        pack.measured_again("cube2")
    assert is_one_sentence(str(refused.value))
    monkeypatch.setattr(pack, "commit", lambda: other + "+")
    with pytest.raises(UserError, match="commit them first"):
        pack.measured_again("hanoi_4")


@pytest.mark.parametrize("name", ["lights_out_5", "puzzle15", "sokoban"])
def test_samples_of_puzzles_too_large_to_list_have_their_exact_distances(monkeypatch, name):
    monkeypatch.setattr(measuring, "LEVELS", 2)
    monkeypatch.setattr(measuring, "OF_EACH", 50)
    monkeypatch.setattr(measuring, "BOARDS", 100)
    puzzle = make(name)
    states, distance = measuring.sample(puzzle)
    assert len(states) == len(distance) > 50 and distance.min() >= 0 and np.isfinite(distance).all()
    zero = puzzle.is_goal(states)
    assert (distance[zero] == 0).all() and (distance[~zero] > 0).all()
    for one in states[distance == 1][:1]:
        assert puzzle.is_goal(puzzle.expand(one[None])[0][0]).any()


def test_what_is_packaged_is_what_its_cards_say():
    """Every network of the package: its bytes, its size, and all together small."""
    total = 0
    for card in model_cards.packaged():
        whole = json.loads(card.path.with_suffix(".json").read_text(encoding="utf-8"))
        assert whole["sha256"] == digest(card.path) and whole["puzzle"] == card.puzzle == card.name
        assert not whole["training"]["commit"].endswith("+") and not whole["measured_at"].endswith("+")
        total += card.path.stat().st_size
    assert total <= 24_000_000


def test_packing_is_a_command_that_tells_a_mistake_in_one_sentence(study, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["pack", str(study)])
    with pytest.raises(SystemExit) as left:
        cli.main(pack.app)
    assert not left.value.code and "hanoi_4.safetensors is written, with its card." in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["pack", "x"])
    with pytest.raises(SystemExit) as left:
        cli.main(pack.app)
    told = "costtogo: x is no trained model: name a folder results/<study>/models/<model>.\n"
    assert left.value.code == 1 and capsys.readouterr().err == told
