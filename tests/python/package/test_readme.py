"""The README's Python section does what it shows: the same numbers, the same picture."""

import re
import subprocess
import sys
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
SECTION = (ROOT / "README.md").read_text().split("\n## From Python\n")[1].split("\n## ")[0]
CODE = re.search(r"```python\n(.*?)```", SECTION, re.S)[1]
SHOWN = re.search(r"```\n(.*?)```", SECTION.split(CODE)[1].removeprefix("```"), re.S)[1]


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("readme")
    (folder / "scenarios").symlink_to(ROOT / "scenarios")
    run = subprocess.run([sys.executable, "-c", CODE], cwd=folder, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return folder, run.stdout


def test_it_prints_what_is_shown(done):
    assert done[1] == SHOWN


def test_it_draws_the_picture_that_is_shown(done):
    [named] = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", SECTION)
    drawn = matplotlib.image.imread(done[0] / "sweep.png")
    shown = matplotlib.image.imread(ROOT / named)
    assert drawn.shape == shown.shape
    # Another FreeType may shade the edges of letters otherwise; a curve elsewhere is far more.
    assert np.abs(drawn - shown).mean() < 0.002


def test_its_extras_are_those_of_the_package():
    from importlib.metadata import metadata

    extras = set(metadata("halfopen").get_all("Provides-Extra"))
    named = {extra for found in re.findall(r"\.\[([a-z,]+)\]", SECTION) for extra in found.split(",")}
    assert named and named <= extras


def test_the_packages_own_readme_runs(tmp_path):
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    code = "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / "python/README.md").read_text(), re.S))
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "/traffic/0/rate_rps: " in run.stdout and "/upstreams/0/health/eject_ms: " in run.stdout
    assert "endpoint_ejected" in run.stdout
    assert "req/s these rules eject a healthy endpoint" in run.stdout and "Tuned small" in run.stdout
    assert {"run.png", "page.html", "sweep-store"} <= {path.name for path in tmp_path.iterdir()}
