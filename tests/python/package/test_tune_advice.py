"""Tuning: a recommendation that nobody regrets. What a brownout alone does not show is worked out, and what can't be shown is said."""

import json
import math

import numpy as np
import pytest
from sweeps import EJECT, FAILURES, SCENARIO, scenario

import halfopen
from halfopen.tuning import advice
from halfopen.tuning.goals import WORKED_OUT
from halfopen.tuning.healthy import Healths, Healthy
from halfopen.tuning.places import Entrant
from halfopen.tuning.words import lasting

BACKGROUND = {"latency": {"fixed": {"ms": 20}}, "faults": [{"error": {"ratio": 0.02}}]}
CHOICES = {FAILURES: [1, 2, 3, 4, 6]}


def tuned(objectives="min:failed", constraints=(), params=CHOICES, of=None, **more):
    options = {"trials": 9, "replicates": 9, "seed": 5, "progress": False} | more
    return halfopen.tune(scenario() if of is None else of, objectives, constraints, params=params, **options)


def quiet(**changes):
    return scenario(name="quiet", endpoints={"*": BACKGROUND}, **changes)


def flat(text):
    """Without line breaks."""
    return " ".join(text.split())


@pytest.fixture(scope="module")
def alone():
    return tuned(["min:failed", "min:false_ejections"])


@pytest.fixture(scope="module")
def both():
    return tuned(["min:failed", "min:false_ejections"], of=[scenario(), quiet()])


# ---- a healthy endpoint ------------------------------------------------------------------------------


def test_a_brownout_alone_does_not_make_one_error_eject(alone):
    free = tuned(healthy_ejections_per_day=None)
    assert free.recommended.settings == {FAILURES: 1}, "by the runs alone"
    assert [str(limit) for limit in alone.constraints] == [f"{WORKED_OUT}<=1"]
    assert alone.recommended.settings == {FAILURES: 3}, "what is there now: 1 and 2 meet 0.5 % errors too often"
    kept = {one.settings[FAILURES]: alone.searched_keeps(one) for one in alone.searched}
    assert kept == {1: False, 2: False, 3: True, 4: True, 6: True}
    assert tuned(healthy_ejections_per_day=30).recommended.settings == {FAILURES: 2}, "once in 3,000 s are 22 a day"
    assert tuned(constraints=f"{WORKED_OUT}<=30").recommended.settings == {FAILURES: 2}, "takes the place of the default"


def test_what_is_worked_out_is_what_analyze_says(alone):
    for one in alone.searched:
        (health,) = alone.healthy(one)["small brownout"]
        told = halfopen.analyze(scenario().with_(one.settings)).to_dict()["upstreams"][0]
        mean = told["ejection"]["healthy"]["mean_s"]
        assert health.low_s == pytest.approx(mean["low"], rel=1e-9) and health.high_s == pytest.approx(mean["high"], rel=1e-9)
        assert (health.error_ratio, health.source, health.rate_rps) == (0.005, "assumed", pytest.approx(10))
        assert (one.limits[0] == 86_400 / health.low_s).all()
    assert alone.healthy(alone.candidates[0]).keys() == {"small brownout"}


def test_the_ratio_of_a_healthy_endpoint_is_that_of_the_present_settings():
    """A failure_ratio below the background errors makes them no background any more, to analyze; to a search they are."""
    ratio = "/upstreams/0/health/failure_ratio"
    entrant = Entrant("quiet", quiet())
    healths = Healths([entrant], None, 1)
    (now,), (strict,) = healths.of(entrant, {}), healths.of(entrant, {ratio: 0.01})
    assert (now.error_ratio, now.source) == (strict.error_ratio, strict.source) == (0.02, "its lasting faults")
    assert healths.background == {"quiet"} and healths.apart == frozenset(), "no other is without"
    assert strict.low_s < now.low_s
    assert healths.per_day(entrant, [{}, {ratio: 0.01}]).tolist() == [now.per_day, strict.per_day]
    given = Healths([entrant], 0.001, 1)
    assert given.of(entrant, {})[0].error_ratio == 0.001 and given.background == {"quiet"}


def test_the_worst_upstream_counts_and_those_without_a_rate_do_not():
    data = scenario().to_dict()
    data["upstreams"].append({**data["upstreams"][0], "name": "b", "health": {"consecutive_failures": 1}})
    data["upstreams"].append({**data["upstreams"][0], "name": "no traffic"})
    data["upstreams"].append({"name": "no health", "endpoints": data["upstreams"][0]["endpoints"]})
    data["traffic"] += [{"upstream": "b", "arrivals": "poisson", "rate_rps": 30}, {"upstream": "no health", "arrivals": "uniform", "rate_rps": 30}]
    entrant = Entrant("x", halfopen.Scenario.from_dict(data))
    healths = Healths([entrant], None, 2)
    assert [one.upstream for one in healths.of(entrant, {})] == ["api", "b"]
    (per_day,) = healths.per_day(entrant, [{}])
    assert per_day == healths.of(entrant, {})[1].per_day == pytest.approx(4320)
    mine = Healths([entrant], None, 2, [FAILURES, "/upstreams/1/retries/attempts"])
    assert mine.per_day(entrant, [{}]) == healths.of(entrant, {})[0].per_day, "of what is searched, if health is"
    found = tuned(of=entrant.scenario, params={**CHOICES, "/upstreams/1/health/eject_ms": [1000, 2000]})
    assert found.recommended is None, "upstream b ejects healthy endpoints whatever api does"
    text = flat(found.report())
    assert "--healthy-ejections-per-day takes another limit, or any" in text
    free = tuned(of=entrant.scenario)
    assert free.recommended.settings == {FAILURES: 3}, "nobody asked about b"
    text = flat(free.report())
    assert text.index("b: 0.5 % errors (assumed)") < text.index("api: 0.5 % errors (assumed)"), "the worst one first"


def test_no_rate_no_constraint():
    users = scenario(traffic=[{"upstream": "api", "users": {"count": 5, "think_ms": 100}}])
    found = tuned(of=users, params={FAILURES: [1, 3]})
    assert found.constraints == () and f"{WORKED_OUT}<=1" in found.left_out
    assert f"left out: {WORKED_OUT}<=1" in flat(found.report()) and "A healthy endpoint, as" not in found.report()
    with pytest.raises(ValueError, match=f"{WORKED_OUT}<=2 was not measured"):
        tuned(constraints=f"{WORKED_OUT}<=2", of=users, params={FAILURES: [1, 3]})


def test_it_is_in_the_document(alone):
    now = alone.to_dict()["healthy_endpoint"]
    assert [(one["setting"], one["scenario"], one["upstream"]) for one in now] == [(0, "small brownout", "api")]
    assert now[0]["mean_s"]["low"] == alone.healthy(alone.now)["small brownout"][0].low_s
    assert now[0]["error_ratio"] == {"value": 0.005, "from": "assumed"} and now[0]["rate_rps"] == pytest.approx(10)
    free = tuned(healthy_ejections_per_day=None)
    assert [one["setting"] for one in free.to_dict()["healthy_endpoint"]] == [0, free.recommended.number]


def test_it_may_be_an_objective(tmp_path):
    found = tuned(["min:failed~50", f"min:{WORKED_OUT}"], healthy_ejections_per_day=None, store=tmp_path)
    assert found.recommended.settings[FAILURES] > 3, "what it costs is within the margin"
    estimate = found.estimate(found.recommended, 1)
    assert estimate.std == 0 and estimate.low == estimate.high == estimate.mean
    assert found.difference(found.now, found.recommended, 1).verdict == "worse"
    assert "± " not in next(line for line in found.report().splitlines() if line.startswith(f"  {WORKED_OUT}: "))
    only = tuned(f"min:{WORKED_OUT}", healthy_ejections_per_day=None)
    assert only.recommended.settings == {FAILURES: 6}


def test_the_same_value_in_every_run_has_no_width():
    from halfopen.tuning.judge import told

    assert np.std([0.1] * 20, ddof=1) > 0, "by rounding"
    assert told(np.array([0.1] * 20), 0.95)[1:] == (0.1, 0.0, 0.1, 0.1)
    assert told(np.array([0.1, 0.2]), 0.95).std > 0 and told(np.array([]), 0.95).n == 0


def test_words_of_a_healthy_endpoint():
    one = Healthy("api", 0.005, "assumed", 10, 200.0, 200.0, "")
    assert one.said == "ejected once in 3.33 minutes, 432 times a day in rotation"
    assert like(one, low_s=9e6, high_s=9e6).said == "ejected once in 104 days"
    assert like(one, low_s=9e6, high_s=math.inf).said == "ejected once in 104 days at the earliest"
    assert like(one, low_s=math.inf, high_s=math.inf).said == "never ejected"
    early = like(one, low_s=9e12, high_s=9e12, early=0.3245, window_s=60.0)
    assert early.said.endswith(", and with a chance of 32.5 % soon after a start or return")
    assert early.per_day == pytest.approx(0.3245 / 0.6755, rel=1e-6)
    assert not like(one, early=0.3, window_s=60.0).is_early  # the rate says it
    assert like(one, refused="it is too long").said == "no exact answer, because it is too long"
    assert like(one, low_s=1e6, high_s=9e6).said == "ejected once in 11.6 days at the earliest, 104 days at the latest"
    assert [lasting(seconds) for seconds in (0.05, 1, 100, 7199, 3600 * 24, 86_400 * 3, 1e9, 1e20)] == [
        "50 ms", "1 s", "100 s", "120 minutes", "24 hours", "3 days", "31.7 years", "over 1,000,000 years",
    ]  # fmt: skip


def like(one, **changes):
    return one._replace(**changes)


# ---- what runs can't show ----------------------------------------------------------------------------


def test_without_background_errors_it_is_said_how_to_add_them(alone):
    (said,) = alone.warnings
    assert said.startswith("The scenario has no background failures") and "false_ejections is 0 whatever is set" in said
    snippet = json.loads("{" + said[said.index('"endpoints"') : said.index(", and ask for")] + "}")
    assert snippet["endpoints"]["*"]["faults"] == [{"error": {"ratio": 0.005}}]
    added = halfopen.Scenario.from_dict({**SCENARIO, **snippet})
    assert Healths([Entrant("x", added)], None, 1).background == {"x"}, "what is advised is what is missing"
    for shown in (flat(alone.report()), alone.to_dict()["warnings"][0], alone._repr_html_()):
        assert "no background failures" in shown
    assert "at 0.5 % errors, which is assumed" in said
    assert "No constraint asks for it either" in tuned(healthy_ejections_per_day=None).warnings[0]
    assert "at 0.1 % errors, as was said" in tuned(healthy_error_ratio=0.001).warnings[0]


def test_false_ejections_that_runs_have_are_not_denied():
    slow = scenario(endpoints={"*": {"latency": {"exponential": {"mean_ms": 40}}}, **{
        "10.0.0.1:80": SCENARIO["endpoints"]["10.0.0.1:80"]}})  # fmt: skip
    data = slow.to_dict()
    data["upstreams"][0]["timeouts"] = {"read_ms": 60}
    found = tuned(["min:failed", "min:false_ejections"], of=halfopen.Scenario.from_dict(data), healthy_ejections_per_day=None)
    assert any(one.goals[1].any() for one in found.searched) and not any("background" in said for said in found.warnings)


def test_background_errors_are_a_fault_to_some_metrics(both):
    (said,) = both.warnings
    assert said.startswith("min:false_ejections: the background errors of quiet are a fault by this metric")
    assert WORKED_OUT in said and "ejections@NAME" in said
    assert both.recommended.settings[FAILURES] >= 4, "at 2 % errors 3 are met too often"
    named = tuned(["min:failed", "min:false_ejections@small brownout"], of=[scenario(), quiet()])
    assert named.warnings == ()
    single = tuned("min:time_to_detect_ms", "false_ejections<=0", of=quiet(), healthy_ejections_per_day=None)
    assert "min:time_to_detect_ms: the background errors of quiet are a fault by this metric, to be detected" in single.warnings[0]
    assert single.warnings[1].startswith("false_ejections<=0: the background errors of quiet") and len(single.warnings) == 2


def test_detection_is_of_scenarios_without_background_errors():
    """Nobody wants background errors detected: a setting that ejects for them would win."""
    goals = ["min:time_to_detect_ms", "min:missed", "min:failed"]
    two = tuned(goals, "missed<=1", of=[scenario(), quiet()], params={FAILURES: [3, 4]}, healthy_ejections_per_day=None)
    one = tuned(goals, "missed<=1", params={FAILURES: [3, 4]}, healthy_ejections_per_day=None)
    for k in (0, 1):
        assert np.array_equal(two.now.goals[k], one.now.goals[k])
        assert two.part(two.now, k, "quiet").n == 0 and two.part(two.now, k, "small brownout").n == 9
    assert [str(limit) for limit in two.constraints] == ["missed@small brownout<=1"]
    assert "min time_to_detect_ms, mean of the scenarios without background errors" in two.report()
    asked = tuned("min:missed@quiet", of=[scenario(), quiet()], params={FAILURES: [3, 4]}, healthy_ejections_per_day=None)
    assert asked.now.goals[0].min() >= 1 and "min:missed@quiet: the background errors" in asked.warnings[0]


def test_too_few_replicates_are_called_that():
    few = tuned(replicates=2, params={FAILURES: [1, 3, 6]}, healthy_ejections_per_day=None)
    assert any(said.startswith("Too few replicates to tell much: with 2 of them") for said in few.warnings)
    assert "too few replicates" in flat(few.report()) and not any("Too few" in said for said in tuned().warnings)


def test_settings_that_were_dropped_are_not_passed_over():
    found = tuned(trials=27, replicates=18, params={FAILURES: (1, 12), EJECT: (500, 20_000)})
    dropped, undecided = advice.undecided(found, found.recommended)
    assert dropped and all(one.replicates < 18 and found.searched_keeps(one) for one in dropped)
    mine = next(one for one in found.searched if one.number == found.recommended.number)
    for one in dropped:
        worse = any(each.verdict == "worse" for each in found.searched_differences(one, mine, len(dropped)))
        assert (one not in undecided) is worse
    assert f"by their means alone: {len(dropped)} settings that kept the constraints, of which" in flat(found.report())


# ---- what halfopen lint says -------------------------------------------------------------------------


def test_lint_is_asked_about_the_recommendation():
    found = tuned(healthy_ejections_per_day=None)
    assert found.recommended.settings == {FAILURES: 1}
    assert [(name, each.id) for name, each in found.findings] == [("small brownout", "false-ejections")]
    for shown in (flat(found.report()), found._repr_html_(), found.to_dict()["lint"][0]["id"]):
        assert "false-ejections" in shown
    assert f"halfopen lint says of setting {found.recommended.number}, and not of what is there now" in flat(found.report())
    there = tuned(of=scenario().with_({FAILURES: 2, "/traffic/0/rate_rps": 90}), params={FAILURES: [1, 2]}, healthy_ejections_per_day=None)
    assert there.recommended.settings == {FAILURES: 1} and there.findings == (), "it said so before"
    assert "says nothing of setting" in flat(there.report())


# ---- scenario by scenario ----------------------------------------------------------------------------


def test_each_scenario_is_told(both):
    chosen, now = both.recommended, both.now
    text = both.report()
    told = flat(text[text.index("Scenario by scenario") : text.index("A healthy endpoint, as")])
    for name, of in (("small brownout", scenario()), ("quiet", quiet())):
        table = halfopen.Sweep(of, points=[now.settings, chosen.settings], replicates=9, seed=both.fresh_seed, metrics=["failed"])
        means = table.run().summary_table()
        assert [both.part(one, 0, name).mean for one in (now, chosen)] == means["mean"].tolist()
        assert [both.part(one, 0, name).low for one in (now, chosen)] == pytest.approx(means["low"])
        change = both.part_difference(chosen, now, 0, name)
        assert change.estimate.mean == pytest.approx(means["mean"][1] - means["mean"][0])
        assert f"{name} failed: " in told
        assert both.to_dict()["confirmed"][-1]["by_scenario"][name]["failed"]["n"] == 9
    change = both.part_difference(chosen, now, 0, "small brownout").estimate
    alone = halfopen.stats.estimate(chosen.parts[0, 0] - now.parts[0, 0], 1 - 0.05 / 4)
    assert (change.low, change.high) == (alone.low, alone.high) and alone.std > 0, "two goals, two scenarios: they hold together"
    assert "Scenario by scenario" not in tuned().report(), "there is one"


def two_upstreams(first, second, **changes):
    """A scenario with two upstreams of these names; the faults are of `api`."""
    data = scenario(**changes).to_dict()
    block = data["upstreams"][0]
    other = {"name": "web", "endpoints": [{"address": "10.0.1.1", "port": 80}], "health": {"consecutive_failures": 5}}
    by_name = {"api": block, "web": other}
    data["upstreams"] = [by_name[first], by_name[second]]
    return halfopen.Scenario.from_dict(data)


def test_upstreams_are_matched_by_name():
    one, other = two_upstreams("api", "web"), two_upstreams("web", "api", name="turned around")
    found = tuned(of=[one, other], params=CHOICES, healthy_ejections_per_day=None)
    assert found.recommended.settings == {FAILURES: 1}
    assert np.array_equal(found.recommended.parts[0, 0], found.recommended.parts[0, 1]), "the same system, the same runs"
    assert f"--set {FAILURES}=1" in " ".join(found.command("small brownout"))
    assert "--set /upstreams/1/health/consecutive_failures=1" in " ".join(found.command("turned around"))
    assert "To paste into /upstreams/0 (upstream api): replaces the whole block health" in flat(found.report())
    space = halfopen.tuning.default_space([one, other])
    assert {name.split("/")[2] for name in space} == {"0", "1"}
    web = scenario(name="web alone").to_dict()
    web["upstreams"][0]["name"] = web["traffic"][0]["upstream"] = "web"
    lacking = halfopen.Scenario.from_dict(web)
    assert {name.split("/")[2] for name in halfopen.tuning.default_space([one, lacking])} == {"1"}, "the one that both have"
    with pytest.raises(ValueError, match=r"web alone has no upstream that /upstreams/0/.* could be of: it has web"):
        tuned(of=[one, lacking])
    with pytest.raises(ValueError, match=r"differ at /upstreams/1/health/consecutive_failures \(/upstreams/0/.* there\), 5 and 3"):
        tuned(of=[one, lacking], params={"/upstreams/1/health/consecutive_failures": [1, 3]})
    renamed = tuned(of=[scenario(), lacking], params=CHOICES, healthy_ejections_per_day=None)
    assert renamed.recommended.settings == {FAILURES: 1}, "two scenarios with a single upstream are matched whatever it is called"


def test_no_common_block_says_what_there_is():
    one, other = two_upstreams("api", "web"), scenario(name="third").to_dict()
    other["upstreams"][0]["name"] = other["traffic"][0]["upstream"] = "c"
    other["upstreams"].append({"name": "api", "endpoints": [{"address": "10.0.2.1", "port": 80}], "breaker": {}})
    with pytest.raises(ValueError, match=r"in all scenarios.*small brownout has api with health, web with health; third has c with health, api with breaker"):
        tuned(of=[one, halfopen.Scenario.from_dict(other)], params=None)


# ---- what is pasted, and what is refused -------------------------------------------------------------


def test_the_block_says_what_it_replaces(alone):
    found = tuned(healthy_ejections_per_day=None)
    assert "To paste into /upstreams/0 (upstream api): replaces the whole block health" in flat(found.report())
    assert "replaces the whole block health" in found._repr_html_()
    assert alone.recommended.number == 0 and "Nothing to paste: nothing changes." in alone.report()
    assert "Nothing to paste: nothing changes." in alone._repr_html_() and "To paste into" not in alone.report()


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({FAILURES: (0, 5)}, "consecutive_failures is a number from 1 to 4294967295; a range from 0 to 5 would go beyond"),
        ({FAILURES: (5, 0)}, "goes from a number to a larger one, not from 5 to 0"),
        ({FAILURES: (1.0, 5.5)}, "is a whole number, and so are the ends of its range"),
        ({"/upstreams/0/health/failure_ratio": (0.0, 0.5)}, "failure_ratio is a number above 0"),
        ({"/upstreams/0/health/failure_ratio": (0.1, 1.5)}, "would go beyond"),
        ({"/upstreams/0/health/consecutive_failure": (1, 5)}, "health has no setting consecutive_failure: did you mean consecutive_failures"),
        ({"/upstreams/3/health/eject_ms": (1000, 5000)}, "small brownout has no upstream 3; /upstreams/0 is api"),
        ({"/upstreams/0/active_health/kind": (1, 5)}, "kind is no number"),
    ],
)
def test_a_space_that_a_setting_cannot_have_is_refused(params, sentence):
    with pytest.raises(ValueError, match=sentence):
        tuned(params=params)


def test_an_older_optuna_is_named(monkeypatch):
    import optuna

    monkeypatch.setattr(optuna, "__version__", "4.6.0")
    with pytest.raises(ImportError, match=r"needs optuna 5 or newer, and 4.6.0 is installed: pip install --upgrade 'halfopen\[optuna\]'"):
        tuned()


def test_every_setting_that_is_compared_is_spelled_out():
    """With three replicates the search's front is partly luck: fresh seeds leave some of it behind, and they are compared all the same."""
    space = {FAILURES: [1, 2, 3, 4, 5, 6, 7], EJECT: [1000, 3000, 5000, 9000]}
    goals = ["min:failed", "min:survivor_load_max", "min:ejections"]
    found = tuned(goals, params=space, healthy_ejections_per_day=None, trials=14, replicates=3, seed=1)
    beyond = [one for one in found.confirmed if one not in found.compared]
    assert beyond, "settings that are off the front, and not the present ones"
    text = flat(found.report())
    for one in beyond:
        changes = [f"health/{pointer.split('/')[-1]} {value}" for pointer, value in found.changes(one).items()]
        assert f"({', '.join(changes)})" in text[text.index("replicate by replicate") :]
