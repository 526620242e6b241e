"""What a sweep answers: the same as its runs alone, the same bytes each time, and nothing lost when it is stopped."""

import io
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import polars
import pyarrow
import pytest
from sweeps import EJECT, FAILURES, scenario, small_sweep

import halfopen
from halfopen import progress


def test_a_row_is_what_the_run_alone_gives():
    sweep = small_sweep()
    result = sweep.run()
    table = result.table
    assert table.rows == len(sweep) == 16
    for number in (1, 6, 16):
        alone, row = sweep.run_one(number), number - 1
        assert (table["fingerprint"][row], table["digest"][row], table["seed"][row]) == (alone.fingerprint, alone.digest, alone.seed)
        assert table["expectations"][row] == 1 and table["held"][row] == 1
        for metric, value in alone.summary.items():
            got = table[metric][row]
            assert got == value or (value is None and np.isnan(got)), metric
    assert result.ok
    assert len(set(table["fingerprint"].tolist())) > 8  # settings and seeds both matter


def test_the_columns_and_their_types():
    result = small_sweep(metrics=["missed", "success_ratio"]).run()
    assert list(result.table) == ["run", "point", "replicate", "seed", FAILURES, EJECT, "missed", "success_ratio",
                                  "expectations", "held", "fingerprint", "digest"]  # fmt: skip
    kinds = {name: values.dtype.name for name, values in result.table.items()}
    assert kinds["seed"] == "uint64" and kinds["success_ratio"] == "float64" and kinds["digest"] == "object"
    assert {kinds[name] for name in ("run", "point", "replicate", FAILURES, "missed", "held")} == {"int64"}
    frame = result.frame
    assert list(frame.columns) == list(result.table) and frame["run"].tolist() == list(range(1, 17))
    assert result.table.to_polars().rows() == list(frame.itertuples(index=False, name=None))
    assert polars.DataFrame(result.table).equals(result.table.to_polars())
    assert pyarrow.table(result.table).to_pandas().equals(frame)
    with pytest.raises(ValueError, match="read-only"):
        result.table["run"][0] = 3
    with pytest.raises(KeyError, match="there is no column 'mised'"):
        result.table["mised"]


def test_values_keep_their_kind():
    health = "/upstreams/0/health"
    points = [{health: {"consecutive_failures": 2}, "/name": "a"}, {health: {}, "/name": "b"}]
    table = halfopen.Sweep(scenario(), points=points, replicates=1).run().table
    assert table[health].tolist() == ['{"consecutive_failures":2}', "{}"] and table["/name"].tolist() == ["a", "b"]
    mixed = halfopen.Sweep(scenario(), {"/name": ["a", "1"], "/seed": [1, 2]}, replicates=1).run().table
    assert mixed["/name"].tolist() == ["a", "a", "1", "1"] and mixed["/seed"].dtype == "int64"
    mean = "/endpoints/*/latency/exponential/mean_ms"
    half = halfopen.Sweep(scenario(), {mean: [1.5, 2]}, replicates=1).run().table
    assert half[mean].tolist() == [1.5, 2.0]


def test_however_it_runs_the_bytes_are_the_same():
    whole = small_sweep().run(threads=1)
    pieces = small_sweep()
    pieces.run(range(2, 17, 3), threads=2)
    pieces.run([16, 1], threads=2)
    again = pieces.run(threads=3)
    assert again.table == whole.table
    assert again.frame.to_csv() == whole.frame.to_csv()
    assert small_sweep(seed=8).run().table != whole.table
    some = pieces.run([5, 3, 5])
    assert some.table["run"].tolist() == [3, 5] and some.table == whole.table.take(np.array([2, 4]))


def test_what_is_done_is_not_run_again():
    sweep, told = small_sweep(), []
    sweep.run([1, 2, 3], progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (3, 3)
    told.clear()
    sweep.run(progress=lambda done, total: told.append((done, total)))
    assert told[0][0] > 3 and told[-1] == (16, 16)
    told.clear()
    sweep.run(progress=lambda done, total: told.append((done, total)))
    assert told == []


def test_an_error_of_the_callers_ends_it_and_loses_nothing():
    sweep = small_sweep(replicates=500)

    def progress_of(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        sweep.run(progress=progress_of, threads=1)
    told = []
    result = sweep.run(progress=lambda done, total: told.append(done))
    assert result.table.rows == 2000 and told[0] > 1
    assert result.table == small_sweep(replicates=500).run().table


def test_ctrl_c_is_answered_at_once_even_in_a_long_run():
    long = halfopen.Sweep(scenario(duration_ms=40_000_000), replicates=4, seed=1)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        long.run(threads=2)
    assert time.monotonic() - began < 3
    timer.join()


def test_after_ctrl_c_it_goes_on_where_it_was():
    sweep, told = small_sweep(replicates=500), []
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        while True:  # on a fast machine it takes more than one
            sweep = small_sweep(replicates=500)
            sweep.run(threads=2)
    timer.join()
    sweep.run(range(1, 2001), threads=2, progress=lambda done, total: told.append(done))
    first = told[0] if told else 2000
    assert sweep.run().table.rows == 2000 and first > 1


def test_two_threads_may_run_one_sweep():
    sweep, tables = small_sweep(replicates=20), []
    threads = [threading.Thread(target=lambda: tables.append(sweep.run().table)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert tables[0] == tables[1] == tables[2]


def test_results_pickle_and_say_what_they_are():
    result = small_sweep().run()
    again = pickle.loads(pickle.dumps(result))
    assert again.table == result.table and again.sweep.points == result.sweep.points
    told = []
    assert again.sweep.run(progress=lambda done, total: told.append(done)).table == result.table and told == []
    assert again.sweep.run_one(3).fingerprint == result.table["fingerprint"][2]
    assert repr(result).startswith("<SweepResult of 16 runs: requests, ok,")
    assert repr(result.sweep) == "<Sweep of small brownout: 16 runs, 4 points of 2 parameters>"
    assert repr(result.table).startswith("<Frame of 16 rows: run, point,")


def test_the_progress_bar(monkeypatch):
    bar = progress.Bar(True, 10, 4)
    assert bar._bar.total == 10 and bar._bar.n == 4
    bar.add(6)
    assert bar._bar.n == 10
    bar.close()
    assert progress.Bar(False, 1, 0)._bar is None
    monkeypatch.setattr(sys, "stderr", io.StringIO())  # nobody looks on
    assert progress.Bar(None, 1, 0)._bar is None
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert progress.Bar(None, 1, 0)._bar is None
    with pytest.raises(ImportError, match=r"pip install 'halfopen\[progress\]'"):
        small_sweep().run(progress=True)


def test_files_that_the_scenario_or_a_value_names_are_beside_it(tmp_path, monkeypatch):
    for name, latency in (("base", 5), ("slow", 80)):
        (tmp_path / f"{name}.txt").write_text(f"{latency}\n")
    data = scenario().to_dict()
    data["endpoints"]["*"] = {"latency": {"empirical": {"file": "base.txt"}}}
    monkeypatch.chdir(tmp_path.parent)
    swept = halfopen.Scenario.from_dict(data, folder=tmp_path)
    (tmp_path / "base.txt").unlink()  # it was read, and travels with the scenario
    latency = "/endpoints/*/latency"
    values = [{"empirical": {"file": "slow.txt"}}, {"fixed": {"ms": 1}}]
    sweep = halfopen.Sweep(swept, {latency: values}, replicates=2)
    table = sweep.run().table
    assert [sweep.scenario_of(number).digest for number in (1, 4)] == [table["digest"][0], table["digest"][3]]
    assert table["latency_p50_ms"].tolist() == pytest.approx([80, 80, 1, 1], rel=1 / 128)
    assert halfopen.Sweep(swept, replicates=1).run().table["latency_p50_ms"][0] == pytest.approx(5, rel=1 / 128)
    with ThreadPoolExecutor(1) as pool:
        assert halfopen.Sweep(swept, {latency: values}, replicates=2).run(executor=pool).table == table
    (tmp_path / "slow.txt").unlink()
    with pytest.raises(halfopen.ScenarioError, match="slow.txt"):
        halfopen.Sweep(swept, {latency: values}, replicates=2).run()

def test_the_cli_gives_the_same_fingerprints(tmp_path):
    cli = Path(sys.executable).with_name("halfopen")
    (tmp_path / "small.json").write_text(scenario().to_json())
    command = [cli, "sweep", tmp_path / "small.json", "--param", f"{FAILURES}=1,3", "--param", f"{EJECT}=2000,5000",
               "--replicates", "4", "--seed", "7"]  # fmt: skip
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    head, *rows = [line.split(",") for line in said.splitlines()]
    table = small_sweep().run().table
    for name in ("run", "seed", "fingerprint", "digest"):
        assert [row[head.index(name)] for row in rows] == [str(value) for value in table[name].tolist()], name
