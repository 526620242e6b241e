"""Study 3: fail open or fail closed, when some or all of the endpoints brown out and each has so many places. See README.md beside it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import halfopen
import matplotlib.pyplot as plt
import pandas as pd
from halfopen import build
from halfopen.stats import Estimate
from matplotlib.figure import Figure
from studies import NEVER, Claim, Part, Point, Study, between, difference, endpoints, mean, names, reach, rows, said

ENDPOINTS, PLACES, QUEUE, MEAN_MS, READ_MS = 4, 8, 100, 100, 1000
CAPACITY_RPS = ENDPOINTS * PLACES * 1000 // MEAN_MS  # 320
USED = (0.4, 0.6, 0.8)  # of the capacity, before the incident
FROM_MS, TO_MS, END_MS = 10_000, 30_000, 70_000
REPLICATES, SEED = 10, 7
NEITHER, OPEN, BRIEF, CLOSED, LATE = "no ejection", "open, 30 s", "open, 1 s", "breaker, 30 s", "late breaker, 1 s"
SETTINGS = (NEITHER, OPEN, BRIEF, CLOSED, LATE)
HALF, DEAD, SLOW = "half fail", "all fail", "4 times as slow"
KINDS = {
    HALF: build.Fault(error=build.Error(ratio=0.5)),
    DEAD: build.Fault(error=build.Error(ratio=1.0)),
    SLOW: build.Fault(brownout=build.Brownout(error_ratio=0, latency_factor=4, capacity_factor=1)),
}


def late_count(rate_rps: float) -> int:
    """As many failures in a row as requests come in a quarter of a second."""
    return round(rate_rps / 4)


def upstream(setting: str, rate_rps: float) -> dict[str, Any]:
    """Nothing refuses but a breaker: without one an upstream fails open, when all endpoints are out the whole set serves."""
    health: dict[str, Any] = {}
    breaker: dict[str, Any] | None = None
    if setting == NEITHER:
        health = {"consecutive_failures": NEVER, "failure_ratio": 1.0, "failure_min_volume": NEVER}
    if setting in (BRIEF, LATE):
        health = {"eject_ms": 1000}
    if setting == CLOSED:
        breaker = {}
    if setting == LATE:
        breaker = {"consecutive_failures": late_count(rate_rps), "error_volume": NEVER, "open_ms": 1000}  # by no ratio
    common = {"name": "api", "endpoints": endpoints(ENDPOINTS), "timeouts": {"read_ms": READ_MS}, "late_reports": "ignore", "health": health}
    return common if breaker is None else common | {"breaker": breaker}


def scenario(kind: str) -> halfopen.Scenario:
    fault: Any = {"from_ms": FROM_MS, "to_ms": TO_MS, "selection": names(1), **KINDS[kind]}
    server: Any = {"latency": {"exponential": {"mean_ms": MEAN_MS}}, "capacity": {"concurrency": PLACES, "queue": QUEUE}, "faults": [fault]}
    return halfopen.Scenario.from_dict(
        {
            "name": f"brownout, {kind}",
            "question": "When endpoints of limited capacity brown out, should the gateway go on or refuse?",
            "duration_ms": END_MS,
            "upstreams": [upstream(OPEN, 1)],
            "endpoints": {"*": server},
            "traffic": [{"upstream": "api", "arrivals": "poisson", "rate_rps": 1}],
        }
    )


def point(kind: str, used: float, bad: int, setting: str) -> Point:
    rate_rps = used * CAPACITY_RPS
    settings = {"/upstreams/0": upstream(setting, rate_rps), "/traffic/0/rate_rps": rate_rps, "/endpoints/*/faults/0/selection": names(bad)}
    return Point({"kind": kind, "used": used, "bad": bad, "setting": setting}, settings)


def parts() -> list[Part]:
    cells = [(used, bad, setting) for used in USED for bad in range(1, ENDPOINTS + 1) for setting in SETTINGS]
    return [
        Part(kind, scenario(kind), [point(kind, *one) for one in cells], REPLICATES, SEED, lambda labels: labels["used"] == 0.6 and labels["bad"] in (1, 4))
        for kind in KINDS
    ]


LOOKS = {
    NEITHER: ("#5c5c5c", "x", "dotted"),
    OPEN: ("#b9470e", "s", "dashed"),
    BRIEF: ("#8a6d00", "^", (0, (5, 1))),
    CLOSED: ("#7d3c98", "v", "dashdot"),
    LATE: ("#1b4f72", "o", "solid"),
}


def cell(data: pd.DataFrame, kind: str, used: float, bad: int, setting: str) -> pd.DataFrame:
    """The runs of one setting in one incident."""
    return rows(data, kind=kind, used=used, bad=bad, setting=setting)


def per_100(used: float) -> float:
    """Makes a count of requests one for each 100 that came during the incident, on average."""
    return 100_000 / (used * CAPACITY_RPS * (TO_MS - FROM_MS))


def lost(data: pd.DataFrame, kind: str, used: float, bad: int, setting: str) -> Estimate:
    return mean(cell(data, kind, used, bad, setting)["failed"] * per_100(used))


def lost_more(data: pd.DataFrame, kind: str, used: float, bad: int, setting: str, than: str) -> str:
    both = difference(cell(data, kind, used, bad, setting), cell(data, kind, used, bad, than), "failed")
    return between(both, factor=per_100(used))


def carried(used: float, bad: int) -> bool:
    """Whether those who are left can do all the work."""
    return used * ENDPOINTS < ENDPOINTS - bad


INCIDENTS = [(kind, used, bad) for kind in KINDS for used in USED for bad in range(1, ENDPOINTS + 1)]
CARRIED = [one for one in INCIDENTS if carried(*one[1:])]
PARTIAL = [one for one in INCIDENTS if not carried(*one[1:]) and one[2] < ENDPOINTS]
TOTAL = [one for one in INCIDENTS if one[2] == ENDPOINTS]


def regret(data: pd.DataFrame, incidents: list[tuple[str, float, int]], setting: str) -> tuple[float, float]:
    """Mean and maximum of what is lost more than by the best of the five settings in that incident."""
    means = [{one: lost(data, *incident, one).mean for one in SETTINGS} for incident in incidents]
    more = [one[setting] - min(one.values()) for one in means]
    return sum(more) / len(more), max(more)


def draw(data: pd.DataFrame) -> Figure:
    figure, panes = plt.subplots(len(KINDS), len(USED), figsize=(11.5, 9), layout="constrained", sharex=True, sharey=True)
    for row, kind in enumerate(KINDS):
        for column, used in enumerate(USED):
            pane = panes[row, column]
            for n, setting in enumerate(SETTINGS):
                colour, mark, dash = LOOKS[setting]
                found = [lost(data, kind, used, bad, setting) for bad in range(1, ENDPOINTS + 1)]
                places = [bad + 0.06 * (n - 2) for bad in range(1, ENDPOINTS + 1)]
                pane.errorbar(places, [one.mean for one in found], yerr=reach(found), color=colour, marker=mark, linestyle=dash, capsize=2, label=setting)
            first = next(bad for bad in range(1, ENDPOINTS + 1) if not carried(used, bad))
            pane.axvspan(first - 0.5, ENDPOINTS + 0.5, color="grey", alpha=0.13, label="the rest can't carry the load")
            pane.set(xlim=(0.5, ENDPOINTS + 0.5), ylim=(-5, 185), xticks=range(1, ENDPOINTS + 1))
            pane.set_title(f"{kind}; {100 * used:.0f} % used", fontsize=10)
            pane.grid(color="#d8dee4")
    for pane in panes[-1]:
        pane.set_xlabel(f"endpoints of {ENDPOINTS} that brown out")
    figure.supylabel("requests lost, for each 100 that come during the brownout")
    figure.suptitle("Where the rest can't carry the load, the default breaker loses 150 of 100 or more; one that opens late and for 1 s does not", fontsize=11)
    handles, labels = panes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    return figure


def table_claims(data: pd.DataFrame) -> Iterator[Claim]:
    for kind, used, bad in ((HALF, 0.6, 1), (DEAD, 0.6, 1), (SLOW, 0.6, 1), (HALF, 0.8, 1), (DEAD, 0.8, 1), (SLOW, 0.8, 1),
                            (HALF, 0.6, 2), (DEAD, 0.6, 2), (SLOW, 0.6, 2), (HALF, 0.6, 4), (DEAD, 0.6, 4), (SLOW, 0.6, 4)):  # fmt: skip
        cells = [between(lost(data, kind, used, bad, setting)) for setting in SETTINGS]
        yield Claim(f"| {bad} {kind}, {100 * used:.0f} % used | {' | '.join(cells)} |")
    assert (len(INCIDENTS), len(CARRIED), len(PARTIAL), len(TOTAL)) == (36, 9, 18, 9)
    for setting in SETTINGS:
        pairs = [regret(data, incidents, setting) for incidents in (CARRIED, PARTIAL, TOTAL)]
        yield Claim(f"| {setting} | " + " | ".join(f"{said(average)} | {said(most)}" for average, most in pairs) + " |")


def ejection_claims(data: pd.DataFrame) -> Iterator[Claim]:
    best = all(regret(data, [incident], OPEN)[0] < 1 for incident in CARRIED)
    yield Claim("In all nine incidents in which the rest can carry the load, ejecting for 30 s and failing open is the best of the five, or within 1 of 100 of it", best)
    yield Claim(f"ejecting it for 30 s loses {lost_more(data, HALF, 0.8, 1, OPEN, NEITHER)} of 100 more than leaving it in")
    yield Claim(f"ejecting it for 1 s {lost_more(data, HALF, 0.8, 1, BRIEF, NEITHER)}, which is no difference")
    spread = all((cell(data, kind, 0.8, 1, OPEN)[["overload", "fail_open_picks"]] > 0).all(axis=None) for kind in KINDS)
    yield Claim("at 80 % used one sick endpoint of four becomes four in every run", spread)
    full = [one for one in PARTIAL if one[1] == 0.8 and one[2] > 1]
    more = [difference(cell(data, *one, BRIEF), cell(data, *one, NEITHER), "failed") for one in full]
    costs = [one.mean * per_100(0.8) for one in more]
    text = f"with two or three bad ones at 80 % used, ejecting for 1 s loses {said(min(costs))} to {said(max(costs))} of 100 more than not to eject"
    yield Claim(text, len(full) == 6 and all(one.low > 0 for one in more))


def breaker_claims(data: pd.DataFrame) -> Iterator[Claim]:
    worst = {setting: [regret(data, incidents, setting)[1] for incidents in (CARRIED, PARTIAL, TOTAL)] for setting in SETTINGS}
    most = max(worst[LATE])
    yield Claim(f"never more than {said(most)} of 100 requests behind the best of the five", most == min(max(one) for one in worst.values()))
    least = min(lost(data, *incident, CLOSED).mean for incident in PARTIAL + TOTAL)
    yield Claim("it loses 150 of 100 or more in all 27 incidents in which the rest can't carry the load, or there is none", least >= 150)
    yield Claim(f"where all are slow at 80 % used, the late breaker saves {lost_more(data, SLOW, 0.8, 4, BRIEF, LATE)} of 100")
    costs = {one: difference(cell(data, *one, LATE), cell(data, *one, BRIEF), "failed").mean * per_100(one[1]) for one in INCIDENTS}
    dear = max(costs, key=lambda one: costs[one])
    text = f"It costs most where three of four are dead at 40 % used, {lost_more(data, *dear, LATE, BRIEF)} of 100"
    yield Claim(text, dear == (DEAD, 0.4, 3))
    yield Claim(f"where all are dead at 60 % used, {lost_more(data, DEAD, 0.6, 4, LATE, BRIEF)}")
    same = all((cell(data, HALF, used, bad, LATE)["failed"].to_numpy() == cell(data, HALF, used, bad, BRIEF)["failed"].to_numpy()).all()
               for used in USED for bad in range(1, ENDPOINTS + 1))  # fmt: skip
    yield Claim("where half of the answers are good it never opens: run by run the same requests are lost", same)
    gaps = {one: difference(cell(data, *one, LATE), cell(data, *one, BRIEF), "failed") for one in INCIDENTS}
    few = {one for one, gap in gaps.items() if gap.low > 0 or gap.high < 0}
    text = f'"{BRIEF}" and "{LATE}" can be told apart in {len(few)} of the {len(gaps)} incidents, all but one with three or four bad ones'
    yield Claim(text, sum(bad < 3 for _, _, bad in few) == 1)
    rate_rps = 0.6 * CAPACITY_RPS
    usual = halfopen.Breaker().params
    text = f"a breaker that opens for {usual['open_ms'] // 1000} s after {usual['consecutive_failures']} failures in a row, or half of {usual['error_volume']} requests"
    yield Claim(text, usual["error_ratio"] == 0.5)
    yield Claim(f"{late_count(rate_rps)} are the requests of a quarter of a second")
    yield Claim(f"here at {said(rate_rps)} requests a second (60 % used)")
    yield Claim(f'"breaker": {{ "consecutive_failures": {late_count(rate_rps)}, "error_volume": {NEVER}, "open_ms": 1000 }}')


def claims(data: pd.DataFrame) -> Iterator[Claim]:
    yield from table_claims(data)
    yield from ejection_claims(data)
    yield from breaker_claims(data)


STUDY = Study(
    question="When one, some or all endpoints of limited capacity brown out: fail open or fail closed, and eject at all?",
    parts=parts(),
    metrics=["failed", "fast_failed", "ejections", "overload", "fail_open_picks", "breaker_openings"],
    draw=draw,
    claims=claims,
    folder=Path(__file__).resolve().parent,
)
