"""What a message shows of what the user gave."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costtogo.types import excerpt


@given(st.text(max_size=200))
def test_an_excerpt_is_one_printable_line_of_60_letters_at_the_most(text):
    assert len(excerpt(text)) <= 60 and excerpt(text).isprintable()


@given(st.text(st.characters(exclude_categories=("C", "Z")), max_size=60))
def test_a_short_text_is_shown_whole(text):
    assert excerpt(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [("R\n", r"R\n"), ("\x1b[m", r"\x1b[m"), ("\udcff", r"\udcff"), ("abcdefg", "abcdefg"), ("abcdefgh", "abcdef…")],
)
def test_what_cannot_be_printed_is_shown_as_escapes_and_what_is_long_is_cut_off(text, shown):
    assert excerpt(text, most=7) == shown
