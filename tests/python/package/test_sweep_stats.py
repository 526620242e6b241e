"""Means, intervals and paired differences, against SciPy and against what is known."""

import numpy as np
import pytest
from scipy import stats as scipy_stats
from sweeps import EJECT, FAILURES, small_sweep

from halfopen import stats


def test_quantiles_of_students_t_are_scipys():
    for df in (1, 2, 3, 4.5, 9, 19, 99, 1000, 1e6):
        for p in (1e-6, 0.005, 0.025, 0.3, 0.5, 0.8, 0.975, 0.995, 0.999999):
            assert stats.t_quantile(p, df) == pytest.approx(scipy_stats.t.ppf(p, df), rel=1e-8, abs=1e-12), (p, df)
    for t in (-30, -2.5, -0.1, 0, 0.7, 4, 12):
        assert stats.t_cdf(t, 7) == pytest.approx(scipy_stats.t.cdf(t, 7), rel=1e-10)
    with pytest.raises(ValueError, match="needs 0 < p < 1"):
        stats.t_quantile(1, 3)


def test_an_estimate_by_t():
    values = np.random.default_rng(1).normal(5, 2, 12)
    low, high = scipy_stats.t.interval(0.9, 11, loc=values.mean(), scale=scipy_stats.sem(values))
    got = stats.estimate([*values, np.nan], level=0.9)
    assert got == pytest.approx((12, values.mean(), values.std(ddof=1), low, high), rel=1e-9)
    assert stats.estimate([3.0])[:2] == (1, 3.0) and np.isnan(stats.estimate([3.0])[2:]).all()
    assert stats.estimate([])[0] == 0 and np.isnan(stats.estimate([np.nan]).mean)
    assert stats.estimate([4, 4, 4]) == (3, 4, 0, 4, 4)


def test_an_estimate_by_bootstrap_is_scipys_but_for_the_luck():
    values = np.random.default_rng(2).exponential(1, 30)
    ours = stats.estimate(values, method="bootstrap")
    theirs = scipy_stats.bootstrap((values,), np.mean, method="percentile", n_resamples=9999, rng=3).confidence_interval
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.03)
    assert stats.estimate(values, method="bootstrap") == ours
    assert stats.estimate(values, method="t").low != ours.low


def test_intervals_hold_as_often_as_they_say():
    rng = np.random.default_rng(3)
    inside = [low <= 1 <= high for low, high in (stats.estimate(rng.normal(1, 3, 5), level=0.8)[3:] for _ in range(2000))]
    assert 0.77 < np.mean(inside) < 0.83


def test_summary_is_a_row_a_point_and_metric():
    result = small_sweep(replicates=6).run()
    summary = result.summary(["success_ratio", "missed"])
    assert list(summary.columns) == ["point", FAILURES, EJECT, "metric", "n", "mean", "std", "low", "high"]
    assert summary["point"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert summary["metric"].tolist() == ["success_ratio", "missed"] * 4
    frame = result.frame
    for row in summary.itertuples(index=False):
        values = frame[frame["point"] == row.point][row.metric]
        assert (row.n, row.mean, row.std) == pytest.approx((6, values.mean(), values.std()))
        assert row.low <= row.mean <= row.high
    wide = result.summary(["success_ratio"], level=0.99)
    assert (wide["high"] - wide["low"] > summary[summary["metric"] == "success_ratio"].reset_index()["high"] - summary[
        summary["metric"] == "success_ratio"].reset_index()["low"]).all()  # fmt: skip
    assert len(result.summary()) == 4 * len(result.metrics)


def test_what_was_not_measured_is_not_counted():
    result = small_sweep(replicates=3).run()
    columns = dict(result.table)
    columns["time_to_detect_ms"] = columns["time_to_detect_ms"].copy()
    columns["time_to_detect_ms"][:2] = np.nan
    result.table = type(result.table)(columns)
    first = result.summary(["time_to_detect_ms"]).iloc[0]
    assert first["n"] == 1 and first["mean"] == columns["time_to_detect_ms"][2] and np.isnan(first["low"])
    against = result.compare(3, ["time_to_detect_ms"]).iloc[0]
    assert against["n"] == 1 and against["baseline_mean"] == columns["time_to_detect_ms"][11]


def test_differences_are_paired_by_replicate():
    result = small_sweep(replicates=30).run()
    frame = result.frame
    compared = result.compare(2, ["failed"])
    assert compared["point"].tolist() == [0, 1, 3] and compared["baseline"].tolist() == [2, 2, 2]
    for row in compared.itertuples(index=False):
        mine, base = (frame[frame["point"] == point]["failed"].to_numpy() for point in (row.point, 2))
        test = scipy_stats.ttest_rel(mine, base).confidence_interval(0.95)
        assert (row.difference, row.low, row.high) == pytest.approx(((mine - base).mean(), test.low, test.high), rel=1e-9)
        assert (row.n, row.baseline_mean, row.std) == pytest.approx((30, base.mean(), (mine - base).std(ddof=1)))
    # The same luck at both points: the pairs tell more than the two means apart would.
    apart = [frame[frame["point"] == point]["requests"].to_numpy() for point in (0, 2)]
    assert np.array_equal(*apart)


def test_a_baseline_may_be_some_of_the_settings():
    result = small_sweep(metrics=["failed"]).run()
    compared = result.compare({FAILURES: 3.0})
    assert list(zip(compared["point"], compared["baseline"], strict=True)) == [(0, 2), (1, 3)]
    whole = result.compare({FAILURES: 3, EJECT: 2000})
    assert list(zip(whole["point"], whole["baseline"], strict=True)) == [(0, 2), (1, 2), (3, 2)]
    partly = small_sweep(where=lambda at: at != {FAILURES: 3, EJECT: 5000}, metrics=["failed"]).run()
    assert partly.compare({FAILURES: 3})["point"].tolist() == [0]
    some = small_sweep().run(range(1, 9))
    with pytest.raises(ValueError, match="point 3, the baseline of point 0, has no run"):
        some.compare(3)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda result: result.compare({FAILURES: 2}), "there is no such baseline"),
        (lambda result: result.compare({"/seed": 2}), "sets /seed, which is no parameter"),
        (lambda result: result.compare(4), "from 0 to 3"),
        (lambda result: result.summary(["mised"]), "no metric of this sweep"),
        (lambda result: result.summary("missed"), "a list of names"),
        (lambda result: result.summary(level=95), "between 0 and 1"),
        (lambda result: result.summary(method="z"), '"t" or "bootstrap"'),
    ],
)
def test_what_cannot_be_asked_is_told(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(small_sweep(replicates=1).run())
