"""What a sweep from Python costs over its runs, and what a second core is worth: called by run.py, prints JSON.

    python tests/bench/sweep.py SCENARIO --runs N --rounds N

Each round sweeps the same runs on one thread and on all cores, and runs them one by one without a sweep, in turn. A cost
is processor time, which another process cannot take; an efficiency is wall time, where a busy machine shows.
"""

import argparse
import json
import os
import time
from statistics import median

from halfopen import Scenario, Sweep, _core

EJECT = "/upstreams/0/health/eject_ms"
PROMISED_RUNS = 10_000  # fewer are measured unless --runs says so: each is like any other
POINTS = 10  # of `runs` in all: a sweep reads the scenario once a point


def measured(work):
    """(wall, processor) seconds of a call, of all threads, and what it answers."""
    wall, cpu = time.perf_counter(), time.process_time()
    out = work()
    return time.perf_counter() - wall, time.process_time() - cpu, out


def swept(scenario, runs, threads):
    sweep = Sweep(scenario, {EJECT: range(20_000, 20_000 + 1000 * POINTS, 1000)}, replicates=runs // POINTS, seed=1)
    return sweep.run(threads=threads, progress=False).table["fingerprint"].tolist()


def alone(scenarios):
    """The same runs without a sweep: nothing but simulate(), of scenarios that have been read before."""
    return [_core.simulate(scenario._core).fingerprint for scenario in scenarios]


def rows(runs, cores, rounds):
    """As run.py prints them; each round is {"alone": …, "one": …, "all": …}, pairs of wall and processor time."""
    def per_round(function):
        return [function(**one) for one in rounds]

    linear = per_round(lambda one, all, **_: one[0] / all[0] / cores)
    ours = median(per_round(lambda all, **_: all[1] / all[0] / cores))
    best = min(per_round(lambda all, **_: all[0])) / runs
    alike = "measured" if runs >= PROMISED_RUNS else f"as {runs:,} of them"
    return [
        {"name": f"{PROMISED_RUNS:,} runs of W, 4 endpoints, {cores} threads", "measured": best * PROMISED_RUNS, "unit": "s",
         "at_most": True, "note": f"{alike}, the best of {len(rounds)} rounds; {best * 1e3:.1f} ms a run"},
        {"name": f"{cores} threads / linear", "measured": 100 * max(linear), "unit": "%", "aim": 95,
         "note": f"wall time, the best round; median {100 * median(linear):.0f} %; {100 * ours:.0f} % of the cores' time was ours"},
        {"name": f"{cores} threads / linear, processor time",
         "measured": 100 * median(per_round(lambda one, all, **_: one[1] / all[1])), "unit": "%", "aim": 95},
        {"name": "overhead of a run in a sweep", "measured": 100 * median(per_round(lambda alone, one, **_: one[1] / alone[1] - 1)),
         "unit": "%", "at_most": True, "aim": 5, "note": "processor time on one thread, over that of its runs alone"},
    ]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("scenario")
    parser.add_argument("--runs", type=int, required=True)
    parser.add_argument("--rounds", type=int, required=True)
    chosen = parser.parse_args()
    scenario, cores = Scenario.load(chosen.scenario), len(os.sched_getaffinity(0))
    replicates = max(chosen.runs // POINTS, 1)
    points = [scenario.with_({EJECT: 20_000 + 1000 * point}) for point in range(POINTS)]
    scenarios = [point.with_seed(1 + n) for point in points for n in range(replicates)]
    rounds = []
    for _ in range(chosen.rounds):
        *bare, expected = measured(lambda: alone(scenarios))
        *one, first = measured(lambda: swept(scenario, len(scenarios), 1))
        *both, second = measured(lambda: swept(scenario, len(scenarios), cores))
        if not expected == first == second:
            raise SystemExit("the same runs, and not the same fingerprints")
        rounds.append({"alone": bare, "one": one, "all": both})
    print(json.dumps(rows(len(scenarios), cores, rounds)))


if __name__ == "__main__":
    main()
