"""`halfopen step` against the naive model: the same random operations, every named field.

Source of the rules: the semantics page; its section on `step` fixes the names.
HALFOPEN_BIN names the binary (else build/dev or build/release), HALFOPEN_STEP_OPS
the operations a machine gets in all, HALFOPEN_STEP_SEED another run of luck.
"""

import json
import os
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from model.fuzz import session as fuzz  # noqa: E402

OPERATIONS = int(os.environ.get("HALFOPEN_STEP_OPS", 10**6))
SEED = os.environ.get("HALFOPEN_STEP_SEED", "1")
TOP_UP = 12000  # what a regime has made before it may be called vacuous
CASES = [(machine, regime) for machine in fuzz.SOURCES for regime in fuzz.regimes(machine)]

made = Counter()
seen = {machine: Counter() for machine in fuzz.SOURCES}


def note(session, machine, regime):
    made[machine, regime] += len(session.lines)
    seen[machine].update(session.seen)


def sentence(machine, regime, seed, session, wrong, shrunk):
    """What a person needs to see the first difference."""
    context = session.lines[max(0, wrong.index - 10):wrong.index]
    return "\n".join(
        [f"`step {machine}` and the model differ in regime {regime!r} (session {seed!r}) at "
         f"operation {wrong.index + 1} of {len(session.lines)}.", "Before it:"]
        + [f"  {line}" for line in context]
        + ["The operation:", f"  {session.lines[wrong.index]}",
           f"Expected: {json.dumps(wrong.want)}", f"Got:      {json.dumps(wrong.got)}",
           f"Shrunk to {len(shrunk)} operations that still differ at the last"
           f" (feed them to both):"]
        + [f"  {line}" for line in shrunk[-60:]])


@pytest.mark.parametrize("machine, regime", CASES, ids=[f"{m}-{r}" for m, r in CASES])
def test_step_answers_as_the_model_does(machine, regime, binary, tmp_path):
    due = max(1, OPERATIONS // len(fuzz.regimes(machine)))
    length = fuzz.session_length(machine, regime)
    for number in range(-(-due // length)):
        seed = f"{SEED}.{number}"
        count = min(length, due - number * length)
        session = fuzz.generate(machine, regime, seed, count)
        note(session, machine, regime)
        wrong = fuzz.compare(binary, session, tmp_path)
        if wrong:
            shrunk = fuzz.shrink(binary, machine, session.lines[:wrong.index + 1], tmp_path)
            pytest.fail(sentence(machine, regime, seed, session, wrong, shrunk), pytrace=False)


@pytest.mark.parametrize("machine", list(fuzz.SOURCES))
def test_something_happened(machine):
    """The vacuity guard: over the regimes, everything that can happen has happened."""
    for regime in fuzz.regimes(machine):
        number = 0
        while made[machine, regime] < TOP_UP:
            count = min(TOP_UP, fuzz.session_length(machine, regime))
            note(fuzz.generate(machine, regime, f"top-up.{number}", count), machine, regime)
            number += 1
    never = [what for what in fuzz.SOURCES[machine][0].MUST_HAPPEN if not seen[machine][what]]
    assert not never, f"In all regimes of {machine} these never happened: {', '.join(never)}."
