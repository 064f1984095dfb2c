"""Networks for other programs: what costtogo writes is what its own searches evaluate."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from messages import is_one_sentence

from costtogo.commands import export
from costtogo.heuristics import network as networks
from costtogo.params.training import architecture_of
from costtogo.puzzles import make
from costtogo.solving.measuring import starts
from costtogo.solving.model_cards import packaged
from costtogo.types import UserError

NAMES = [card.name for card in packaged()]
TOLERANCE = 1e-3  # moves; float32 in another order of summation
# Runs the program of each card in the folder of its network, where nothing of this project can be imported.
READ = """
import contextlib, io, json, os, re, sys
sys.modules.update(dict.fromkeys(["costtogo", "safetensors", "numba"]))
for folder in sys.argv[1:]:
    os.chdir(folder)
    (program,) = re.findall(r"```python\\n(.*?)```", open("README.md", encoding="utf-8").read(), re.DOTALL)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(program, {})
    print(json.dumps(json.loads(printed.getvalue())))
"""


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The folders of all packaged networks, exported without ONNX."""
    root = tmp_path_factory.mktemp("exported")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.setattr(export, "find_spec", lambda _: None)
        for name in NAMES:
            export.run(name, root / name)
    return root


def values_of(network, states) -> np.ndarray:
    """What a search evaluates, in float32: the frozen network."""
    return network.frozen(torch.float32)(torch.from_numpy(states)).detach().numpy()


def test_the_program_of_each_card_needs_torch_alone_and_gives_the_values_that_the_card_shows(exported):
    command = [sys.executable, "-I", "-c", READ, *(str(exported / name) for name in NAMES)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for card, line in zip(packaged(), done.stdout.splitlines(), strict=True):
        puzzle, network, _ = networks.load_network(card.path)
        states = starts(puzzle, export.SHOWN)
        np.testing.assert_allclose(json.loads(line), values_of(network, states), atol=TOLERANCE)
        text = (exported / card.name / export.CARD).read_text(encoding="utf-8")
        shown = [json.loads(row) for row in re.findall(r"^    (\[?-?\d.*)$", text, re.MULTILINE)][-2 * export.SHOWN :]
        assert shown[::2] == states.tolist()
        np.testing.assert_allclose(shown[1::2], json.loads(line), atol=TOLERANCE)


def test_the_weights_are_the_checkpoint_and_the_card_says_what_it_is(exported):
    for card in packaged():
        folder = exported / card.name
        text = (folder / export.CARD).read_text(encoding="utf-8")
        assert (folder / export.WEIGHTS).read_bytes() == card.path.read_bytes()
        assert text.startswith("---\nlicense: mit\n") and "% solved" in text
        assert not re.search(r"[^\n]\n#|\n\n\n\n| \n|\{|None", text.split("```python")[0]), text


def test_without_the_packages_of_onnx_the_rest_is_written_and_one_sentence_says_what_is_missing(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(export, "find_spec", lambda _: None)
    (tmp_path / "exported" / "hanoi_7").mkdir(parents=True)
    (tmp_path / "exported" / "hanoi_7" / export.ONNX).write_text("of another network")
    export.run("hanoi_7", None)
    told = capsys.readouterr().err.strip()
    assert "pip install 'costtogo[onnx]'" in told and is_one_sentence(told)
    assert {path.name for path in Path("exported/hanoi_7").iterdir()} == {export.CARD, export.WEIGHTS}
    assert export.ONNX not in Path("exported/hanoi_7", export.CARD).read_text(encoding="utf-8")


def test_a_network_that_is_not_there_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError) as told:
        export.run("hanoi_3", None)
    assert is_one_sentence(str(told.value)) and [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("kind", ["packaged", "automaton", "gru"])
def test_onnx_runtime_gives_the_same_values_for_any_number_of_states(kind):
    onnxruntime = pytest.importorskip("onnxruntime", reason="needs pip install 'costtogo[onnx]'")
    pytest.importorskip("onnxscript", reason="needs pip install 'costtogo[onnx]'")
    if kind == "packaged":
        puzzle, network, _ = networks.load_network(packaged("puzzle8")[0].path)
    else:
        puzzle = make("hanoi_5")
        network = networks.build(architecture_of(kind=kind, states=4), puzzle, seed=1)
    content = export.as_onnx(network, starts(puzzle, export.SHOWN))
    session = onnxruntime.InferenceSession(content)
    states = starts(puzzle, 10_000 if kind == "packaged" else 100)
    for count in (1, 2, len(states)):
        (values,) = session.run(None, {"states": states[:count]})
        np.testing.assert_allclose(values, values_of(network, states[:count]), atol=TOLERANCE)
    assert content == export.as_onnx(network, starts(puzzle, export.SHOWN)) and b".py" not in content
