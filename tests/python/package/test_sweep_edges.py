"""Sweeps as people use them wrongly, or a little further than they were thought."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars
import pytest
from sweeps import EJECT, FAILURES, scenario, small_sweep

import halfopen


def test_whoever_watches_may_ask_for_runs_outside_the_share():
    # Read while workers look for their own: memory was corrupted in most runs, so this one is a process of its own.
    code = (
        "import halfopen, sweeps\n"
        "for _ in range(4):\n"
        f"    sweep = halfopen.Sweep(sweeps.scenario(duration_ms=500), {{{FAILURES!r}: range(1, 301)}}, replicates=10)\n"
        "    sweep.run(range(1, 1501), threads=2, progress=lambda done, total: (sweep.runs(), sweep[3000 - done % 9]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=__file__.rsplit("/", 1)[0], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_share_may_be_empty():
    for numbers in ([], range(3, 3, 8)):
        sweep = small_sweep(metrics=["failed", "time_to_detect_ms"])
        result = sweep.run(numbers)
        assert result.table.rows == 0 and result.table.columns == small_sweep(metrics=["failed", "time_to_detect_ms"]).run().table.columns
        assert result.ok and len(result.summary()) == 0
        assert sweep.run().table == small_sweep(metrics=["failed", "time_to_detect_ms"]).run().table


def test_metrics_may_come_from_a_generator():
    assert small_sweep(metrics=(name for name in ("failed", "ok"))).metrics == ("failed", "ok")


def test_what_can_run_nothing_is_named():
    from distributed import Client, LocalCluster

    sweep = small_sweep()
    for wrong in ("dask", ThreadPoolExecutor):
        with pytest.raises(TypeError, match="client.get_executor"):
            sweep.run(executor=wrong)
    with LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster, Client(cluster) as client:
        with pytest.raises(TypeError, match="get_executor\\(\\) answers"):
            sweep.run(executor=client)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: small_sweep(seed=-1), r"seed is -1: it must be a whole number from 0 to 2\^64 - 1"),
        (lambda: small_sweep(seed="7"), "seed is '7': it must be a whole number"),
        (lambda: small_sweep(replicates=2.0), "replicates is 2.0: it must be a whole number"),
        (lambda: small_sweep().run(threads=-1), "threads is -1"),
        (lambda: small_sweep().run(progress="yes"), "progress is 'yes'"),
        (lambda: halfopen.Sweep(scenario(), {FAILURES: halfopen.Range(1, 3)}), "halfopen.design"),
        (lambda: small_sweep(where=f"1 / ({{{FAILURES}}} - 1) > 0"), "division by zero"),
        (lambda: halfopen.run(scenario(), seed=2**64), "seed is 18446744073709551616"),
        (lambda: scenario().with_({"/upstreams/7/name": "x"}), r"^<dict>: /upstreams/7/name: (?!--set)"),
        (lambda: scenario().with_({5: 1}), "5 is no JSON pointer"),
    ],
)
def test_a_sentence_says_what_would_be_right(call, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        call()


def test_a_change_has_no_place_in_the_file(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(scenario().to_json())
    with pytest.raises(halfopen.ScenarioError) as caught:
        halfopen.Scenario.load(path).with_({EJECT: -1, "/traffic/0/rate": 5})
    assert sorted((one.line, one.pointer) for one in caught.value.mistakes) == [(0, "/traffic/0/rate"), (0, EJECT)]


def test_whole_ranges_reach_both_ends_and_are_even_below_zero():
    for low, high in ((-2, 2), (-5, -1), (np.int64(3), np.int64(7))):
        values = [point["/x"] for point in halfopen.design({"/x": (low, high)}, 1024)]
        counts = {value: values.count(value) for value in sorted(set(values))}
        assert list(counts) == list(range(int(low), int(high) + 1)) and all(type(value) is int for value in values)
        assert max(counts.values()) - min(counts.values()) <= 2, counts


def test_large_seeds_as_a_parameter_stay_apart():
    result = halfopen.Sweep(scenario(duration_ms=100), {"/seed": [2**63, 2**63 + 1]}, replicates=1).run()
    assert result.table["/seed"].tolist() == [2**63, 2**63 + 1] == result.table["seed"].tolist()


def test_points_of_polars_are_as_good():
    points = polars.DataFrame({FAILURES: [1, 3]})
    assert halfopen.Sweep(scenario(), points=points).points == ({FAILURES: 1}, {FAILURES: 3})


def test_a_store_asked_again_adds_no_rows(tmp_path):
    sweep = small_sweep()
    for _ in range(3):
        sweep.run(store=tmp_path)
    assert sum(len(chunk["run"]) for chunk in sweep._done) == len(sweep)


def test_plots_find_their_axes():
    result = small_sweep(metrics=["failed", "ok"]).run()
    assert result.plot().axes[0].get_xlabel().startswith("consecutive_failures")
    assert len(result.plot(x=EJECT).axes[0].get_lines()) == 2
    assert result.plot("heatmap").axes[0].get_ylabel().startswith("eject_ms")
    with pytest.raises(ValueError, match="drawn over 2 parameters, and the sweep has 0"):
        halfopen.Sweep(scenario(), replicates=2).run().plot("heatmap")
    with pytest.raises(ValueError, match=f"did you mean '{EJECT}'"):
        result.plot(x="eject_ms", by=[FAILURES, EJECT])


def test_blocks_as_values_have_short_names_that_differ():
    blocks = [{"eject_ms": 2000, "consecutive_failures": 3}, {"eject_ms": 2000, "consecutive_failures": 9}]
    result = halfopen.Sweep(scenario(), {"/upstreams/0/health": blocks}, replicates=2).run()
    texts = [label.get_text() for label in result.plot(y="failed").axes[0].get_xticklabels()]
    assert len(set(texts)) == 2 and all(len(text) < 40 for text in texts)


def test_results_show_themselves_in_a_notebook():
    result = small_sweep().run()
    assert "16 runs, 4 points of 2 parameters" in result._repr_html_() and "<table>" in result._repr_html_()


def test_differences_may_be_below_zero_and_frames_are_the_callers():
    run = halfopen.run(scenario())
    assert (run.series["ok"] - run.series["requests"]).min() < 0
    frame = run.series.to_pandas()
    frame.loc[0, "requests"] = -1
    assert run.series["requests"][0] >= 0
