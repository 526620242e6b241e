"""`python -m halfopen`: what is done with Python on a command line. Running scenarios is the command `halfopen`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from halfopen import Result, __version__
from halfopen.tuning import command as tune_command

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

_REPORT = """\
Writes one page of HTML about a run: verdict, lanes of states, requests, latency, retries and fail-open over one time
axis, expectations, events with their reasons, metrics. It holds all that it needs and opens without a network.
"""
_REPORT_EXAMPLE = """\
example:
  halfopen run scenario.json --format json -o timeline.json
  python -m halfopen report timeline.json -o page.html

exit status: 0, the page is written; 2, it is not, and a sentence on stderr says why.
"""


def _add_report(commands: Commands) -> None:
    parser = commands.add_parser(
        "report",
        help="a timeline as a page of HTML",
        description=_REPORT,
        epilog=_REPORT_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "timeline",
        metavar="TIMELINE",
        help="what `halfopen run --format json` wrote, or jsonl, which has no states and no series; - is stdin",
    )
    parser.add_argument(
        "-o", "--output", metavar="PAGE", required=True, help="the file to write, replaced if it is there"
    )
    parser.set_defaults(act=_report)


def _report(options: argparse.Namespace) -> int:
    source = "/dev/stdin" if options.timeline == "-" else options.timeline
    Result.load(source).report(options.output)
    return 0


_COMMANDS: tuple[Callable[[Commands], None], ...] = (_add_report, tune_command.add)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m halfopen", description=__doc__)
    parser.add_argument("--version", action="version", version=f"halfopen {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in _COMMANDS:
        add(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; its exit status. Whatever is wrong is a sentence on stderr, and 2."""
    options = _parser().parse_args(arguments)
    try:
        status: int = options.act(options)
        return status
    except OSError as error:
        print(f"{error.filename}: {error.strerror}" if error.filename else str(error), file=sys.stderr)
    except (ValueError, ImportError) as error:
        print(error, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
