"""The same bytes from every compiler and optimisation level: the promise that a pinned timeline lives on.

Each variant is a build of the simulator with a small program around it (tests/bytes), kept under build/bytes and
rebuilt only where a source changed. Every scenario of the repository goes through each of them, and what comes
out is what the command itself writes.
"""

import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENARIOS = sorted(path for path in (ROOT / "scenarios").glob("*.json") if not path.name.endswith(".timeline.json"))

# Each must also build without a warning; but at -O3 g++ 12 sees an overflow inside fmt that is not there.
VARIANTS = {
    "g++ -O0": ("g++", "-O0"),
    "g++ -O3 -march=native": ("g++", "-O3 -march=native -Wno-stringop-overflow"),
    "clang++ -O2": ("clang++", "-O2"),
}


def timelines(*command):
    """All scenarios as one run each, in order: what the command wrote to stdout."""
    run = subprocess.run([*command, *SCENARIOS], capture_output=True, check=False, cwd=ROOT)
    assert run.returncode == 0, run.stderr.decode()
    return run.stdout


def build(compiler, flags):
    name = f"{compiler} {flags}".replace("+", "p").replace(" ", "_").replace("=", "_")
    folder = ROOT / "build" / "bytes" / name
    configure = ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={compiler}",
                 "-DCMAKE_BUILD_TYPE=", f"-DCMAKE_CXX_FLAGS={flags}", "-DHALFOPEN_BUILD_PROBER=OFF",
                 "-DHALFOPEN_WERROR=ON"]
    for command in (configure, ["cmake", "--build", folder, "--target", "timelines"]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    return folder / "tests" / "timelines"


@pytest.fixture(scope="module")
def reference(binary):
    return timelines(binary, "run", "--format", "json")


def test_there_is_something_to_compare(reference):
    assert len(SCENARIOS) >= 20
    assert reference.count(b'\n"fingerprint":') == len(SCENARIOS)


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_build_writes_the_same_timelines(variant, reference):
    other = timelines(build(*VARIANTS[variant]))
    if other == reference:
        return
    for number, (ours, theirs) in enumerate(zip(reference.splitlines(), other.splitlines()), start=1):
        assert ours == theirs, f"{variant}: line {number} differs from the reference build's"
    pytest.fail(f"{variant}: one output is the beginning of the other")
