"""`python -m halfopen tune`."""

from __future__ import annotations

import argparse
import errno
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from halfopen.designs import Range
from halfopen.scenario import Scenario
from halfopen.tuning.goals import DEFAULTS
from halfopen.tuning.result import Tuning
from halfopen.tuning.tune import tune

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

_ABOUT = """\
Looks for good settings of health, breaker, active health and retries by
running scenarios: bad settings are dropped after a few runs, good ones are run
again with fresh seeds. Says what to paste, what it gains with intervals, which
settings no other beats, and which can't be told apart. Several scenarios (a
quiet day and a brownout) are tuned together, upstreams matched by name. The
same arguments give the same bytes. Needs Optuna:
pip install 'halfopen[optuna]'.

A brownout alone does not show what settings do to a healthy endpoint. That is
a constraint of its own, healthy_ejections_per_day<=1, worked out as halfopen
analyze does and not run. The metric false_ejections does not show it: errors
on every endpoint for the whole run are a fault to it, and no ejection by them
is a false one. In runs, ejections of a quiet scenario show it that has such
errors and nothing else:
"endpoints": {"*": {"faults": [{"error": {"ratio": 0.005}}]}}
"""
_EXAMPLES = """\
examples:
  python -m halfopen tune brownout.json quiet.json \\
    --objective min:failed~5 --objective min:time_to_detect_ms \\
    --constraint 'ejections@quiet<=0' --store runs -o report.txt
  python -m halfopen tune x.json --objective max:success_ratio \\
    --param /upstreams/0/health/consecutive_failures=2:10 \\
    --param /upstreams/0/health/eject_ms=1000:60000:log \\
    --param /upstreams/0/load_balancer=round_robin,random

exit status: 0, a setting is recommended, what is there now among them; 1, none
that was tried keeps the constraints; 2, a bad file or usage, and a sentence on
stderr says what; 130, interrupted: what has run is in the store.
"""


def add(commands: Commands) -> None:
    """Adds the command to those of `python -m halfopen`."""
    parser = commands.add_parser(
        "tune",
        help="settings that are worth having, for scenarios",
        description=_ABOUT,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "files", metavar="FILE", nargs="+", help="a scenario; all of several must have the same settings"
    )
    parser.add_argument(
        "--objective",
        metavar="GOAL",
        action="append",
        default=[],
        help="min:METRIC or max:METRIC, the most important first; METRIC@NAME is that of one scenario, ~N at the end the "
        f"largest difference that does not matter. Default: {', '.join(DEFAULTS)}, as far as they can be measured",
    )
    parser.add_argument(
        "--constraint",
        metavar="LIMIT",
        action="append",
        default=[],
        help="METRIC<=N or METRIC>=N, of the mean over replicates in each scenario, or METRIC@NAME<=N in one. Default: none "
        "but that of --healthy-ejections-per-day",
    )
    parser.add_argument(
        "--param",
        metavar="/PTR=VALUES",
        action="append",
        default=[],
        help="a setting to search: LO:HI, whole numbers if both ends are; LO:HI:log evenly over orders of magnitude; a,b,c "
        "choices, each JSON or else a string; upstreams go by their places in the first file. Default: every "
        "number of health, active_health, breaker and retries, from a fifth of its default to four times as much",
    )
    parser.add_argument(
        "--healthy-ejections-per-day",
        metavar="N",
        type=_most,
        default=1.0,
        help="how often a healthy endpoint may be ejected in a day in rotation, at most and in each scenario, as "
        "halfopen analyze works it out; any: as often as it likes. Default: 1",
    )
    parser.add_argument(
        "--healthy-error-ratio",
        metavar="SHARE",
        type=float,
        help="of its requests, from 0 to 1. Default: that of the scenario's errors on every endpoint for the whole run, or "
        "0.005",
    )
    _add_numbers(parser)
    parser.add_argument("--set", metavar="/PTR=VALUE", action="append", default=[], help="as of halfopen sweep")
    parser.add_argument("--gateway", metavar="FILE", help="as of halfopen sweep")
    parser.add_argument("--store", metavar="DIR", help="a folder that keeps what has run; only what it lacks is run")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="Default: text")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file. Default: standard output")
    parser.set_defaults(act=act)


def _most(text: str) -> float | None:
    """Of `--healthy-ejections-per-day`; None for any."""
    if text == "any":
        return None
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"it is a number, such as 1, or any; not {text}") from None


def _add_numbers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--trials",
        metavar="N",
        type=int,
        default=36,
        help="settings that the search tries; plainer forms of its best "
        "come on top. Default: 36",
    )
    parser.add_argument(
        "--replicates", metavar="N", type=int, default=20, help="runs of a good setting in each scenario, from 2. Default: 20"
    )
    parser.add_argument("--seed", metavar="N", type=int, help="of the first replicate. Default: that of the first scenario")
    parser.add_argument("--level", metavar="SHARE", type=float, default=0.95, help="of confidence. Default: 0.95")
    parser.add_argument(
        "--threads", metavar="N", type=int, default=0, help="the report does not depend on it. Default: one a processor"
    )


def act(options: argparse.Namespace) -> int:
    """Runs the command; its exit status."""
    if options.output is not None and not Path(options.output).parent.is_dir():  # before hours of work
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), options.output)
    if options.output is not None and Path(options.output).is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), options.output)
    try:
        found = _tuned(options)
        _write(found, options)
    except KeyboardInterrupt:
        kept = "what has run is in the store, and the same command goes on from there" if options.store else "nothing is kept"
        print(f"interrupted: {kept}", file=sys.stderr)
        return 130
    return 0 if found.recommended is not None else 1


def _tuned(options: argparse.Namespace) -> Tuning:
    found = tune(
        _scenarios(options),
        options.objective or None,
        options.constraint,
        params=_once("--param", [_param(text) for text in options.param]) or None,
        healthy_ejections_per_day=options.healthy_ejections_per_day,
        healthy_error_ratio=options.healthy_error_ratio,
        trials=options.trials,
        replicates=options.replicates,
        seed=options.seed,
        level=options.level,
        threads=options.threads,
        store=options.store,
    )
    found.gateway, found.search_command = options.gateway, _again(options, found)
    return found


def _write(found: Tuning, options: argparse.Namespace) -> None:
    text = found.to_json() if options.format == "json" else found.report()
    if options.output is None:
        sys.stdout.write(text)
    else:
        Path(options.output).write_text(text, encoding="utf-8", newline="\n")


def _scenarios(options: argparse.Namespace) -> dict[str, Scenario]:
    sets = _once("--set", [_set(text) for text in options.set])
    loaded = [(file, Scenario.load(file, set=sets, gateway=options.gateway)) for file in options.files]
    names = [scenario.name or Path(file).stem for file, scenario in loaded]
    unique = len(set(names)) == len(names)
    out = {name if unique else file: scenario for name, (file, scenario) in zip(names, loaded, strict=True)}
    if len(out) < len(loaded):
        raise ValueError(f"a file is given twice: {', '.join(options.files)}")
    return out


def _once(option: str, pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """A value by pointer; ValueError if one comes twice, of which one would be lost."""
    pointers = [pointer for pointer, _ in pairs]
    twice = next((pointer for pointer in pointers if pointers.count(pointer) > 1), None)
    if twice is not None:
        raise ValueError(f"{option} {twice} is given twice: give each pointer once")
    return dict(pairs)


def _set(text: str) -> tuple[str, Any]:
    pointer, equals, value = text.partition("=")
    if not equals or not pointer.startswith("/"):
        raise ValueError(f"--set {text}: it looks like /upstreams/0/health/eject_ms=5000")
    return pointer, _value(value)


def _param(text: str) -> tuple[str, Range | list[Any]]:
    pointer, equals, values = text.partition("=")
    if not equals or not pointer.startswith("/") or not values:
        raise ValueError(f"--param {text}: it looks like /upstreams/0/health/eject_ms=1000:60000")
    ends = values.removesuffix(":log").split(":")
    if len(ends) == 2 and (numbers := [_value(end) for end in ends]) and all(type(end) in (int, float) for end in numbers):
        try:
            return pointer, Range(numbers[0], numbers[1], log=values.endswith(":log"))
        except ValueError as error:
            raise ValueError(f"--param {text}: {error}") from None
    return pointer, _choices(text, values)


def _choices(text: str, values: str) -> list[Any]:
    """JSON texts with commas between them, or else strings."""
    try:
        listed: list[Any] = json.loads(f"[{values}]")
        return listed
    except ValueError:
        words = [value.strip() for value in values.split(",")]
    if not all(words):
        raise ValueError(f'--param {text}: a choice is empty; the empty text is ""')
    return [_value(word) for word in words]


def _value(text: str) -> Any:
    """JSON, or else a string."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _again(options: argparse.Namespace, found: Tuning) -> list[str]:
    """The command with all that the report depends on."""
    words: list[str] = ["python", "-m", "halfopen", "tune", *options.files]
    for name in ("objective", "constraint", "param", "set"):
        words += _repeated(f"--{name}", getattr(options, name))
    if options.gateway:
        words += ["--gateway", options.gateway]
    if options.healthy_ejections_per_day != 1.0:
        most = options.healthy_ejections_per_day
        words += ["--healthy-ejections-per-day", "any" if most is None else f"{most:g}"]
    if options.healthy_error_ratio is not None:
        words += ["--healthy-error-ratio", f"{options.healthy_error_ratio:g}"]
    numbers = {"trials": found.trials, "replicates": found.replicates, "seed": found.seed, "level": found.level}
    return [*words, *(word for name, value in numbers.items() for word in (f"--{name}", str(value)))]


def _repeated(option: str, values: Sequence[str]) -> list[str]:
    return [word for value in values for word in (option, value)]
