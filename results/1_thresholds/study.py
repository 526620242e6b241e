"""Study 1: thresholds against false ejections across traffic rates. See README.md beside it."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import halfopen
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from halfopen import build
from halfopen.stats import Estimate
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from studies import NEVER, STANDARD_ERRORS, Claim, Part, Point, Study, agrees, between, endpoints, mean, reach, rows, said

RATES_RPS = (1, 4, 16, 64, 256)  # requests a second and endpoint
ENDPOINTS, HOUR_MS, REPLICATES, SEED = 4, 3_600_000, 10, 7
ERRORS = 0.005  # of a well endpoint's answers, each by itself
GAP_MS, SPELL_MS, SPELL_ERRORS = 60_000, 250, 0.9  # and now and then a spell, in which most fail
OTHER_SPELLS_MS = (100, 1000)
SICK_FROM_MS, SICK_TO_MS, SICK_SHARES = 30_000, 150_000, (0.6, 1.0)
EJECT_MS = 30_000  # the default
ALONE_RPS, ALONE_REPLICATES = 16, 400  # one endpoint without spells, for the exact models
HEALTH = "/upstreams/0/health"
SPELLS = ENDPOINTS * REPLICATES * HOUR_MS // (GAP_MS + SPELL_MS)  # of a point, on average


class Rule(NamedTuple):
    """When to eject: the settings that a gateway has."""

    consecutive_failures: int = NEVER
    failure_ratio: float = 1.0
    failure_min_volume: int = NEVER
    window_ms: int = 60_000

    def settings(self) -> dict[str, float]:
        return {f"{HEALTH}/{name}": value for name, value in self._asdict().items()}


def by_rate(rate_rps: float) -> Rule:
    """As many failures in a row as come in one second, but 5; half of what comes in two seconds, but 10, in a window that holds three times as many."""
    volume = max(10, round(2 * rate_rps))
    return Rule(max(5, round(rate_rps)), 0.5, volume, max(10_000, round(3 * volume / rate_rps * 1000)))


FIXED = {
    "streak 5": Rule(5),
    "streak 10": Rule(10),
    "streak 30": Rule(30),
    "ratio, 20 in 60 s": Rule(NEVER, 0.5, 20, 60_000),
    "ratio, 20 in 10 s": Rule(NEVER, 0.5, 20, 10_000),
    "ratio, 20 in 2 s": Rule(NEVER, 0.5, 20, 2000),
    "default": Rule(5, 0.5, 20, 60_000),
}
BY_RATE = "by rate"
RULES = (*FIXED, BY_RATE)
ALONE = {"streak 5": (0.2, 0.4, 0.6, 1.0), "default": (0.2, 0.4, 0.6, 1.0), BY_RATE: (0.5, 0.6, 0.8, 1.0)}  # answers that fail


def rule_of(name: str, rate_rps: float) -> Rule:
    return by_rate(rate_rps) if name == BY_RATE else FIXED[name]


def scenario(name: str, duration_ms: int, behaviours: dict[str, build.Behaviour]) -> halfopen.Scenario:
    latency = build.Latency(lognormal=build.Lognormal(p50_ms=20, p99_ms=200))
    return halfopen.Scenario.of(
        name=name,
        question="Which thresholds leave a well endpoint in rotation, and find a sick one?",
        duration_ms=duration_ms,
        sample_ms=10_000,
        upstreams=[build.Upstream(name="api", endpoints=endpoints(ENDPOINTS), health=build.Health(), late_reports="ignore")],
        endpoints={"*": {"latency": latency, **behaviours.pop("*", {})}, **behaviours},
        traffic=[build.Traffic(upstream="api", arrivals="poisson", rate_rps=ENDPOINTS)],
    )


def well() -> halfopen.Scenario:
    spells = build.Bursts(mean_good_ms=GAP_MS, mean_bad_ms=SPELL_MS, error_ratio=SPELL_ERRORS)
    return scenario("well endpoints", HOUR_MS, {"*": {"faults": [{"error": {"ratio": ERRORS}}, {"bursts": spells}]}})


def sick() -> halfopen.Scenario:
    fault = build.Fault(from_ms=SICK_FROM_MS, to_ms=SICK_TO_MS, error=build.Error(ratio=1.0))
    return scenario("one sick endpoint of four", SICK_TO_MS, {"10.0.0.1:8080": {"faults": [fault]}})


def alone() -> halfopen.Scenario:
    """What the exact models speak of: one endpoint, empty windows, a share of its answers fails, each by itself, and they come at once."""
    error = build.Behaviour(latency=build.Latency(fixed=build.Fixed(ms=0)), faults=[build.Fault(error=build.Error(ratio=1.0))])
    changes = {"/upstreams/0/endpoints": endpoints(1), "/endpoints/*": error, "/traffic/0/rate_rps": ALONE_RPS}
    return scenario("single errors", HOUR_MS, {}).with_(changes)


def point(rate_rps: float, rule: str, spell_ms: int, sick_share: float) -> Point:
    settings = {"/traffic/0/rate_rps": ENDPOINTS * rate_rps, **rule_of(rule, rate_rps).settings()}
    if sick_share:
        settings["/endpoints/10.0.0.1:8080/faults/0/error/ratio"] = sick_share
    else:
        settings["/endpoints/*/faults/1/bursts/mean_bad_ms"] = spell_ms
    return Point({"rate_rps": rate_rps, "rule": rule, "spell_ms": spell_ms, "sick_share": sick_share}, settings)


def alone_point(rule: str, share: float) -> Point:
    settings = {"/endpoints/*/faults/0/error/ratio": share, **rule_of(rule, ALONE_RPS).settings()}
    return Point({"rate_rps": ALONE_RPS, "rule": rule, "spell_ms": 0, "sick_share": share}, settings)


def parts() -> list[Part]:
    calm = [point(rate, rule, SPELL_MS, 0) for rate in RATES_RPS for rule in RULES]
    other = [point(64, rule, spell, 0) for spell in OTHER_SPELLS_MS for rule in RULES]
    ill = [point(rate, rule, 0, share) for share in SICK_SHARES for rate in RATES_RPS for rule in RULES]
    return [
        Part("well", well(), calm, REPLICATES, SEED, lambda labels: labels["rate_rps"] in (1, 16)),
        Part("other spells", well(), other, REPLICATES, SEED, lambda labels: labels["rule"] == BY_RATE),
        Part("single errors", alone(), [alone_point(rule, share) for rule, shares in ALONE.items() for share in shares],
             ALONE_REPLICATES, SEED, lambda labels: labels["sick_share"] >= 0.4),
        Part("sick", sick(), ill, REPLICATES, SEED, lambda labels: labels["rate_rps"] <= 16),
    ]


LOOKS = {
    "streak 5": ("#b9470e", "s", "dashed"),
    "streak 10": ("#e08a1e", "P", "dashed"),
    "streak 30": ("#8a6d00", "^", "dashed"),
    "ratio, 20 in 60 s": ("#7d3c98", "v", "dotted"),
    "ratio, 20 in 10 s": ("#c06bb0", "<", "dotted"),
    "ratio, 20 in 2 s": ("#5c5c5c", "x", "dotted"),
    "default": ("#3a3a3a", "D", "dashdot"),
    BY_RATE: ("#1b4f72", "o", "solid"),
}
PER_100_SPELLS = 100 * REPLICATES / SPELLS  # of a run's ejections


def false_ejections(data: pd.DataFrame, rule: str, rate_rps: float, part: str = "well", spell_ms: int = SPELL_MS) -> pd.Series:
    """For each 100 spells, by run: nobody is sick, every ejection is false."""
    return rows(data, part=part, rule=rule, rate_rps=rate_rps, spell_ms=spell_ms)["ejections"] * PER_100_SPELLS


def digits_of(time_ms: float) -> int:
    return 0 if time_ms >= 10_000 else 1 if time_ms >= 1000 else 2


def sick_ones(data: pd.DataFrame, rule: str, rate_rps: float, share: float) -> pd.DataFrame:
    return rows(data, part="sick", rule=rule, rate_rps=rate_rps, sick_share=share)


def found_s(data: pd.DataFrame, rule: str, rate_rps: float, share: float) -> str:
    runs = sick_ones(data, rule, rate_rps, share)
    missed = runs["missed"].sum()
    if missed == len(runs):
        return "never"
    estimate = mean(runs["time_to_detect_ms"].dropna())
    return f"{between(estimate, digits_of(estimate.mean), 0.001)} s" + (f", {said(100 * missed / len(runs))} % never" if missed else "")


def exactly_s(rule: str, rate_rps: float, share: float) -> tuple[float, float]:
    """What `halfopen.analyze` says: least and greatest mean time until an endpoint is ejected that fails this share of its answers."""
    settings = {"/traffic/0/rate_rps": rate_rps, **rule_of(rule, rate_rps).settings()}
    (answer,) = halfopen.analyze(alone().with_(settings), healthy_error_ratio=share).to_dict()["upstreams"]
    low, high = (answer["ejection"]["healthy"]["mean_s"][end] for end in ("low", "high"))
    return (math.inf if low is None else low, math.inf if high is None else high)


def alone_s(data: pd.DataFrame, rule: str, share: float) -> Estimate:
    runs = rows(data, part="single errors", rule=rule, sick_share=share)
    if runs["missed"].any():
        raise ValueError(f"{rule}, {share}: an hour is too short, its mean would be too low")
    return mean(runs["time_to_detect_ms"])


def draw(data: pd.DataFrame) -> Figure:
    figure, panes = plt.subplots(2, 2, figsize=(12.5, 9), layout="constrained")
    (wells, exacts), sicks = panes
    for n, (rule, (colour, mark, dash)) in enumerate(LOOKS.items()):
        style: dict[str, Any] = {"color": colour, "marker": mark, "linestyle": dash, "label": rule, "markersize": 6, "capsize": 3}
        shifted = [rate * 1.06 ** (n - 3.5) for rate in RATES_RPS]  # so that marks do not hide each other
        rates = [mean(false_ejections(data, rule, rate)) for rate in RATES_RPS]
        wells.errorbar(shifted, [one.mean for one in rates], yerr=reach(rates), **style)
        for pane, share in zip(sicks, SICK_SHARES, strict=True):
            times = [mean(sick_ones(data, rule, rate, share)["time_to_detect_ms"] / 1000) for rate in RATES_RPS]
            pane.errorbar(shifted, [one.mean for one in times], yerr=reach(times), **style)
    wells.set_yscale("symlog", linthresh=1)
    wells.set_ylim(-0.1, 130)
    wells.set_yticks([0, 0.5, 1, 3, 10, 30, 100], ["0", "0.5", "1", "3", "10", "30", "100"])
    wells.set(title="Well endpoints with spells: a streak by the rate has few false ejections", ylabel="false ejections for each 100 spells")
    for pane, share in zip(sicks, SICK_SHARES, strict=True):
        pane.set_yscale("log")
        pane.set_ylim(0.01, 150)
        pane.set_yticks([0.01, 0.1, 1, 10, 100], ["0.01", "0.1", "1", "10", "100"])
        pane.set(title=f"An endpoint that fails {100 * share:.0f} %: what is safe takes longer", ylabel="time until it is ejected (s)")
    for pane in (wells, *sicks):
        pane.set_xscale("log")
        pane.set_xticks(RATES_RPS, [str(rate) for rate in RATES_RPS])
        pane.minorticks_off()
        pane.set_xlabel("requests a second and endpoint")
        pane.grid(color="#d8dee4")
    draw_exact(exacts, data)
    figure.legend(*wells.get_legend_handles_labels(), loc="outside lower center", ncols=len(LOOKS), frameon=False)
    return figure


def draw_exact(pane: Axes, data: pd.DataFrame) -> None:
    """Simulated means over what the exact models say; between its two bounds where these differ."""
    for n, (rule, shares) in enumerate(ALONE.items()):
        colour, mark, dash = LOOKS[rule]
        finely = np.linspace(min(shares), 1, 41)
        low, high = np.array([exactly_s(rule, ALONE_RPS, float(share)) for share in finely]).T
        pane.plot(finely * 100, low, color=colour, linestyle=dash, linewidth=1.5)
        pane.fill_between(finely * 100, low, np.minimum(high, 1e9), where=high > 1.02 * low, color=colour, alpha=0.15, linewidth=0)
        found = [alone_s(data, rule, share) for share in shares]
        places = [100 * share + 0.7 * (n - 1) for share in shares]
        times, bars = [one.mean / 1000 for one in found], np.array(reach(found)) / 1000
        pane.errorbar(places, times, yerr=bars, color=colour, marker=mark, linestyle="none", markersize=6, capsize=3)
    pane.set_yscale("log")
    pane.set_ylim(0.1, 1000)
    pane.set_yticks([0.1, 1, 10, 100, 1000], ["0.1", "1", "10", "100", "1000"])
    pane.minorticks_off()
    pane.set(title="No spells: exact models (lines, shaded between bounds) and\nsimulation (marks) agree", ylabel="mean time until it is ejected (s)")
    pane.set_xlabel(f"answers that fail, each by itself (%), at {ALONE_RPS} requests a second")
    pane.grid(color="#d8dee4")


def table_claims(data: pd.DataFrame) -> Iterator[Claim]:
    for rule in RULES:
        cells = [between(mean(false_ejections(data, rule, rate)), 1) for rate in RATES_RPS]
        yield Claim(f"| {rule} | {' | '.join(cells)} |")
    for rule in RULES:
        cells = [found_s(data, rule, rate, share) for share in SICK_SHARES for rate in (1, 16, 256)]
        yield Claim(f"| {rule} | {' | '.join(cells)} |")
    for rule in ("default", "ratio, 20 in 10 s", BY_RATE):
        cells = [between(mean(false_ejections(data, rule, 64, "other spells", spell)), 1) for spell in OTHER_SPELLS_MS]
        yield Claim(f"| {rule} | {cells[0]} | {between(mean(false_ejections(data, rule, 64)), 1)} | {cells[1]} |")


def exact_claims(data: pd.DataFrame) -> Iterator[Claim]:
    """Each judges the other: the page does not stand if they part."""
    inside = []
    for rule, shares in ALONE.items():
        for share in shares:
            low, high = exactly_s(rule, ALONE_RPS, share)
            found = alone_s(data, rule, share)
            exact = " to ".join(dict.fromkeys(said(one, digits_of(100 * one)) for one in (low, high)))  # a digit more than elsewhere
            simulated = between(found, digits_of(100 * low), 0.001)
            yield Claim(f"| {rule} | {100 * share:.0f} % | {exact} s | {simulated} s |", agrees(found, 1000 * low, 1000 * high))
            inside.append(found.low <= 1000 * high and 1000 * low <= found.high)
    yield Claim(f"{sum(inside)} of the {len(inside)} intervals reach what is exact, all within {STANDARD_ERRORS:g} standard errors")
    cells = [(exactly_s("streak 5", rate, share)[0], sick_ones(data, "streak 5", rate, share)) for share in SICK_SHARES for rate in (1, 16, 256)]
    yield Claim(f"| streak 5, exact | {' | '.join(f'{said(time, digits_of(1000 * time))} s' for time, _ in cells)} |")
    hits = [agrees(mean(runs["time_to_detect_ms"]), 1000 * time, 1000 * time) for time, runs in cells]
    yield Claim("Its exact means bear out the simulated ones, all but the last: there answers take longer than five requests to come", hits == [True] * 5 + [False])
    years = exactly_s("default", 256, ERRORS)[0] / (365.25 * 24 * 3600)
    yield Claim(f"at 0.5 % of single errors the default ejects a well endpoint once in {said(years)} years at 256 requests a second", ERRORS == 0.005)


def setting_claims() -> Iterator[Claim]:
    defaults, ours = halfopen.EndpointHealth().params, FIXED["default"]._asdict()
    text = f"half of {defaults['failure_min_volume']} in {defaults['window_ms'] // 1000} s"
    yield Claim(f'"default" is {defaults["consecutive_failures"]} in a row or {text}', ours == {name: defaults[name] for name in ours})
    yield Claim(f"An hour, ten seeds: {ENDPOINTS * REPLICATES} endpoint-hours in each cell", (HOUR_MS, REPLICATES) == (3_600_000, 10))
    yield Claim(f"at {RATES_RPS[-1]} requests a second, 5 are {said(5000 / RATES_RPS[-1])} ms of trouble")
    yield Claim("One second of streak is four times the spells of this study", 4 * SPELL_MS == 1000)


def claims(data: pd.DataFrame) -> Iterator[Claim]:
    yield from setting_claims()
    yield from table_claims(data)
    yield from exact_claims(data)
    default = [false_ejections(data, "default", rate) for rate in RATES_RPS]
    same = all((false_ejections(data, "streak 5", rate).to_numpy() == one.to_numpy()).all() for rate, one in zip(RATES_RPS, default, strict=True))
    yield Claim("In none of the 50 pairs of runs did its ratio eject a well endpoint that its streak had not", same and len(default) * REPLICATES == 50)
    times = [rows(data, part="sick", rule=rule)["time_to_detect_ms"].to_numpy() for rule in ("default", "streak 5")]
    yield Claim(f"in {sum(times[0] == times[1])} of {len(times[0])} a sick one is out at the same instant, by the streak")
    worst = [mean(false_ejections(data, BY_RATE, rate)) for rate in RATES_RPS]
    yield Claim(f"at most {said(max(one.mean for one in worst), 1)} false ejections for each 100 spells at any of the five rates", len(worst) == 5)
    high, low = mean(default[-1]), mean(default[0])
    out = 100 * rows(data, part="well", rule="default", rate_rps=256)["ejections"].mean() * EJECT_MS / (ENDPOINTS * HOUR_MS)
    text = f"the default of 5 makes {between(high)} at 256 requests a second, which keep well endpoints out for {said(out)} % of the time, and none at 1"
    yield Claim(text, low.high == 0)
    silent = rows(data, part="sick", rule="ratio, 20 in 10 s", rate_rps=1)
    yield Claim("20 in 10 s never finds anything at 1 request a second, not even the dead endpoint", bool((silent["missed"] == 1).all()))
    streaks = rows(data, part="sick", rule="streak 30", sick_share=0.6)
    yield Claim("30 in a row never finds the endpoint that fails 60 % within its two minutes, at any rate", bool((streaks["missed"] == 1).all()))
    lost = {rule: mean(sick_ones(data, rule, 256, 1.0)["lost_before_ejection"]) for rule in ("default", BY_RATE)}
    yield Claim(f"{between(lost[BY_RATE])} failed requests an incident at 256 a second, where the default loses {between(lost['default'])}")
    yield Claim('"health": ' + json.dumps(by_rate(64)._asdict()).replace("{", "{ ").replace("}", " }"))
    bound = 3 / SPELLS * 100
    yield Claim(f"a nought is fewer than {said(bound, 2)} for each 100 with 95 % confidence (3 over {said(SPELLS)} spells)", SPELLS == 2390)


STUDY = Study(
    question="Which thresholds leave a well endpoint in rotation at my traffic, and still find a sick one?",
    parts=parts(),
    metrics=["ejections", "failed", "time_to_detect_ms", "missed", "lost_before_ejection"],
    draw=draw,
    claims=claims,
    folder=Path(__file__).resolve().parent,
)
