"""Stores: only what is missing runs, whoever was killed meanwhile, and nothing is mixed up."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
from sweeps import EJECT, FAILURES, scenario, small_sweep

import halfopen
from halfopen import store as stores

CHILD = """
import sys
sys.path.insert(0, {tests!r})
from sweeps import small_sweep
print("ready", flush=True)
small_sweep(replicates={replicates}).run(store={store!r}, batch=10, threads=1)
"""


def child(store, replicates):
    code = CHILD.format(tests=str(Path(__file__).parent), replicates=replicates, store=str(store))
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)


def ran(sweep, store, **more):
    """The result, and how many runs it took."""
    told = [(0, 0)]
    first = []

    def progress(done, total):
        first.append(done)
        told.append((done, total))

    before = rows(store)
    result = sweep.run(store=store, progress=progress, **more)
    return result, rows(store) - before


def rows(store):
    return sum(pyarrow.parquet.read_metadata(path).num_rows for path in Path(store).rglob("*.parquet"))


def test_only_what_is_missing_runs(tmp_path):
    whole = small_sweep().run().table
    first, took = ran(small_sweep(), tmp_path / "new" / "store", numbers=range(1, 8))
    assert took == 7 and first.table.rows == 7
    again, took = ran(small_sweep(), tmp_path / "new" / "store")
    assert took == 9 and again.table == whole
    third, took = ran(small_sweep(), tmp_path / "new" / "store")
    assert took == 0 and third.table == whole
    more, took = ran(small_sweep(replicates=5), tmp_path / "new" / "store")
    assert took == 4 and more.table == small_sweep(replicates=5).run().table


def test_runs_are_known_by_what_they_are_not_by_their_numbers(tmp_path):
    ran(small_sweep(), tmp_path)
    other = halfopen.Sweep(scenario(), points=[{FAILURES: 3, EJECT: 5000}, {FAILURES: 9, EJECT: 5000}], replicates=4, seed=8)
    result, took = ran(other, tmp_path)
    assert took == 5  # seeds 8 to 10 of the first point are there
    assert result.table == halfopen.Sweep(scenario(), points=other.points, replicates=4, seed=8).run().table


def test_the_same_point_twice(tmp_path):
    points = [{FAILURES: 3}, {FAILURES: 1}, {FAILURES: 3}]
    plain = halfopen.Sweep(scenario(), points=points, replicates=2).run().table
    assert halfopen.Sweep(scenario(), points=points, replicates=2).run(store=tmp_path).table == plain
    again, took = ran(halfopen.Sweep(scenario(), points=points, replicates=2), tmp_path)
    assert took == 0 and again.table == plain


def test_what_ran_without_a_store_goes_into_it_later(tmp_path):
    sweep = small_sweep()
    sweep.run([1, 2])
    _, took = ran(sweep, tmp_path)
    assert took == 16
    assert ran(small_sweep(), tmp_path)[1] == 0


def test_another_scenario_or_version_is_told_apart(tmp_path, monkeypatch):
    one = small_sweep().run(store=tmp_path).table
    longer = halfopen.Sweep(scenario(duration_ms=21_000), {FAILURES: [1, 3], EJECT: [2000, 5000]}, replicates=4, seed=7)
    result, took = ran(longer, tmp_path)
    assert took == 16 and not set(result.table["digest"]) & set(one["digest"])
    reseeded = halfopen.Sweep(scenario(seed=99), {FAILURES: [1, 3], EJECT: [2000, 5000]}, replicates=4, seed=7)
    assert ran(reseeded, tmp_path)[1] == 0  # the sweep's own seed is the same
    assert len(list(tmp_path.iterdir())) == 2
    monkeypatch.setattr(halfopen._core, "__version__", "9.9.9")
    assert ran(small_sweep(), tmp_path)[1] == 16
    assert sorted(path.name.split("-")[0] for path in tmp_path.iterdir()) == [halfopen.__version__] * 2 + ["9.9.9"]


def test_parts_in_the_wrong_folder_and_broken_ones_are_left_out(tmp_path):
    for numbers in (range(1, 9), range(9, 17)):  # two parts
        small_sweep().run(numbers, store=tmp_path)
    (folder,) = tmp_path.iterdir()
    foreign = stores.Store(tmp_path, "0.0.0", "0123456789abcdef")
    foreign.add({"run": np.array([1])}, ["ab"], ["{}"])
    (part,) = foreign._folder.glob("*.parquet")
    broken, changed = sorted(folder.glob("*.parquet"))
    part.rename(folder / part.name)
    short = broken.read_bytes()[:-40]
    broken.unlink()
    (folder / f"{stores._digest(short)}.parquet").write_bytes(short)
    flipped = bytearray(changed.read_bytes())
    flipped[len(flipped) // 3] ^= 1  # a bit of a number, say, which Parquet would read
    changed.write_bytes(flipped)
    with pytest.warns(stores.StoreWarning) as told:
        result = small_sweep().run(store=tmp_path)
    said = sorted(str(warning.message) for warning in told)
    for why in ("it can't be read", "of another version", "it was changed or renamed"):
        assert sum(why in text for text in said) == 1, said
    assert len(said) == 3
    assert result.table == small_sweep().run().table


def test_a_killed_sweep_loses_at_most_a_batch(tmp_path):
    process = child(tmp_path, 2000)
    deadline = time.monotonic() + 30
    while not list(tmp_path.rglob("*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.3)
    process.send_signal(signal.SIGKILL)
    process.wait()
    there = rows(tmp_path)
    assert 10 <= there < 8000
    half_written = next(tmp_path.iterdir()) / ".killed-1-0.tmp"
    half_written.write_bytes(b"PAR1")
    os.utime(half_written, (1, 1))
    sweep = small_sweep(replicates=2000)
    numbers = list(range(1, there + 200))
    result, took = ran(sweep, tmp_path, numbers=numbers)
    assert took <= 200 + 10 and result.table.rows == len(numbers)
    assert not half_written.exists()
    assert result.table == small_sweep(replicates=2000).run(numbers).table


def test_two_processes_share_a_store(tmp_path):
    both = [child(tmp_path, 60) for _ in range(2)]
    assert [process.wait(60) for process in both] == [0, 0]
    result, took = ran(small_sweep(replicates=60), tmp_path)
    assert took == 0 and result.table == small_sweep(replicates=60).run().table
    assert not list(tmp_path.rglob("*.tmp"))


THREADS = """
import os, sys
sys.path.insert(0, {tests!r})
from sweeps import small_sweep
small_sweep().run(store={store!r}, threads=1)
before = os.listdir("/proc/self/task")
small_sweep().run(store={store!r}, threads=1)
print(len(os.listdir("/proc/self/task")) - len(before))
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted as Linux lists them")
def test_reading_parts_starts_no_threads_of_arrow(tmp_path):
    """One of them that let go of a Python object while Python exits ended some processes in abort()."""
    code = THREADS.format(tests=str(Path(__file__).parent), store=str(tmp_path))
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told == "0\n"


def test_a_store_is_a_folder(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="a store is a folder"):
        small_sweep().run(store=tmp_path / "file")
    with pytest.raises(ValueError, match="batch is 0: it must be a whole number from 1"):
        small_sweep().run(store=tmp_path, batch=0)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'halfopen\[store\]'"):
        small_sweep().run(store=tmp_path)
