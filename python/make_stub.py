"""Writes the stub of the installed halfopen._core: `python python/make_stub.py python/halfopen/_core.pyi`."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

# C++ does not say what is in a container that Python alone looks into.
FULL = {"dict": "dict[str, typing.Any]", "list": "list[typing.Any]", "tuple": "tuple[typing.Any, ...]"}


def stub() -> str:
    """The text of _core.pyi, as pybind11-stubgen sees the module that `import halfopen` finds."""
    with tempfile.TemporaryDirectory() as folder:
        # From elsewhere: beside a checkout's python/ the sources would stand in for the package.
        subprocess.run(
            [sys.executable, "-m", "pybind11_stubgen", "halfopen._core", "--exit-code", "--output-dir", folder],
            check=True,
            cwd=folder,
        )
        text = (Path(folder) / "halfopen" / "_core.pyi").read_text(encoding="utf-8")
    for bare, full in FULL.items():
        text = re.sub(rf"(-> |: ){bare}(?=[:,)])", rf"\g<1>{full}", text)
    return re.sub(r"(__version__: str) = .*", r"\1", text)  # a version has one place, and it is not here


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(stub(), encoding="utf-8")
