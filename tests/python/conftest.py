"""What all end-to-end tests share: the binary under test."""

import importlib.util
import os
import signal
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Whoever starts the tests in the background of a script has SIGINT ignored, and every program started here would inherit
# that; many tests interrupt one.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests of the installed package, which `make test` runs in an environment that has it.
collect_ignore = [] if importlib.util.find_spec("halfopen") else ["package"]


@pytest.fixture(scope="session")
def binary():
    """HALFOPEN_BIN, else build/dev/halfopen, else build/release/halfopen: an absolute path, as a string."""
    named = os.environ.get("HALFOPEN_BIN")
    places = [Path(named)] if named else [ROOT / "build" / kind / "halfopen" for kind in ("dev", "release")]
    for place in places:
        if place.is_file():
            return str(place.resolve())
    pytest.fail("There is no halfopen binary at " + " or ".join(map(str, places)) + ": build it, or set HALFOPEN_BIN.")
