"""Study 1: thresholds against false ejections across traffic rates. See README.md beside it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import halfopen
import matplotlib.pyplot as plt
import pandas as pd
from halfopen import build
from matplotlib.figure import Figure
from studies import Claim, Part, Point, Study, between, endpoints, mean, rows, said

RATES_RPS = (1, 4, 16, 64, 256)  # requests a second and endpoint
ENDPOINTS, HOUR_MS, REPLICATES, SEED = 4, 3_600_000, 10, 7
ERRORS = 0.005  # of a well endpoint's answers, each by itself
GAP_MS, SPELL_MS, SPELL_ERRORS = 60_000, 250, 0.9  # and now and then a spell, in which most fail
OTHER_SPELLS_MS = (100, 1000)
SICK_FROM_MS, SICK_TO_MS, SICK_SHARES = 30_000, 150_000, (0.6, 1.0)
NEVER = 1_000_000_000
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


def point(rate_rps: float, rule: str, spell_ms: int, sick_share: float) -> Point:
    chosen = by_rate(rate_rps) if rule == BY_RATE else FIXED[rule]
    settings = {"/traffic/0/rate_rps": ENDPOINTS * rate_rps, **chosen.settings()}
    if sick_share:
        settings["/endpoints/10.0.0.1:8080/faults/0/error/ratio"] = sick_share
    else:
        settings["/endpoints/*/faults/1/bursts/mean_bad_ms"] = spell_ms
    return Point({"rate_rps": rate_rps, "rule": rule, "spell_ms": spell_ms, "sick_share": sick_share}, settings)


def parts() -> list[Part]:
    calm = [point(rate, rule, SPELL_MS, 0) for rate in RATES_RPS for rule in RULES]
    other = [point(64, rule, spell, 0) for spell in OTHER_SPELLS_MS for rule in RULES]
    ill = [point(rate, rule, 0, share) for share in SICK_SHARES for rate in RATES_RPS for rule in RULES]
    return [
        Part("well", well(), calm, REPLICATES, SEED, lambda labels: labels["rate_rps"] in (1, 16)),
        Part("other spells", well(), other, REPLICATES, SEED, lambda labels: labels["rule"] == BY_RATE),
        Part("sick", sick(), ill, REPLICATES, SEED, lambda labels: labels["rate_rps"] <= 16),
    ]


LOOKS = {
    "streak 5": ("#b9470e", "s", "dashed"),
    "streak 30": ("#8a6d00", "^", "dashed"),
    "ratio, 20 in 60 s": ("#7d3c98", "v", "dotted"),
    "ratio, 20 in 2 s": ("#5c5c5c", "x", "dotted"),
    "default": ("#a3231f", "D", "dashdot"),
    BY_RATE: ("#1b4f72", "o", "solid"),
}
PER_100_SPELLS = 100 * REPLICATES / SPELLS  # of a run's ejections


def false_ejections(data: pd.DataFrame, rule: str, rate_rps: float, part: str = "well", spell_ms: int = SPELL_MS) -> pd.Series:
    """For each 100 spells, by run: nobody is sick, every ejection is false."""
    return rows(data, part=part, rule=rule, rate_rps=rate_rps, spell_ms=spell_ms)["ejections"] * PER_100_SPELLS


def found_s(data: pd.DataFrame, rule: str, rate_rps: float, share: float) -> str:
    runs = rows(data, part="sick", rule=rule, rate_rps=rate_rps, sick_share=share)
    missed = runs["missed"].sum()
    if missed == len(runs):
        return "never"
    estimate = mean(runs["time_to_detect_ms"].dropna())
    text = between(estimate, 0 if estimate.mean >= 10_000 else 1 if estimate.mean >= 1000 else 2, 0.001) + " s"
    return text + (f", {said(100 * missed / len(runs))} % never" if missed else "")


def draw(data: pd.DataFrame) -> Figure:
    figure, panes = plt.subplots(1, 3, figsize=(12.5, 4.6), layout="constrained")
    for n, (rule, (colour, mark, dash)) in enumerate(LOOKS.items()):
        style = {"color": colour, "marker": mark, "linestyle": dash, "label": rule, "markersize": 6, "capsize": 3}
        shifted = [rate * 1.06 ** (n - 2.5) for rate in RATES_RPS]  # so that marks do not hide each other
        rates = [mean(false_ejections(data, rule, rate)) for rate in RATES_RPS]
        reach = [[one.mean - one.low for one in rates], [one.high - one.mean for one in rates]]
        panes[0].errorbar(shifted, [one.mean for one in rates], yerr=reach, **style)
        for pane, share in zip(panes[1:], SICK_SHARES, strict=True):
            times = [mean(rows(data, part="sick", rule=rule, rate_rps=rate, sick_share=share)["time_to_detect_ms"] / 1000) for rate in RATES_RPS]
            reach = [[one.mean - one.low for one in times], [one.high - one.mean for one in times]]
            pane.errorbar(shifted, [one.mean for one in times], yerr=reach, **style)
    panes[0].set_yscale("symlog", linthresh=1)
    panes[0].set_ylim(-0.1, 130)
    panes[0].set_yticks([0, 0.5, 1, 3, 10, 30, 100], ["0", "0.5", "1", "3", "10", "30", "100"])
    panes[0].set(title="Well endpoints", ylabel="false ejections for each 100 spells")
    for pane, share in zip(panes[1:], SICK_SHARES, strict=True):
        pane.set_yscale("log")
        pane.set_ylim(0.01, 150)
        pane.set_yticks([0.01, 0.1, 1, 10, 100], ["0.01", "0.1", "1", "10", "100"])
        pane.set(title=f"An endpoint that fails {100 * share:.0f} %", ylabel="time until it is ejected (s)")
    for pane in panes:
        pane.set_xscale("log")
        pane.set_xticks(RATES_RPS, [str(rate) for rate in RATES_RPS])
        pane.minorticks_off()
        pane.set_xlabel("requests a second and endpoint")
        pane.grid(color="#d8dee4")
    figure.legend(*panes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False)
    return figure


def claims(data: pd.DataFrame) -> Iterator[Claim]:
    for rule in RULES:
        cells = [between(mean(false_ejections(data, rule, rate)), 1) for rate in RATES_RPS]
        yield Claim(f"| {rule} | {' | '.join(cells)} |")
    for rule in RULES:
        cells = [found_s(data, rule, rate, share) for share in SICK_SHARES for rate in (1, 16, 256)]
        yield Claim(f"| {rule} | {' | '.join(cells)} |")
    for rule in ("default", "ratio, 20 in 10 s", BY_RATE):
        cells = [between(mean(false_ejections(data, rule, 64, "other spells", spell)), 1) for spell in OTHER_SPELLS_MS]
        yield Claim(f"| {rule} | {cells[0]} | {between(mean(false_ejections(data, rule, 64)), 1)} | {cells[1]} |")

    default = [false_ejections(data, "default", rate) for rate in RATES_RPS]
    same = all((false_ejections(data, "streak 5", rate).to_numpy() == one.to_numpy()).all() for rate, one in zip(RATES_RPS, default, strict=True))
    yield Claim("In none of the 50 pairs of runs did its ratio eject a well endpoint that its streak had not", same and len(default) * REPLICATES == 50)
    worst = [mean(false_ejections(data, BY_RATE, rate)) for rate in RATES_RPS]
    yield Claim(f"at most {said(max(one.mean for one in worst), 1)} of 100 spells at any of the five rates", len(worst) == 5)
    high, low = mean(default[-1]), mean(default[0])
    yield Claim(f"the default of 5 ejects a well endpoint in {between(high)} of 100 spells at 256 requests a second, and in none at 1", low.high == 0)
    silent = rows(data, part="sick", rule="ratio, 20 in 10 s", rate_rps=1)
    yield Claim("20 in 10 s never finds anything at 1 request a second, not even the dead endpoint", bool((silent["missed"] == 1).all()))
    streaks = rows(data, part="sick", rule="streak 30", sick_share=0.6)
    yield Claim("30 in a row never finds the endpoint that fails 60 %, at any rate", bool((streaks["missed"] == 1).all()))
    lost = {rule: mean(rows(data, part="sick", rule=rule, rate_rps=256, sick_share=1.0)["lost_before_ejection"]) for rule in ("default", BY_RATE)}
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
