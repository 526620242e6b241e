"""Study 4: when retries and client storms make a brownout outlive its cause, and which budget prevents it. See README.md beside it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import halfopen
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from studies import NEVER, Claim, Part, Point, Study, between, endpoints, mean, rows, said

ENDPOINTS, PLACES, MEAN_MS, TIMEOUT_MS, PATIENT_MS = 4, 8, 100, 1000, 3000
CAPACITY_RPS = ENDPOINTS * PLACES * 1000 // MEAN_MS  # 320
QUEUES = (20, 100, 400)  # of each server: 0.25 s, 1.25 s and 5 s of work
USED = (0.5, 0.6, 0.7, 0.8, 0.9)
ATTEMPTS, BUDGETS, UNLIMITED = 2, (5, 10, 20, 30, 50, 70, 100, 1000), 1000
FROM_MS, BROWNOUT_MS, FACTOR = 10_000, 10_000, 3
LENGTHS_MS = (2000, 5000, 10_000, 30_000)
WINDOW_MS, WINDOWS = 10_000, 9  # after the brownout, each judged: do users get 90 % of what they ask for?
GOOD = 0.9
CLIENT_RETRIES, BACKOFFS_MS, BACKOFF_CAP_MS = (0, 1, 2, 3, 5), (0, 1000), 10_000
NOTHING, BUDGET_20, BREAKER = "nothing", "gateway retries, budget 20 %", "breaker, 1 s"
REPLICATES, SEED = 8, 8


def upstream(**more: Any) -> dict[str, Any]:
    return {"name": "api", "endpoints": endpoints(ENDPOINTS), "timeouts": {"read_ms": TIMEOUT_MS}, "retries": {"attempts": 0}, **more}


def scenario() -> halfopen.Scenario:
    end = FROM_MS + BROWNOUT_MS
    slow = {"from_ms": FROM_MS, "to_ms": end, "brownout": {"error_ratio": 0, "latency_factor": FACTOR, "capacity_factor": 1}}
    server = {"latency": {"exponential": {"mean_ms": MEAN_MS}}, "capacity": {"concurrency": PLACES, "queue": QUEUES[0]}, "faults": [slow]}
    return halfopen.Scenario.from_dict(
        {
            "name": "a brownout that may outlive its cause",
            "question": "Do users get their answers again, once the brownout is over?",
            "duration_ms": end + WINDOWS * WINDOW_MS,
            "upstreams": [upstream()],
            "endpoints": {"*": server},
            "traffic": [{"upstream": "api", "arrivals": "poisson", "rate_rps": 1}],
            "expect": windows(1, end),
        }
    )


def windows(rate_rps: float, end_ms: int) -> list[dict[str, Any]]:
    """Nine windows of 10 s after the brownout, each of which should have its good answers."""
    good = GOOD * rate_rps * WINDOW_MS / 1000
    starts = range(end_ms, end_ms + WINDOWS * WINDOW_MS, WINDOW_MS)
    return [{"metric": "ok", ">=": good, "between_ms": [start, start + WINDOW_MS]} for start in starts]


def gate(name: str, rate_rps: float) -> dict[str, Any]:
    """What the gateway does about clients that come again; it waits longer than they do."""
    timeouts = {"read_ms": PATIENT_MS}
    if name == BUDGET_20:
        return upstream(timeouts=timeouts, retries={"attempts": ATTEMPTS, "budget_percent": 20})
    if name == BREAKER:  # opens after as many failures in a row as requests come in a quarter of a second, and by no ratio
        return upstream(timeouts=timeouts, breaker={"consecutive_failures": round(rate_rps / 4), "error_volume": NEVER, "open_ms": 1000})
    return upstream(timeouts=timeouts)


def point(queue: int, used: float, budget: int, length_ms: int = BROWNOUT_MS, retries: int = 0, backoff_ms: int = 0, gateway: str = "") -> Point:
    """`gateway` is empty where the clients don't come again: then the gateway retries, within `budget` percent (0: not at all)."""
    rate_rps, end = used * CAPACITY_RPS, FROM_MS + length_ms
    traffic: dict[str, Any] = {"upstream": "api", "arrivals": "poisson", "rate_rps": rate_rps}
    config = upstream(retries={"attempts": ATTEMPTS, "budget_percent": budget}) if budget else upstream()
    if gateway:
        config = gate(gateway, rate_rps)
        traffic["client"] = {"timeout_ms": TIMEOUT_MS, "retries": retries, "backoff_base_ms": backoff_ms, "backoff_cap_ms": max(backoff_ms, BACKOFF_CAP_MS)}
    settings = {
        "/duration_ms": end + WINDOWS * WINDOW_MS,
        "/upstreams/0": config,
        "/endpoints/*/capacity/queue": queue,
        "/endpoints/*/faults/0/to_ms": end,
        "/traffic/0": traffic,
        "/expect": windows(rate_rps, end),
    }
    labels = {"queue": queue, "used": used, "budget_percent": budget, "brownout_ms": length_ms, "client_retries": retries, "backoff_ms": backoff_ms, "gateway": gateway}
    return Point(labels, settings)


def parts() -> list[Part]:
    budgets = [point(queue, used, budget) for queue in QUEUES for used in USED for budget in (0, *BUDGETS)]
    lengths = [point(400, 0.7, budget, length) for length in LENGTHS_MS for budget in (0, 20, 30, 50, 100)]
    clients = [
        point(queue, used, 0, BROWNOUT_MS, retries, backoff, gateway)
        for queue in QUEUES
        for used in (0.5, 0.7, 0.9)
        for retries in CLIENT_RETRIES
        for backoff in BACKOFFS_MS
        for gateway in (NOTHING, BUDGET_20, BREAKER)
    ]
    return [
        Part("budgets", scenario(), budgets, REPLICATES, SEED, lambda labels: labels["queue"] == 400 and labels["used"] in (0.5, 0.7)),
        Part("lengths", scenario(), lengths, REPLICATES, SEED, lambda labels: labels["brownout_ms"] <= 5000),
        Part("clients", scenario(), clients, REPLICATES, SEED, lambda labels: labels["queue"] == 20 and labels["used"] == 0.7),
    ]


def never(runs: pd.DataFrame) -> int:
    """Runs in which no window after the brownout was good: 90 s later, users still have no service."""
    return int((runs["held"] == 0).sum())


def back_s(runs: pd.DataFrame) -> float:
    """Until users were served again: the windows that were not good, on average."""
    return float((WINDOWS - runs["held"]).mean()) * WINDOW_MS / 1000


def recovered(runs: pd.DataFrame) -> str:
    stuck = never(runs)
    return "never" if stuck == len(runs) else f"{stuck} of {len(runs)} never" if stuck else f"{said(back_s(runs))} s"


def spare_percent(used: float) -> float:
    """What retries may add to the load before it is more than the capacity: the page's 10,000 / used - 100, with used in percent."""
    return 10_000 / (100 * used) - 100


def of_budget(data: pd.DataFrame, queue: int, used: float, budget: int) -> pd.DataFrame:
    return rows(data, part="budgets", queue=queue, used=used, budget_percent=budget)


def of_clients(data: pd.DataFrame, queue: int, used: float, retries: int, backoff_ms: int, gateway: str) -> pd.DataFrame:
    return rows(data, part="clients", queue=queue, used=used, client_retries=retries, backoff_ms=backoff_ms, gateway=gateway)


def paint(pane: Axes, cells: list[list[pd.DataFrame]], columns: list[str], lines: list[str]) -> None:
    """Seconds until users are served again, dark where that is never."""
    values = np.array([[back_s(runs) for runs in line] for line in cells])
    pane.imshow(values, cmap="Purples", vmin=0, vmax=WINDOWS * WINDOW_MS / 1000, aspect="auto", origin="lower")
    for (line, column), value in np.ndenumerate(values):
        stuck = never(cells[line][column])
        text = "never" if stuck == REPLICATES else f"{stuck}/{REPLICATES}" if stuck else f"{value:.0f}"
        pane.text(column, line, text, ha="center", va="center", fontsize=8, color="white" if value > 55 else "black")
    pane.set_xticks(range(len(columns)), columns)
    pane.set_yticks(range(len(lines)), lines)
    pane.tick_params(length=0)
    pane.spines[:].set_visible(False)


def draw(data: pd.DataFrame) -> Figure:
    figure, panes = plt.subplots(2, 3, figsize=(13.5, 7.6), layout="constrained", sharey="row")
    asked = (0, *BUDGETS)
    gates = [(gateway, backoff) for gateway in (NOTHING, BUDGET_20, BREAKER) for backoff in BACKOFFS_MS]
    for n, queue in enumerate(QUEUES):
        pane = panes[0, n]
        cells = [[of_budget(data, queue, used, budget) for budget in asked] for used in USED]
        paint(pane, cells, ["none", *(str(budget) for budget in BUDGETS[:-1]), "no\nlimit"], [f"{100 * used:.0f}" for used in USED])
        for line, used in enumerate(USED):
            edge = next(place for place, budget in enumerate(asked) if budget >= spare_percent(used)) - 0.5
            pane.plot([edge, edge], [line - 0.5, line + 0.5], color="black", linewidth=2)
        pane.set(title=f"queue {queue}: {queue * MEAN_MS / PLACES / 1000:g} s of work", xlabel="retry budget of the gateway (%), 2 attempts")
        clients = [[of_clients(data, queue, 0.7, retries, backoff, gateway) for retries in CLIENT_RETRIES] for gateway, backoff in gates]
        lines = [f"{gateway.replace(', ', chr(10))}, backoff {'1 s' if backoff else 'none'}" for gateway, backoff in gates]
        paint(panes[1, n], clients, [str(retries) for retries in CLIENT_RETRIES], lines)
        panes[1, n].set(title=f"queue {queue}, 70 % used", xlabel="times that clients come again")
    panes[0, 0].set_ylabel("capacity used before (%)")
    panes[1, 0].set_ylabel("what the gateway does")
    title = "With long queues nobody recovers whose retries ask for more than the spare capacity (black line); with short ones all do"
    figure.suptitle(f"{title}\nSeconds until users are served again after a brownout of 10 s (k/{REPLICATES}: k runs never were)", fontsize=11)
    return figure


def border_claims(data: pd.DataFrame) -> Iterator[Claim]:
    """Where the border is, and that half of the way to it is enough, but not at 90 % used."""
    within: dict[tuple[float, int], int] = {}
    beyond: dict[tuple[float, int], int] = {}
    for used in USED:
        spare = spare_percent(used)
        runs = {budget: of_budget(data, 400, used, budget) for budget in BUDGETS}
        safe = max((budget for budget in BUDGETS if not never(runs[budget])), default=0)
        lost = min(budget for budget in BUDGETS if never(runs[budget]) == REPLICATES)
        without = recovered(of_budget(data, 400, used, 0))
        yield Claim(f"| {100 * used:.0f} % | {said(spare)} % | {f'{safe} %' if safe else 'none'} | {lost} % | {without} |", safe < spare)
        within |= {(used, budget): never(one) for budget, one in runs.items() if budget <= spare / 2}
        beyond |= {(used, budget): never(one) for budget, one in runs.items() if budget >= spare}
    text = "the {} settings with a budget at or above the spare capacity never recovered, in any of {} runs"
    yield Claim(text.format(len(beyond), len(beyond) * REPLICATES), all(one == REPLICATES for one in beyond.values()))
    half = [stuck for (used, _), stuck in within.items() if used < 0.9]
    yield Claim(f"up to 80 % used, the {len(half)} with at most half of it did, in all {len(half) * REPLICATES}", not any(half))
    ((budget, stuck),) = [(budget, stuck) for (used, budget), stuck in within.items() if used == 0.9]
    text = "At 90 % used half would be {} %, and even {} % did not recover in {} runs of {}; without retries all did"
    yield Claim(text.format(said(spare_percent(0.9) / 2, 1), budget, stuck, REPLICATES), stuck > 0 and never(of_budget(data, 400, 0.9, 0)) == 0)
    yield Claim(f"at 70 % used, where {said(spare_percent(0.7))} % are to spare")
    yield Claim(f"at 70 % used (10,000 / 70 - 100) / 2 = {said(spare_percent(0.7) / 2)}, so 20 %, at 80 % used {said(spare_percent(0.8) / 2)}, so 10 %")


def budget_claims(data: pd.DataFrame) -> Iterator[Claim]:
    short = data[(data["part"] == "budgets") & (data["queue"] == 20)]
    yield Claim("With a queue of 20 every run recovered, whatever the budget, even at 90 % used without a limit", never(short) == 0)
    middle = [of_budget(data, 100, used, budget) for used in USED[:-1] for budget in BUDGETS[:-2]]
    yield Claim("with 100, every one up to 80 % used and a budget of 70 %", not any(never(one) for one in middle))
    unlimited = sum(never(of_budget(data, 100, used, UNLIMITED)) for used in USED[1:])
    yield Claim("but none without a limit from 60 % used on", unlimited == REPLICATES * len(USED[1:]))
    for length in LENGTHS_MS:
        cells = [recovered(rows(data, part="lengths", brownout_ms=length, budget_percent=budget)) for budget in (0, 20, 30, 50, 100)]
        yield Claim(f"| {length // 1000} s | {' | '.join(cells)} |")
    users = 100_000 / (0.7 * CAPACITY_RPS * BROWNOUT_MS)
    lost_users = [between(mean(of_budget(data, 400, 0.7, budget)["failed"] * users)) for budget in (0, 10, 50)]
    text = "Of each 100 users who come during the 10 s at 70 % used, with queues of 400, {} are lost without retries, {} with a budget of 10 %, {} with one of 50 %"
    yield Claim(text.format(*lost_users))


def client_claims(data: pd.DataFrame) -> Iterator[Claim]:
    for gateway in (NOTHING, BUDGET_20, BREAKER):
        for backoff in BACKOFFS_MS:
            cells = [recovered(of_clients(data, queue, 0.7, retries, backoff, gateway)) for queue in (100, 400) for retries in (1, 2, 3, 5)]
            yield Claim(f"| {gateway}, {'backoff 1 s' if backoff else 'no backoff'} | {' | '.join(cells)} |")
    storms = [(used, retries) for used in (0.5, 0.7, 0.9) for retries in CLIENT_RETRIES if used * (1 + retries) > 1]
    sayings = {
        NOTHING: "every one of the 11 crowds whose tries are more than the capacity stayed for good",
        BUDGET_20: "a gateway's budget of 20 % changed that in none of them",
    }
    for gateway, text in sayings.items():
        runs = [of_clients(data, queue, *one, backoff, gateway) for one in storms for queue in (100, 400) for backoff in BACKOFFS_MS]
        yield Claim(text, len(storms) == 11 and all(never(one) == REPLICATES for one in runs))
    short = data[(data["part"] == "clients") & (data["queue"] == 20)]
    yield Claim("With a queue of 20 no storm stayed, whatever clients and gateway do", never(short) == 0)
    slow = [of_clients(data, queue, 0.7, retries, 1000, BREAKER) for queue in (100, 400) for retries in CLIENT_RETRIES if retries >= 3]
    yield Claim("at 70 % used, from 3 of them on, they come back as fast as they go", all(never(one) == REPLICATES for one in slow))
    quick = data[(data["part"] == "clients") & (data["gateway"] == BREAKER) & (data["backoff_ms"] == 0)]
    yield Claim("With a breaker every run recovered whose clients come again at once", never(quick) == 0)


def claims(data: pd.DataFrame) -> Iterator[Claim]:
    yield from border_claims(data)
    yield from budget_claims(data)
    yield from client_claims(data)
    fewer = 0.7 * ENDPOINTS / (ENDPOINTS - 1)
    yield Claim(f"one endpoint of four ejected makes {said(100 * fewer)} % of 70 %, and spare capacity {said(spare_percent(fewer))} %")
    yield Claim(f'(and by no ratio: `"error_volume": {NEVER}`)')
    yield Claim(f"eight runs of eight say that it is so in more than {said(100 * 0.05 ** (1 / REPLICATES) // 1)} of 100, with 95 % confidence", REPLICATES == 8)


STUDY = Study(
    question="When do retries and client storms make a brownout outlive its cause, and which budget prevents it?",
    parts=parts(),
    metrics=["requests", "ok", "failed", "abandoned", "attempts", "retries"],
    draw=draw,
    claims=claims,
    held=True,
    folder=Path(__file__).resolve().parent,
)
