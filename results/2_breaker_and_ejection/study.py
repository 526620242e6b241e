"""Study 2: what breaker and ejection do to each other, by endpoints and how many of them are bad. See README.md beside it."""

from collections.abc import Iterator
from pathlib import Path

import halfopen
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from halfopen import build
from halfopen.stats import Estimate
from matplotlib.figure import Figure
from studies import NEVER, Claim, Part, Point, Study, between, difference, endpoints, mean, names, rows, said

SIZES = (2, 3, 4, 6, 8, 12)  # endpoints
RATES_RPS = (1, 50)  # requests a second and endpoint
SHARES = (0.5, 1.0)  # of its answers that a bad endpoint fails
FROM_MS, TO_MS, END_MS = 60_000, 150_000, 180_000
REPLICATES, SEED = 8, 7
STREAK, LEAST = 5, 20  # the ejection's count, at its default; the least that is recommended for a breaker
ALONE, DEFAULT, TIMES_N, WITH_RATIO, LEAST_20 = "ejection alone", "default", "5 n", "5 n, ratio 0.9", "5 n but 20 at least, ratio 0.9"
NEIGHBOURS, SPREAD = "neighbours", "spread"
BREAKER = "/upstreams/0/breaker"


def breaker(setting: str, size: int) -> build.Breaker:
    if setting == ALONE:
        return build.Breaker(consecutive_failures=NEVER, error_ratio=1.0, error_volume=NEVER)
    streak = STREAK if setting == DEFAULT else max(STREAK * size, LEAST if setting == LEAST_20 else 0)
    return build.Breaker(consecutive_failures=streak, error_ratio=0.9 if setting in (WITH_RATIO, LEAST_20) else 0.5, error_volume=20)


def recommended(size: int) -> str:
    """The setting that is recommended for so many endpoints: from four on, 5 n are 20 at least."""
    return LEAST_20 if STREAK * size < LEAST else WITH_RATIO


def scenario() -> halfopen.Scenario:
    """60 s in which all is well fill the windows; then 90 s with bad endpoints; then 30 s, as long as an ejection."""
    fault = build.Fault(from_ms=FROM_MS, to_ms=TO_MS, selection=names(1), error=build.Error(ratio=1.0))
    return halfopen.Scenario.of(
        name="b bad endpoints of n",
        question="Ejection and a breaker over the same endpoints: which acts, and what do users lose by it?",
        duration_ms=END_MS,
        upstreams=[build.Upstream(name="api", endpoints=endpoints(2), health=build.Health(), breaker=build.Breaker(), late_reports="ignore")],
        endpoints={"*": build.Behaviour(latency=build.Latency(lognormal=build.Lognormal(p50_ms=20, p99_ms=200)), faults=[fault])},
        traffic=[build.Traffic(upstream="api", arrivals="poisson", rate_rps=2)],
    )


def bad_ones(size: int, bad: int, placing: str) -> list[str]:
    """Neighbours in the round, or as far from each other as they can be."""
    return [names(size)[n if placing == NEIGHBOURS else n * size // bad] for n in range(bad)]


def point(size: int, bad: int, placing: str, rate_rps: float, share: float, setting: str) -> Point:
    fault = "/endpoints/*/faults/0"
    settings = {
        "/upstreams/0/endpoints": endpoints(size),
        BREAKER: breaker(setting, size),
        "/traffic/0/rate_rps": size * rate_rps,
        f"{fault}/selection": bad_ones(size, bad, placing),
        f"{fault}/error/ratio": share,
    }
    labels = {"endpoints": size, "bad": bad, "placing": placing, "rate_rps": rate_rps, "fails": share, "setting": setting}
    return Point(labels, settings)


def parts() -> list[Part]:
    cells = [(size, bad) for size in SIZES for bad in range(1, size + 1)]
    settings = (ALONE, DEFAULT, TIMES_N, WITH_RATIO)
    grid = [point(*cell, NEIGHBOURS, rate, share, one) for cell in cells for rate in RATES_RPS for share in SHARES for one in settings]
    large = [cell for cell in cells if cell[0] in (8, 12) and cell[1] < cell[0]]
    apart = [point(*cell, SPREAD, rate, 1.0, one) for cell in large for rate in RATES_RPS for one in (ALONE, DEFAULT, TIMES_N)]
    few = [point(*cell, NEIGHBOURS, rate, share, LEAST_20) for cell in cells if recommended(cell[0]) == LEAST_20 for rate in RATES_RPS for share in SHARES]
    return [
        Part("map", scenario(), grid, REPLICATES, SEED, lambda labels: labels["endpoints"] in (3, 4) and labels["rate_rps"] == 1),
        Part("spread", scenario(), apart, REPLICATES, SEED, lambda labels: labels["endpoints"] == 8 and labels["rate_rps"] == 1),
        Part("few endpoints", scenario(), few, REPLICATES, SEED, lambda labels: labels["rate_rps"] == 1),
    ]


def cell(data: pd.DataFrame, size: int, bad: int, rate_rps: float, fails: float, setting: str, placing: str = NEIGHBOURS) -> pd.DataFrame:
    """The runs of one setting in one incident."""
    return rows(data, endpoints=size, bad=bad, rate_rps=rate_rps, fails=fails, setting=setting, placing=placing)


def per_100(size: int, rate_rps: float) -> float:
    """Makes a count of requests one for each 100 that came during the incident, on average."""
    return 100_000 / (size * rate_rps * (TO_MS - FROM_MS))


def by_breaker(data: pd.DataFrame, size: int, bad: int, rate_rps: float, fails: float, setting: str, placing: str = NEIGHBOURS) -> Estimate:
    """Requests of 100 that are lost more than with ejection alone, run by run."""
    with_it, without = (cell(data, size, bad, rate_rps, fails, one, placing) for one in (setting, ALONE))
    found = difference(with_it, without, "failed")
    scale = per_100(size, rate_rps)
    return Estimate(found.n, *(scale * number for number in found[1:]))


def as_run(setting: str, size: int) -> str:
    """20 at least makes a difference, and was run, only where 5 n are fewer."""
    return recommended(size) if setting == LEAST_20 else setting


def opened(data: pd.DataFrame, cells: list[tuple[int, int]], rate_rps: float) -> str:
    """In how many runs the default breaker opened, bad ones failing everything: `3 of 8`."""
    runs = pd.concat([cell(data, *one, rate_rps, 1.0, DEFAULT) for one in cells])
    return f"{(runs['breaker_openings'] > 0).sum()} of {len(runs)}"


def draw(data: pd.DataFrame) -> Figure:
    figure, panes = plt.subplots(2, 2, figsize=(12.5, 7.6), layout="constrained", sharex=True, sharey=True)
    for row, chosen in enumerate((lambda size: DEFAULT, recommended)):
        for pane, fails in zip(panes[row], reversed(SHARES), strict=True):
            values = np.full((len(SIZES), max(SIZES)), np.nan)
            for place, size in enumerate(SIZES):
                for bad in range(1, size + 1):
                    values[place, bad - 1] = by_breaker(data, size, bad, 50, fails, chosen(size)).mean
            pane.imshow(np.maximum(values, 0), cmap="Oranges", vmin=0, vmax=100, aspect="auto", origin="lower")
            for (place, column), value in np.ndenumerate(values):
                if not np.isnan(value):
                    pane.text(column, place, said(value), ha="center", va="center", fontsize=9, color="white" if value > 60 else "black")
            name = "recommended: 5 n in a row but 20 at least, or 90 % of 20" if row else "default: 5 in a row, or half of 20"
            pane.set_title(f"{name}; bad ones fail {100 * fails:.0f} %", fontsize=10)
            pane.set_xticks(range(max(SIZES)), [str(bad) for bad in range(1, max(SIZES) + 1)])
            pane.set_yticks(range(len(SIZES)), [str(size) for size in SIZES])
            pane.tick_params(length=0)
            pane.spines[:].set_visible(False)
    figure.supxlabel("bad endpoints b, neighbours in the round")
    figure.supylabel("endpoints n")
    title = "The default breaker refuses whom the well ones would serve, the recommended one does not"
    figure.suptitle(f"{title}\nRequests of 100 lost because of the breaker, at 50 requests a second and endpoint", fontsize=11)
    return figure


def map_claims(data: pd.DataFrame) -> Iterator[Claim]:
    partial = [(size, bad) for size in SIZES for bad in range(1, size)]
    yield Claim(f"How many of the {len(partial)} constellations with somebody well lose more than 1 of 100 requests by the breaker")
    for setting in (DEFAULT, TIMES_N, WITH_RATIO, LEAST_20):
        for fails in reversed(SHARES):
            texts = []
            for rate in RATES_RPS:
                costs = [by_breaker(data, *one, rate, fails, as_run(setting, one[0])).mean for one in partial]
                texts += [f"{sum(cost > 1 for cost in costs)} of {len(partial)}", said(max(costs))]
            total = [float(np.mean([by_breaker(data, size, size, rate, fails, as_run(setting, size)).mean for size in SIZES])) for rate in RATES_RPS]
            yield Claim(f"| {setting} | {100 * fails:.0f} % | {' | '.join(texts)} | {said(total[0])} | {said(total[1])} |")
    harmless = [by_breaker(data, *one, rate, fails, recommended(one[0])) for one in partial for rate in RATES_RPS for fails in SHARES]
    alive = data[(data["bad"] < data["endpoints"]) & (data["setting"] == data["endpoints"].map(recommended))]
    same = all(one.mean == one.std == 0 for one in harmless) and alive["breaker_openings"].eq(0).all()
    text = "The recommended breaker never opened while a single endpoint was well: 116 cells of eight runs, the same number of requests lost as without it"
    yield Claim(text, len(harmless) == 116 and len(alive) == 116 * REPLICATES and bool(same))


def race_claims(data: pd.DataFrame) -> Iterator[Claim]:
    """Who is first, breaker or ejection."""
    partial = [(size, bad) for size in SIZES for bad in range(1, size)]
    halves, most = [[one for one in partial if one[1] == share * one[0]] for share in (0.5, 0.75)]
    text = "At 50 requests a second and endpoint it is first in {} runs with half of the endpoints bad, in {} with three quarters"
    yield Claim(text.format(opened(data, halves, 50), opened(data, most, 50)))
    many, fewer = [one for one in partial if one[1] >= STREAK], [one for one in partial if one[1] < STREAK]
    text = "At 1 request a second and endpoint they mostly do: five bad neighbours or more open it in {} runs, four or fewer in {}"
    yield Claim(text.format(opened(data, many, 1), opened(data, fewer, 1)))
    lost = [between(by_breaker(data, 8, 5, 50, 1.0, DEFAULT, placing)) for placing in (NEIGHBOURS, SPREAD)]
    yield Claim(f"with five of eight, neighbours cost {lost[0]} of 100 and spread ones {lost[1]}")
    runs = data[(data["part"] == "map") & (data["bad"] < data["endpoints"]) & (data["setting"] == DEFAULT) & (data["breaker_openings"] > 0)]
    alone = data[data["setting"] == ALONE]
    keys = ["seed", "endpoints", "bad", "placing", "rate_rps", "fails"]
    pairs = runs.merge(alone, on=keys, suffixes=("", "_alone"))
    costly = (pairs["failed"] > pairs["failed_alone"]).sum()
    yield Claim(f"in all {len(runs)} runs of the map in which the default breaker opened while somebody was well it lost requests", costly == len(runs) == len(pairs))


def default_claims() -> Iterator[Claim]:
    """That what the study calls the defaults are those of the gateway."""
    usual, ours = halfopen.Breaker().params, breaker(DEFAULT, 1)
    text = f"{usual['consecutive_failures']} in a row, or half of {usual['error_volume']} in its 60 s, open for {usual['open_ms'] // 1000} s"
    yield Claim(text, all(usual[name] == value for name, value in ours.items()))
    health = halfopen.EndpointHealth().params
    text = f"{health['consecutive_failures']} failures in a row, or half of {health['failure_min_volume']} in {health['window_ms'] // 1000} s"
    yield Claim(f"{text}; out for {health['eject_ms'] // 1000} s", health["failure_ratio"] == 0.5 and health["consecutive_failures"] == STREAK)


def claims(data: pd.DataFrame) -> Iterator[Claim]:
    yield from default_claims()
    yield from map_claims(data)
    yield from race_claims(data)
    for size, bad in ((4, 2), (4, 3), (8, 4), (8, 5), (8, 6), (12, 6), (12, 9)):
        lost = [between(by_breaker(data, size, bad, rate, 1.0, DEFAULT)) for rate in RATES_RPS]
        apart = [between(by_breaker(data, size, bad, rate, 1.0, DEFAULT, SPREAD)) if size > 4 else "–" for rate in RATES_RPS]
        yield Claim(f"| {bad} of {size} | {lost[0]} | {apart[0]} | {lost[1]} | {apart[1]} |")
    wasted = {}
    for setting in (ALONE, DEFAULT, LEAST_20):
        runs = pd.concat([cell(data, size, size, 50, 1.0, as_run(setting, size)).assign(wasted=lambda one, n=size: one["failures"] * per_100(n, 50)) for size in SIZES])
        wasted[setting] = mean(runs["wasted"])
    text = "with all of them dead, {} of 100 requests are still sent to them with ejection alone, {} with the default breaker and {} with the recommended one"
    yield Claim(text.format(*(between(one, 2) if one.mean < 10 else between(one) for one in wasted.values())))
    costs = [by_breaker(data, size, bad, 50, 1.0, DEFAULT).mean for size in SIZES for bad in range(1, size)]
    text = "the default breaker costs requests in {} of {} constellations in which some endpoint could have served, up to {} of 100"
    yield Claim(text.format(sum(cost > 1 for cost in costs), len(costs), said(max(costs))))
    half = by_breaker(data, 4, 4, 50, 0.5, DEFAULT)
    yield Claim(f"all four endpoints of four fail half of their answers, the default breaker loses {between(half)} of 100 requests more")
    ratio = [by_breaker(data, 4, 4, 50, 0.5, one) for one in (TIMES_N, WITH_RATIO)]
    yield Claim(f"With 5 n and an `error_ratio` left at 0.5 that is {between(ratio[0])}, with 0.9 {between(ratio[1])}")
    pair, floor = (by_breaker(data, 2, 2, 50, 0.5, setting) for setting in (WITH_RATIO, LEAST_20))
    text = f"where two of two fail half of their answers, ten in a row come by chance, and 5 n loses {between(pair)} of 100 more, 20 in a row {between(floor)}"
    yield Claim(text, pair.low > floor.high)
    late = by_breaker(data, 4, 4, 1, 1.0, WITH_RATIO)
    yield Claim(f"{between(late)} of 100 more at 1 request a second, with four of four dead")


STUDY = Study(
    question="Ejection and a breaker over n endpoints, b of them bad: when does the breaker cost users what ejection would have saved?",
    parts=parts(),
    metrics=["failed", "fast_failed", "failures", "ejections", "breaker_openings"],
    draw=draw,
    claims=claims,
    folder=Path(__file__).resolve().parent,
)
