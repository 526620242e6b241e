"""One session: random operations with the model's answers, and a real `step` beside them."""

import gc
import json
import random
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from ..protocol import Stepper
from . import breaker, health, retry_budget, upstream

SOURCES = {
    "health": (health, health.HealthSource),
    "breaker": (breaker, breaker.BreakerSource),
    "retry_budget": (retry_budget, retry_budget.RetryBudgetSource),
    "upstream": (upstream, upstream.UpstreamSource),
}

SESSION = 20000
SHRINK_SECONDS = 20
OPTIONAL = ("dispatch", "retry_after_ms", "rule", "via")  # absent or null when not meant


@dataclass
class Session:
    """Lines, the answers expected to those that get one, and what happened."""

    machine: str
    lines: list = field(default_factory=list)
    expected: list = field(default_factory=list)  # (line index, answer)
    seen: Counter = field(default_factory=Counter)


def regimes(machine):
    return SOURCES[machine][0].REGIMES


def session_length(machine, regime):
    return regimes(machine)[regime].get("session", SESSION)


def generate(machine, regime, seed, count):
    """`count` lines of a regime, answered by the model as they are made."""
    module, source_class = SOURCES[machine]
    stepper = Stepper(machine)
    rng = random.Random(f"{machine}/{regime}/{seed}")
    source = source_class(rng, regimes(machine)[regime], stepper.machine)
    session = Session(machine)
    learn = getattr(source, "learn", None)
    last = 0
    gc.disable()
    for index in range(count):
        text, op = source.next()
        answer = stepper.step(text, op)
        session.lines.append(text)
        if answer is None:
            continue
        if "error" in answer:
            session.seen["error"] += 1
        else:
            module.observe(session.seen, op, answer, stepper.machine)
            session.seen["time stepped back"] += op.get("t", 0) < last
            last = op.get("t", 0)
            if learn:
                learn(answer)
            named(machine, answer)
        session.expected.append((index, answer))
    gc.enable()
    session.seen.update(getattr(stepper.machine, "seen", ()))
    return session


def named(machine, answer):
    """Leave of an answer what the page's table names: `upstream` lists no events."""
    if machine == "upstream":
        del answer["events"]
    return answer


def replay(machine, lines):
    """The model's answers to given lines."""
    stepper = Stepper(machine)
    session = Session(machine, list(lines))
    for index, line in enumerate(lines):
        answer = stepper.step(line)
        if answer is not None:
            if "error" not in answer:
                named(machine, answer)
            session.expected.append((index, answer))
    return session


def same(want, got):
    """Equal in value and kind; keys of `got` that are not wanted don't matter."""
    if type(want) is not type(got):
        return False
    if type(want) is dict:
        for key, value in want.items():
            if key not in got or not same(value, got[key]):
                return False
        return all(key in want or got.get(key) is None for key in OPTIONAL)
    if type(want) is list:
        if len(want) != len(got):
            return False
        return all(map(same, want, got))
    return want == got


def same_answer(want, got):
    """An error's text is free; its line is not."""
    if type(got) is not dict:
        return False
    if "error" in want:
        return type(got.get("error")) is str and got.get("line") == want["line"]
    return "error" not in got and same(want, got)


@dataclass
class Mismatch:
    """The first answer that differs: which line, what was wanted, what came."""

    index: int
    want: object
    got: object


def run(binary, session, folder):
    """Feed the lines to `BINARY step MACHINE`: its output lines, exit status, complaints."""
    asked, answered = Path(folder) / "asked.jsonl", Path(folder) / "answered.jsonl"
    asked.write_text("\n".join(session.lines) + "\n", encoding="utf-8")
    with asked.open("rb") as source, answered.open("wb") as sink:
        done = subprocess.run([str(binary), "step", session.machine], stdin=source, stdout=sink,
                              stderr=subprocess.PIPE, timeout=600, check=False)
    lines = answered.read_text(encoding="utf-8", errors="replace").splitlines()
    return lines, done.returncode, done.stderr.decode(errors="replace")


def read(line):
    try:
        return json.loads(line)
    except ValueError:
        return f"not JSON: {line[:200]!r}"


def compare(binary, session, folder):
    """The first mismatch of a session, or None."""
    lines, status, complaint = run(binary, session, folder)
    gc.disable()
    try:
        for (index, want), line in zip(session.expected, lines):
            got = read(line)
            if not same_answer(want, got):
                return Mismatch(index, want, got)
    finally:
        gc.enable()
    if len(lines) < len(session.expected):
        index, want = session.expected[len(lines)]
        return Mismatch(index, want, f"no answer; exit status {status}; {complaint[-400:]}")
    if len(lines) > len(session.expected):
        return Mismatch(len(session.lines) - 1, None, "more answers than operations")
    due = 2 if any("error" in want for _, want in session.expected) else 0
    if status != due:
        return Mismatch(len(session.lines) - 1, f"exit status {due}", f"exit status {status}")
    return None


def shrink(binary, machine, lines, folder):
    """Drop what isn't needed for any mismatch, in ever smaller pieces, for some seconds."""
    end = time.monotonic() + SHRINK_SECONDS
    piece = max(1, len(lines) // 2)
    while True:
        start = 0
        while start < len(lines) and time.monotonic() < end:
            shorter = lines[:start] + lines[start + piece:]
            found = shorter and compare(binary, replay(machine, shorter), folder)
            if found:
                lines = shorter[:found.index + 1]
            else:
                start += piece
        if piece == 1 or time.monotonic() >= end:
            return lines
        piece //= 2
