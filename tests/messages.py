"""What a message to the user looks like."""


def is_one_sentence(text: str) -> bool:
    """One line that begins like a sentence and ends like one, not a Python exception."""
    ends = (".", "?", ".)", ".'")
    return "\n" not in text and "Traceback" not in text and len(text.split()) >= 4 and text.endswith(ends)
