"""The command costtogo as a process: an interrupt while it loads or ends leaves no traceback."""

import os
import signal
import sys

OWN = signal.getsignal(signal.SIGINT)  # in a background job: SIG_IGN
if OWN is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def main() -> None:
    """Run the command; output to a closed stream is discarded."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # gets the number of the closed one
    from costtogo.cli import main as command

    signal.signal(signal.SIGINT, OWN)
    try:
        command()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    main()
