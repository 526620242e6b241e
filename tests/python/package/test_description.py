"""What is committed beside the C++ description is what it says: typed dicts, stubs, types."""

import json
import subprocess
import sys
from pathlib import Path

import halfopen
from halfopen import _core, build

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = Path(halfopen.__file__).parent


def test_build_has_every_key(tmp_path):
    """build.py is what its generator makes of the reader's own schema."""
    (tmp_path / "schema.json").write_text(_core.scenario_schema())
    made = subprocess.run([sys.executable, ROOT / "python/generate_build.py", tmp_path / "schema.json"],
                          capture_output=True, text=True, check=True)
    assert made.stdout == Path(build.__file__).read_text(), "run python/generate_build.py again"
    schema = json.loads(_core.scenario_schema())
    assert set(build.ScenarioKeys.__annotations__) == set(schema["properties"])
    assert set(build.Fault.__annotations__) == set(schema["definitions"]["fault"]["properties"])


def test_the_stub_is_that_of_the_module(tmp_path):
    made = tmp_path / "_core.pyi"
    subprocess.run([sys.executable, ROOT / "python/make_stub.py", made], check=True, cwd="/")
    assert made.read_text() == (PACKAGE / "_core.pyi").read_text(), "run `make stub` and commit python/halfopen/_core.pyi"


def test_the_package_is_typed():
    """mypy --strict over the installed package and a consumer of it."""
    assert (PACKAGE / "py.typed").is_file()
    consumer = Path(__file__).with_name("consumer.py")
    told = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-incremental", "-p", "halfopen"],
                          capture_output=True, text=True, cwd="/")
    assert told.returncode == 0, told.stdout
    told = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-incremental", consumer],
                          capture_output=True, text=True, cwd="/")
    assert told.returncode == 0, told.stdout


def test_mypy_finds_a_misspelt_key(tmp_path):
    file = tmp_path / "wrong.py"
    file.write_text("from halfopen import build\nbuild.Health(eject_mss=3)\nbuild.Health(eject_ms='3')\n")
    told = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-incremental", file],
                          capture_output=True, text=True, cwd="/")
    assert told.returncode == 1 and told.stdout.count("error:") == 2, told.stdout
