"""The templates of the reports: what becomes of wrapped lines, and that no number or name of ours is typed in."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError
from jinja2.nodes import TemplateData

from costtogo.params.reading import read_yaml
from costtogo.params.trainers import training_of
from costtogo.report.render import environment, joined
from costtogo.workflow.graph import names_of

ROOT = Path(__file__).parents[1]
TEMPLATES = sorted(environment().list_templates())
NUMBERS = (  # of documents and of their machines, in names of methods, bounds of a definition
    r"(Tardón Rubio|Hanan|Korf|thesis,|thesis|report,|Theorems?|Algorithm|figure|tables?) \(?\d[\d.]*( (to|and) \d)?",
    r"appendix \d[\d.]*",
    r"i7-\d+U?|MX150|P100|GF\(2\)|SHA-256|95 %",
    r"1, 2, …|fall to 0|cut at 0|without 0|λ = 1 and N = 1|below 1 move",
)


def said(template: str) -> str:
    """The text of a template without what is filled in."""
    source = environment().loader.get_source(environment(), template)[0]
    tree = environment().parse(source)
    return " ".join("".join(node.data for node in tree.find_all(TemplateData)).split())


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_compiles_and_no_number_of_ours_is_typed_in(template):
    environment().get_template(template)
    left = re.sub("|".join(NUMBERS), "", said(template))
    assert not re.findall(r".{,20}\d.{,20}", left)


def test_no_template_names_a_study_or_a_model():
    files = [ROOT / "params.yaml", *(ROOT / "config" / f"{name}.yaml" for name in names_of(ROOT / "config"))]
    studies = [read_yaml(path) for path in files]
    names = {name for study in studies for name in (study["study"], *(study.get("models") or {}))}
    names -= {"default", "only", "pieces", "presses", "rows", "thesis", "tiles", "walks"}  # words of a sentence, too
    names -= {"autodidactic", "levels", "targets"}
    assert len(names) > 20
    words = {word for template in TEMPLATES for word in re.findall(r"[\w-]+", said(template))}
    assert names & words == set()


def test_a_report_says_whether_targets_look_two_moves_ahead_and_what_was_imitated():
    sampler = {"kind": "deepcubea", "walk_max": 5}
    base = {"puzzle": "cube2", "seed": 1, "precision": "float32", "architecture": {"first_layers": [8]}}
    base |= {"sampler": sampler, "iterations": 1, "states_per_iteration": 1, "validation_states": 1, "check_every": 1}
    base |= {"checkpoint_every": 1, "minibatch": 1, "learning_rate": 1.0, "learning_rate_decay": 0}
    base |= {"adam_beta_1": 0, "adam_beta_2": 0, "adam_epsilon": 1.0}
    one, two = (training_of(**base, epsilon=1, lookahead=moves) for moves in (1, 2))
    imitation = training_of(**base, trainer="imitation")

    def words(*models) -> str:
        return " ".join(environment().get_template("trainers.md.j2").render(models=models).split())

    davi, exact = "by deep approximate value iteration", "by regression on exact distances"
    assert words(one) == davi
    assert words(two) == f"{davi}, looking two moves ahead"
    assert words(one, two, imitation).startswith(f"{davi}, some of it looking two moves ahead and {exact}")


def test_a_value_that_is_not_given_is_an_error():
    with pytest.raises(UndefinedError, match="study"):
        environment().get_template("timings.md.j2").render()


@pytest.mark.parametrize(
    ("wrapped", "text"),
    {
        "One\nline.\n": "One line.\n",
        "\n\nOne.\n\n\n\nTwo.\n\n": "One.\n\nTwo.\n",
        "A word\n, a comma\n.\n": "A word, a comma.\n",
        "## Head\ntext\n  and more\n": "## Head\ntext and more\n",
        "- item\n  goes on\n- other\n": "- item goes on\n- other\n",
        "text\n| a | b |\n| c | d |\ntext\n": "text\n| a | b |\n| c | d |\ntext\n",
        "![a](b)\n**label**\n": "![a](b)\n**label**\n",
        "`code` and\n`more`\n": "`code` and `more`\n",
        "```text\n a  b\n\n\n  c\n```\n": "```text\n a  b\n\n\n  c\n```\n",
        " \n": "",
    }.items(),
)
def test_lines_of_a_paragraph_become_one_and_others_stay(wrapped, text):
    assert joined(wrapped) == text


@given(st.lists(st.sampled_from(["text", "- item", "# head", "| row |", "", "  more", ", and"])))
def test_what_is_joined_stays_as_it_is(lines):
    once = joined("\n".join(lines))
    assert joined(once) == once and "\n\n\n" not in once
