"""Tuning: the best setting is found, bad ones cost little, what can't be told is said, and all of it can be run again."""

import csv
import io
import json
import pickle
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import optuna
import pyarrow.parquet
import pytest
from sweeps import EJECT, FAILURES, scenario

import halfopen
from halfopen.tuning import Constraint, Objective

START = "/upstreams/0/slow_start_ms"  # of endpoints that a reload adds: there is none
BALANCER = "/upstreams/0/load_balancer"
SPACE = {FAILURES: (1, 12), EJECT: halfopen.Range(500, 20_000, log=True)}


def tuned(objectives="min:failed", constraints=(), params=SPACE, of=None, **more):
    options = {"trials": 18, "replicates": 9, "seed": 5, "progress": False, "healthy_ejections_per_day": None} | more
    return halfopen.tune(scenario() if of is None else of, objectives, constraints, params=params, **options)


@pytest.fixture(scope="module")
def found():
    return tuned(["min:failed", "min:survivor_load_mean"])


def rows(store):
    return sum(pyarrow.parquet.read_metadata(path).num_rows for path in store.rglob("*.parquet"))


# ---- what is found -----------------------------------------------------------------------------------


def test_the_best_of_all_is_found():
    values = [1, 2, 3, 4, 6, 9, 12]
    found = tuned(params={FAILURES: values}, trials=12, replicates=12)
    every = halfopen.Sweep(scenario(), {FAILURES: values}, replicates=12, seed=5, metrics=["failed"]).run().summary()
    assert found.recommended.settings == {FAILURES: every.loc[every["mean"].idxmin(), FAILURES]} == {FAILURES: 1}
    assert len(found.candidates) == len(values) - 1, "the present 3 is not tried again, and nothing twice"
    assert sorted(one.settings[FAILURES] for one in found.candidates) == [1, 2, 4, 6, 9, 12]
    assert found.blocks() == {"/upstreams/0": {"health": {"consecutive_failures": 1, "eject_ms": 5000}}}
    assert json.loads(found.block) == {"health": {"consecutive_failures": 1, "eject_ms": 5000}}


def test_a_direction_turns_the_search_around():
    assert tuned("max:failed", params={FAILURES: [1, 3, 12]}).recommended.settings == {FAILURES: 12}
    assert tuned("max:success_ratio", params={FAILURES: [1, 3, 12]}).recommended.settings == {FAILURES: 1}


def test_the_front_is_beaten_by_nobody(found):
    labels = ["failed", "survivor_load_mean"]
    confirmed = [[found.estimate(one, k).mean for k in (0, 1)] for one in found.confirmed]
    for one, point in zip(found.confirmed, confirmed, strict=True):
        beaten = any(all(a <= b for a, b in zip(p, point, strict=True)) and p != point for p in confirmed)
        assert found.on_front(one) is not beaten
    table = found.pareto_table
    assert table["front"].sum() == sum(map(found.on_front, found.confirmed)) >= 2
    assert set(table["setting"][~table["front"]]) <= {0, found.recommended.number} and table["recommended"].sum() == 1
    assert all((table[f"{label} low"] <= table[label]).all() and (table[label] <= table[f"{label} high"]).all() for label in labels)
    assert list(found.pareto.columns)[:5] == ["setting", FAILURES, EJECT, "front", "recommended"]


def test_a_change_that_buys_nothing_is_taken_back():
    found = tuned(params={FAILURES: [1, 3], START: [1000, 2000]})
    assert found.recommended.settings == {FAILURES: 1, START: 0}
    assert found.changes(found.recommended) == {FAILURES: 1} and found.recommended.origin is not None
    assert found.recommended.origin in found.twins(found.recommended)
    assert "without changes that bought nothing" in found.report().replace("\n", " ")


def test_changes_are_taken_back_within_the_margin_and_the_constraints():
    space = {FAILURES: [1, 3], EJECT: [9000, 12_000]}
    exact, lazy = tuned("min:failed", params=space), tuned("min:failed~1", params=space)
    assert set(exact.changes(exact.recommended)) == {FAILURES, EJECT}, "a longer ejection loses fewer trials"
    assert lazy.changes(lazy.recommended) == {FAILURES: 1}
    bound = tuned("min:survivor_load_mean", "failed<=3", params={FAILURES: [1, 3], START: [1000, 2000]})
    assert bound.changes(bound.recommended) == {FAILURES: 1}, "without it the constraint is broken"


# ---- halving -----------------------------------------------------------------------------------------


def test_bad_settings_are_dropped_early(tmp_path):
    found = tuned(trials=27, replicates=18, store=tmp_path)
    table = found.table.take(found.table["plainer_than"] < 0)
    got = dict(zip(table["setting"].tolist(), table["replicates"].tolist(), strict=True))
    assert set(got.values()) == {2, 6, 18} and got.pop(0) == 18
    counts = np.bincount(list(got.values()))
    assert counts[2] >= 14 and counts[6] >= 2 and counts[18] <= 9
    worst = max(found.candidates, key=lambda one: one.goals[0, :2].mean())
    assert worst.replicates == 2
    assert found.runs == found.table["replicates"].sum() + 18 * len(found.confirmed) == rows(tmp_path)
    assert found.runs - found.confirming < 0.5 * (found.runs_in_full - found.confirming)


def test_rungs():
    from halfopen.tuning.search import rungs

    assert [rungs(n) for n in (2, 5, 6, 9, 18, 20, 54)] == [(2,), (5,), (2, 6), (3, 9), (2, 6, 18), (2, 6, 20), (2, 6, 18, 54)]


# ---- what can't be told ------------------------------------------------------------------------------


def test_settings_that_do_the_same_are_said_to():
    found = tuned(params={START: [0, 1000, 2000]}, trials=9)
    assert found.recommended.number == 0 and found.twins(found.now) == (1, 2)
    assert found.confirmed == (found.now,), "nothing is left to compare"
    text = found.report()
    assert "Recommended: what is there now" in text and "the same in every run of the search: 1, 2" in text


def test_settings_that_differ_by_luck_are_not_told_apart():
    found = tuned(params={EJECT: [5000, 7100]}, replicates=4, trials=4)
    assert found.recommended.number == 0
    for one in found.confirmed[1:]:
        assert found.difference(one, found.now, 0).verdict == "open"
        assert "can't be told apart" in found.report()
    assert len(found.confirmed) == 2


def test_a_margin_says_what_does_not_matter():
    assert tuned("min:failed", params={FAILURES: [1, 2, 3]}).recommended.settings == {FAILURES: 1}
    lazy = tuned("min:failed~1000", params={FAILURES: [1, 2, 3]})
    assert lazy.recommended.number == 0
    assert {lazy.difference(one, lazy.now, 0).verdict for one in lazy.confirmed[1:]} == {"margin"}
    assert "within the margin" in lazy.report()


def test_means_are_of_seeds_that_had_no_part_in_the_choice(found):
    assert (found.seed, found.fresh_seed) == (5, 14)
    points = [one.settings for one in found.confirmed]
    table = halfopen.Sweep(scenario(), points=points, replicates=9, seed=14, metrics=["failed"]).run().summary_table()
    for one, mean, low, high in zip(found.confirmed, table["mean"], table["low"], table["high"], strict=True):
        assert (found.estimate(one, 0).mean, found.estimate(one, 0).low, found.estimate(one, 0).high) == (mean, low, high)


# ---- constraints -------------------------------------------------------------------------------------


def test_constraints_that_nothing_keeps_are_said():
    found = tuned(constraints="failed<=0", params={FAILURES: [1, 2, 9]})
    assert found.recommended is None and found.blocks() == {} and found.pareto_table["front"].sum() == 0
    assert len(found.confirmed) == 2 and found.confirmed[1].settings == {FAILURES: 1}, "the nearest"
    text = found.report()
    assert "No setting that was tried keeps the constraints" in text and "BROKEN: " in text and "To paste" not in text and "Pareto" not in text
    assert "none keeps" in repr(found) and json.loads(found.to_json())["recommended"] is None


def test_a_constraint_chooses():
    free = tuned("min:failed", params={FAILURES: [1, 2, 3, 6, 12]})
    bound = free.estimate(free.recommended, 0)
    kept = tuned("max:failed", ["failed<=10"], params={FAILURES: [1, 2, 3, 6, 12]})
    assert free.recommended.settings == {FAILURES: 1} and bound.mean < 10
    assert all(kept.limit(one, 0).mean <= 10 for one in kept.confirmed if kept.on_front(one))
    assert kept.recommended.settings[FAILURES] not in (6, 12)
    none = tuned("min:failed", ["false_ejections<=0"], params={FAILURES: [1, 3]})
    assert "kept: 0 in all 9 runs; at 0.95, fewer than 0.3329 a run" in none.report().replace("\n  ", " ")


# ---- several scenarios -------------------------------------------------------------------------------


def calm():
    return scenario(name="calm", endpoints={"*": {"latency": {"fixed": {"ms": 20}}}})


def test_several_scenarios_are_one_objective():
    both = tuned(["min:failed", "min:time_to_detect_ms", "min:requests@calm"], of=[scenario(), calm()], params={FAILURES: [1, 3]})
    alone = tuned(["min:failed", "min:time_to_detect_ms"], params={FAILURES: [1, 3]})
    now = halfopen.Sweep(calm(), replicates=9, seed=14, metrics=["requests", "failed"]).run().table
    assert np.array_equal(both.now.goals[0], (alone.now.goals[0] + now["failed"]) / 2)
    assert np.array_equal(both.now.goals[1], alone.now.goals[1]), "nothing is detected where nothing fails"
    assert np.array_equal(both.now.goals[2], now["requests"])
    limited = tuned("min:failed", ["failed<=3"], of=[scenario(), calm()], params={FAILURES: [1, 12]})
    assert [str(one) for one in limited.constraints] == ["failed@small brownout<=3", "failed@calm<=3"]
    assert limited.recommended.settings == {FAILURES: 1}


def test_goals_that_cannot_be_measured():
    found = tuned(None, of=calm(), params={FAILURES: [1, 3]}, replicates=2)
    assert [goal.metric for goal in found.objectives] == ["failed", "false_ejections", "survivor_load_max"]
    assert "left out: min:time_to_detect_ms" in found.report()
    with pytest.raises(ValueError, match="min:time_to_detect_ms was not measured in any replicate"):
        tuned("min:time_to_detect_ms", of=calm())
    with pytest.raises(ValueError, match="time_to_return_ms<=5 was not measured"):
        tuned("min:failed", ["time_to_return_ms<=5"], of=calm())


# ---- again -------------------------------------------------------------------------------------------


def test_the_same_call_gives_the_same_bytes(found, tmp_path):
    threads = tuned(["min:failed", "min:survivor_load_mean"], threads=1, store=tmp_path)
    with ThreadPoolExecutor(2) as executor:
        pooled = tuned(["min:failed", "min:survivor_load_mean"], executor=executor)
    for other in (threads, pooled, tuned(["min:failed", "min:survivor_load_mean"], store=tmp_path)):
        assert (other.report(), other.to_json(), other._repr_html_()) == (found.report(), found.to_json(), found._repr_html_())
    assert rows(tmp_path) == found.runs, "the second time everything was there"
    assert tuned(["min:failed", "min:survivor_load_mean"], seed=6).report() != found.report()


def test_seeds_and_commands_reproduce_what_is_said(cli, tmp_path):
    (tmp_path / "small.json").write_text(json.dumps(scenario().to_dict()))
    found = tuned(["min:failed"], of=halfopen.Scenario.load(tmp_path / "small.json", set={"/traffic/0/rate_rps": 40}))
    (told,) = (found.command(name) for name in found.scenarios)
    assert "/traffic/0/rate_rps=40" in told
    assert told[:2] == ["halfopen", "sweep"] and told[told.index("--seed") + 1] == "14"
    out = subprocess.run([cli, *told[1:]], capture_output=True, check=True, text=True).stdout
    lines = list(csv.DictReader(io.StringIO(out)))
    assert [float(line["failed"]) for line in lines] == found.recommended.goals[0].tolist()
    assert [int(line["seed"]) for line in lines] == list(range(14, 23))


def test_a_sampler_of_optuna_may_be_given():
    found = tuned(sampler=optuna.samplers.RandomSampler(seed=1))
    assert [one.settings for one in found.candidates] != [one.settings for one in tuned().candidates]
    assert found.recommended.settings[FAILURES] <= 2


class Spy(optuna.samplers.RandomSampler):
    """Remembers the study that it is asked by."""

    study: optuna.Study

    def infer_relative_search_space(self, study, trial):
        self.study = study
        return super().infer_relative_search_space(study, trial)


def test_optuna_is_told_means_and_how_constraints_are_broken():
    spy = Spy(seed=3)
    found = tuned(["min:failed", "max:success_ratio"], ["failed<=4", "missed<=0"], sampler=spy, params={FAILURES: (1, 12)})
    told = spy.study.get_trials(states=[optuna.trial.TrialState.COMPLETE])
    assert [direction.name for direction in spy.study.directions] == ["MINIMIZE", "MAXIMIZE"]
    assert told[0].params == {FAILURES: 3} and len(told) == 1 + len([one for one in found.candidates if one.origin is None])
    broken = {trial.params[FAILURES]: trial.constraints["failed<=4"] for trial in told}
    assert broken[1] == 0 and broken[3] == (told[0].values[0] - 4) / 4 > 0 and broken[12] > broken[3]
    alone = halfopen.Sweep(scenario(), {FAILURES: [told[-1].params[FAILURES]]}, replicates=9, seed=5).run().table["failed"]
    assert told[-1].values[0] in (alone[:3].mean(), alone.mean())


def test_optuna_and_numpy_say_nothing(capfd):
    before = optuna.logging.get_verbosity()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tuned(None, ["missed<=1"], replicates=4, trials=5)
    assert capfd.readouterr() == ("", "") and optuna.logging.get_verbosity() == before


# ---- what can't be tuned -----------------------------------------------------------------------------


def test_settings_that_make_no_scenario_are_told():
    active = {"/upstreams/0/active_health/timeout_ms": (500, 3000), "/upstreams/0/active_health/interval_ms": (500, 3000)}
    data = scenario().to_dict()
    data["upstreams"][0]["active_health"] = {"interval_ms": 2000, "timeout_ms": 1000}
    found = tuned(of=halfopen.Scenario.from_dict(data), params=active)
    assert found.refused and len([one for one in found.candidates if one.origin is None]) == 18, "others took their place"
    assert all(one.settings[list(active)[0]] <= one.settings[list(active)[1]] for one in found.candidates)
    assert "made no usable scenario" in found.report()
    with pytest.raises(ValueError, match=r"none of the settings that were tried makes a scenario:\n.*load_balancer"):
        tuned(params={BALANCER: ["best", "worst"]})


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: tuned("min:faild"), "did you mean 'failed'"),
        (lambda: tuned("failed"), "one looks like min:failed"),
        (lambda: tuned("min:failed~-1"), "from 0"),
        (lambda: tuned("min:failed~x"), "'x' is no number"),
        (lambda: tuned("min:failed@calm"), "there is no scenario 'calm'; there are small brownout"),
        (lambda: tuned(["min:failed", "max:failed"]), "failed is an objective twice"),
        (lambda: tuned(Objective("faild")), "did you mean 'failed'"),
        (lambda: Objective("failed", "low"), "is min or max, not 'low'"),
        (lambda: Constraint("failed", 3, "<"), "is <= or >=, not '<'"),
        (lambda: Constraint("failed", float("inf")), "is a number, not inf"),
        (lambda: tuned(constraints="failed<3"), "no constraint"),
        (lambda: tuned(constraints="failed<=nan"), "is no number"),
        (lambda: tuned(trials=0), "trials is 0: it must be a whole number from 1"),
        (lambda: tuned(replicates=1), "replicates is 1: it must be a whole number from 2"),
        (lambda: tuned(level=95), "level is 95: it must be a number from 0 to 1"),
        (lambda: tuned(level=1), "between 0 and 1"),
        (lambda: tuned(seed=-1), "seed is -1: it must be a whole number from 0"),
        (lambda: tuned(of=[scenario(), scenario()]), "two scenarios are called 'small brownout'"),
        (lambda: tuned(of=[]), "there is no scenario"),
        (lambda: tuned(params={}), "the space is empty"),
        (lambda: tuned(params={"eject_ms": (1, 2)}), "is no JSON pointer"),
        (lambda: tuned(of={"a": scenario(), "b": scenario().with_({FAILURES: 7})}), "a and b differ at .*, 3 and 7"),
        (lambda: tuned(params={FAILURES: [3]}, of=scenario()), "nothing to try"),
    ],
)
def test_what_cannot_be_tuned_is_told(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_what_is_no_scenario_and_what_is_missing(monkeypatch):
    with pytest.raises(TypeError, match="takes halfopen.Scenario, not str"):
        tuned(of=["x.json"])
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r"pip install 'halfopen\[optuna\]'"):
        tuned()


# ---- how it looks ------------------------------------------------------------------------------------


def test_the_report_fits_and_says_what_to_paste(found):
    text = found.report()
    assert max(map(len, text.splitlines())) <= 80
    paste = text[text.index("To paste into /upstreams/0") :].split("\n\n")[0].split("\n", 1)[1]
    assert json.loads(paste) == found.blocks()["/upstreams/0"]
    html = found._repr_html_()
    assert html.count("<tr>") == 1 + found.pareto_table.rows
    assert "<script" not in html and html.count("<") == html.count(">") and "<td>none</td>" in html
    assert html.count("<details>") == found.pareto_table.rows - 1, "all but what is there now have changes"
    assert pickle.loads(pickle.dumps(found)).report() == text
    document = json.loads(found.to_json())
    assert document["paste"] == found.blocks() and len(document["tried"]) == len(found.candidates)


def test_the_front_is_drawn(found):
    figure = found.plot()
    (axes,) = figure.axes
    assert axes.get_xlabel().startswith("survivor_load_mean") and axes.get_ylabel().startswith("failed")
    assert f"of {len(found.confirmed)} settings" in axes.get_title(loc="left")
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert f"setting {found.recommended.number}" in " ".join(names)
    with pytest.raises(ValueError, match="no objective of this search"):
        found.plot("missed")
    with pytest.raises(ValueError, match="a front needs two objectives"):
        tuned(replicates=2, trials=2).plot()


def test_objectives_as_values():
    assert str(Objective("failed", "max", "calm", 2.5)) == "max:failed@calm~2.5"
    assert Objective.of("max:failed@calm~2.5") == Objective("failed", "max", "calm", 2.5)
    assert tuned(Objective("failed"), params={FAILURES: [1, 3]}).recommended.settings == {FAILURES: 1}
