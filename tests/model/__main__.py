"""`python -m tests.model MACHINE`: JSON lines in, answers out, as `halfopen step` does."""

import json
import sys

from .protocol import MACHINES, Stepper

NOT_TEXT = "not UTF-8"


def text_of(raw):
    """The line as text; bytes that are none become a line that is malformed."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return NOT_TEXT


def main(arguments):
    if len(arguments) != 1 or arguments[0] not in MACHINES:
        print(f"usage: python -m tests.model {{{','.join(MACHINES)}}}", file=sys.stderr)
        return 2
    stepper = Stepper(arguments[0])
    for raw in sys.stdin.buffer:
        answer = stepper.step(text_of(raw))
        if answer is not None:
            print(json.dumps(answer))
    return 2 if stepper.errors else 0


sys.exit(main(sys.argv[1:]))
