"""The form of a message to the user."""


def is_one_sentence(text: str) -> bool:
    """True for one line that begins and ends like a sentence, and is no Python exception."""
    ends = (".", "?", ".)", ".'")
    return "\n" not in text and "Traceback" not in text and len(text.split()) >= 4 and text.endswith(ends)
