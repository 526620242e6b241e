"""`make bench`: workload W beside the afternoon yardstick, the machines, the prober and sweeps, as ratios of one run.

    python tests/bench/run.py --build build/release [--rounds N] [--only NAME] [--runs N] [--json FILE]

Absolute times mean little on a shared machine, so whatever is compared runs in turn and a figure is a median over
rounds. Rates are per second of processor time: a time slice that another process took is nobody's speed.
Exit status 1 if a must is missed, 2 if something could not be run.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median

SIZES = (4, 64)
SMALL_RUNS = 5  # of N = 4 a round: each takes a sixteenth of N = 64
MIN_TIME_S = 0.05  # of one benchmark in one round
VOLUMES = (1_000, 100_000, 600_000)
KIB = 1024
PROBE_RUNS = 3  # of 15 s, however many rounds the rest has: each is an average over ten thousand probes
PROBE_AIM = 3
LATE_AIM_MS = 50


class Broken(Exception):
    """A program failed or contradicted itself: there is no figure to print."""


@dataclass
class Row:
    group: str
    name: str
    measured: float
    unit: str = "x"
    at_most: bool = False  # whether must and aim are upper limits
    must: float = None
    aim: float = None
    note: str = ""
    verdict: str = field(init=False)

    def __post_init__(self):
        self.verdict = "ok"
        if not self.meets(self.aim):
            self.verdict = "below aim"
        if not self.meets(self.must):
            self.verdict = "MISSED"

    def meets(self, limit):
        if limit is None:
            return True
        return self.measured <= limit if self.at_most else self.measured >= limit

    def limit(self, value):
        return "" if value is None else f"{'<=' if self.at_most else '>='} {amount(value, self.unit)}"


def amount(value, unit):
    digits = 2 if unit == "x" and value < 100 else 0 if value >= 100 or value == int(value) else 1
    return f"{value:,.{digits}f}{'' if unit == 'x' else ' '}{unit}"


def output_of(command, cwd=None):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, cwd=cwd)
    if done.returncode != 0:
        raise Broken(f"{command[0]}: exit status {done.returncode}\n{done.stderr.strip()}")
    return json.loads(done.stdout)


# ---- workload W ------------------------------------------------------------------------------------


def run_workload(programs, rounds):
    """{(program, n): [[requests a second of each run] of each round]}; runs of the same place are neighbours in time."""
    rates = {(name, n): [] for name in programs for n in SIZES}
    fingerprints = {}
    for turn in range(-1, rounds):  # the first one warms up and is thrown away
        for n in SIZES:
            runs = {name: [] for name in programs}
            for repeat in range(SMALL_RUNS if n == min(SIZES) else 1):
                for name in sorted(programs, reverse=(turn + repeat) % 2 == 0):
                    said = output_of([programs[name], n])
                    runs[name].append(said["requests"] / said["cpu_s"])
                    fingerprint = said.get("fingerprint")
                    if fingerprints.setdefault((name, n), fingerprint) != fingerprint:
                        raise Broken(f"{name} {n}: two runs, two fingerprints")
            if turn >= 0:
                for name, of_round in runs.items():
                    rates[name, n].append(of_round)
    return rates


def workload_rows(rates):
    rows = []
    for n in SIZES:
        ours, theirs = ([rate for runs in rates[name, n] for rate in runs] for name in ("workload_w", "afternoon"))
        rows.append(Row("w", f"W / afternoon, {n} endpoints", median(a / b for a, b in zip(ours, theirs)), must=1.0, aim=2.0,
                        note=f"{median(ours) / 1e6:.2f} and {median(theirs) / 1e6:.2f} million requests/s"))
    small, large = SIZES
    falls = {name: median(median(a) / median(b) for a, b in zip(rates[name, small], rates[name, large]))
             for name in ("workload_w", "afternoon")}
    rows.append(Row("w", f"W, {small} endpoints / {large}", falls["workload_w"], at_most=True, must=2.0, aim=1.3,
                    note=f"the afternoon's: {falls['afternoon']:.2f}x"))
    return rows


# ---- the machines ----------------------------------------------------------------------------------


class Figures:
    """Medians over the repetitions of a google-benchmark run, by name."""

    def __init__(self, report):
        self.runs = {}
        for run in report["benchmarks"]:
            if run.get("error_occurred"):
                raise Broken(f"{run['name']}: {run.get('error_message')}")
            if run["run_type"] == "iteration":
                self.runs.setdefault(re.sub(r"/iterations:\d+", "", run["run_name"]), []).append(run)

    def median(self, name, key):
        if name not in self.runs:
            raise Broken(f"machines: no benchmark {name}")
        return median(run[key] for run in self.runs[name])

    def ns(self, name):
        return self.median(name, "cpu_time")

    def by_volume(self, name):
        return [self.ns(f"{name}/{volume}") for volume in VOLUMES]


def ns_list(values):
    return " / ".join(f"{value:,.0f}" for value in values) + " ns"


def report_rows(figures):
    rows = []
    lists = {kind: figures.by_volume(f"naive/{kind}") for kind in ("success", "failure")}
    reports = (("tracker", "success"), ("tracker", "failure"), ("breaker", "failure"))
    for machine, kind in reports:
        times = figures.by_volume(f"{machine}/{kind}")
        rows.append(Row("reports", f"{machine}, a {kind}: 10^5, 6*10^5 / 10^3", max(times[1:]) / times[0], at_most=True, must=1.3,
                        note=ns_list(times)))
    success, failure = (figures.by_volume(f"tracker/{kind}") for kind in ("success", "failure"))
    rows.append(Row("reports", "tracker, a failure / a success", max(b / a for a, b in zip(success, failure)), at_most=True,
                    aim=1.3))
    rows.append(Row("reports", "tracker, a success / with a list",
                    max(a / b for a, b in zip(success, lists["success"])), at_most=True, aim=1.0, note=ns_list(lists["success"])))
    for machine, kind in reports[1:]:
        times = figures.by_volume(f"{machine}/{kind}")
        rows.append(Row("reports", f"with a list / {machine}, a {kind}, 6*10^5", lists["failure"][-1] / times[-1],
                        note=ns_list(lists["failure"])))
    rows.append(Row("reports", "breaker, a failure", max(figures.by_volume("breaker/failure")), unit="ns", at_most=True, aim=25))
    return rows


def idle_rows(figures):
    naive = figures.median("naive/idle_minute/manual_time", "real_time")
    rows = []
    for machine in ("tracker", "breaker"):
        ns = figures.median(f"{machine}/idle_minute/manual_time", "real_time")
        rows.append(Row("idle", f"{machine}, first report after an idle minute", ns / 1e3, unit="us", at_most=True, aim=60,
                        note=f"6*10^5 to expire; with a list {naive / ns:.1f} times that"))
    return rows


def attempt_rows(figures):
    rows = []
    sizes = (4, 16, 128, 1024)
    for name, what in (("attempt", "attempt"), ("attempt_with_breaker", "attempt with breaker")):
        times = [figures.ns(f"{name}/{n}") for n in sizes]
        rows.append(Row("attempts", f"{what}, 1,024 healthy / 4", times[-1] / times[0], at_most=True, must=10, note=ns_list(times)))
    for n, aim in ((4, 80), (1024, 800)):
        rows.append(Row("attempts", f"attempt, {n:,} healthy", figures.ns(f"attempt/{n}"), unit="ns", at_most=True, aim=aim))
    return rows


def thread_rows(figures):
    def speedup(name):
        one, two = (figures.median(f"{name}/real_time/threads:{n}", "items_per_second") for n in (1, 2))
        return two / one

    return [Row("threads", "two threads on one upstream / one", speedup("one_upstream"), aim=1.2,
                note=f"each its own upstream: {speedup('own_upstream'):.2f}x")]


def memory_rows(figures):
    window, after, naive = (figures.median("memory", key) for key in ("bytes", "bytes_after_ejection", "naive_bytes"))
    return [
        Row("memory", "window of 6*10^5 a minute", window / KIB, unit="KiB", at_most=True, aim=1024,
            note=f"with a list {naive / window:.1f} times that"),
        Row("memory", "the same after an ejection", after / KIB, unit="KiB", at_most=True, aim=0),
    ]


MACHINES = {  # group: (which benchmarks, what becomes of them)
    "reports": (r"(tracker|breaker|naive)/(success|failure)/", report_rows),
    "idle": (r".*/idle_minute/", idle_rows),
    "attempts": (r"attempt.*/", attempt_rows),
    "threads": (r"(one|own)_upstream/", thread_rows),
    "memory": (r"memory/", memory_rows),
}


def machine_rows(program, groups, rounds):
    report = output_of([
        program, "--benchmark_format=json", f"--benchmark_repetitions={rounds}", f"--benchmark_min_time={MIN_TIME_S}",
        "--benchmark_enable_random_interleaving=true",
        "--benchmark_filter=^(" + "|".join(MACHINES[group][0] for group in groups) + ")",
    ])
    figures = Figures(report)
    return [row for group in groups for row in MACHINES[group][1](figures)]


# ---- the prober ------------------------------------------------------------------------------------


def probe_rows(program, rounds):
    rows = []
    for jitter_ms in (0, 100):
        runs = [output_of([program, jitter_ms]) for _ in range(min(rounds, PROBE_RUNS))]
        for said in runs:
            if said["not_ok"] or said["threw"] or said["loops"] != said["endpoints"]:
                raise Broken(f"probes {jitter_ms}: {said['not_ok']} not ok, {said['threw']} not made, "
                             f"{said['loops']} loops for {said['endpoints']} endpoints")

        def middle(key, runs=runs):
            return median(said[key] for said in runs)

        what = f"{runs[0]['endpoints']:,} endpoints, jitter {jitter_ms} ms"
        rows += [
            Row("probes", f"{what}: of one core", middle("cpu_percent"), unit="%", at_most=True, must=10,
                note=f"{middle('user_percent'):.1f} % in our code and libraries, the rest in system calls"),
            Row("probes", f"{what}: a probe / its bare system calls", median(said["cpu_us"] / said["bare_us"] for said in runs),
                at_most=True, aim=PROBE_AIM, note=f"{middle('cpu_us'):.1f} and {middle('bare_us'):.1f} us"),
            Row("probes", f"{what}: fewest probes / due", min(said["fewest"] / said["at_least"] for said in runs), must=1.0,
                note=f"{runs[0]['fewest']} to {runs[0]['most']} each, {runs[0]['probes']:,} in {runs[0]['seconds']:.1f} s"),
            Row("probes", f"{what}: longest gap", max(said["longest_gap_ms"] for said in runs), unit="ms", at_most=True, must=2000,
                note="between two probes of one endpoint: a missed one would make it 2,000 ms"),
        ]
        if jitter_ms == 0:  # with it only the loop knows what sleep it drew
            rows.append(Row("probes", f"{what}: late at p99", middle("late_p99_ms"), unit="ms", at_most=True, aim=LATE_AIM_MS,
                            note=f"p50 {middle('late_p50_ms'):.1f} ms; a probe takes {middle('took_p50_ms'):.1f} ms, "
                                 f"at p99 {middle('took_p99_ms'):.1f} ms"))
    return rows


# ---- sweeps from Python ----------------------------------------------------------------------------

def sweep_rows(program, python, runs, rounds):
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder) / "w.json"
        scenario.write_bytes(subprocess.run([program, str(min(SIZES)), "--scenario"], capture_output=True, check=True).stdout)
        script = Path(__file__).resolve().with_name("sweep.py")
        # From elsewhere: beside a checkout's python/ the sources would stand in for the package.
        return [Row("sweep", **row) for row in output_of([python, script, scenario, "--runs", runs, "--rounds", rounds], cwd=folder)]


# ---- the account -----------------------------------------------------------------------------------


def print_table(rows):
    cells = [(row.name, amount(row.measured, row.unit), row.limit(row.must), row.limit(row.aim), row.verdict, row.note) for row in rows]
    heads = ("", "measured", "must", "aim", "", "")
    widths = [max(len(line[i]) for line in [heads, *cells]) for i in range(len(heads))]
    group = None
    for row, line in zip([None, *rows], [heads, *cells]):
        if row and row.group != group and group is not None:
            print()
        group = row and row.group
        print("  ".join(text.ljust(width) if i in (0, 4, 5) else text.rjust(width)
                        for i, (text, width) in enumerate(zip(line, widths))).rstrip())


def options(arguments):
    parser = argparse.ArgumentParser(description="Workload W, the machines and the prober, as ratios.")
    parser.add_argument("--build", type=Path, required=True, help="the build folder: its bench/ holds the programs")
    parser.add_argument("--rounds", type=int, default=9, help="of everything (default: %(default)s)")
    parser.add_argument("--only", choices=("w", *MACHINES, "probes", "sweep"), action="append", help="a part; may be repeated")
    parser.add_argument("--runs", type=int, default=300, help="of a sweep in a round (default: %(default)s)")
    parser.add_argument("--python", type=Path, default=Path("build/python/env/bin/python"),
                        help="an interpreter that has the package, for the sweeps (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="write the rows there as well")
    chosen = parser.parse_args(arguments)
    if chosen.rounds < 1 or chosen.runs < 1:
        parser.error("--rounds and --runs must be at least 1")
    return chosen


def main(arguments):
    chosen = options(arguments)
    groups = chosen.only or ["w", *MACHINES, "probes", "sweep"]
    programs = {name: chosen.build / "bench" / name for name in ("afternoon", "workload_w", "machines", "probes")}
    programs = {name: path.absolute() for name, path in programs.items()}
    load = os.getloadavg()[0]
    rows = []
    try:
        if "w" in groups:
            rows += workload_rows(run_workload({name: programs[name] for name in ("afternoon", "workload_w")}, chosen.rounds))
        machines = [group for group in MACHINES if group in groups]
        if machines:
            rows += machine_rows(programs["machines"], machines, chosen.rounds)
        if "probes" in groups:
            rows += probe_rows(programs["probes"], chosen.rounds)
        if "sweep" in groups:
            # The environment's own name is a link: resolved, it would be another interpreter.
            rows += sweep_rows(programs["workload_w"], chosen.python.absolute(), chosen.runs, chosen.rounds)
    except (Broken, OSError, ValueError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    print_table(rows)
    missed = [row for row in rows if row.verdict == "MISSED"]
    print(f"\n{len(rows)} figures, {chosen.rounds} rounds, {os.cpu_count()} cores, load {load:.1f} at the start: {len(missed)} missed, "
          f"{sum(row.verdict == 'below aim' for row in rows)} below aim.")
    if chosen.json:
        account = {"rounds": chosen.rounds, "cores": os.cpu_count(), "load": load, "rows": [asdict(row) for row in rows]}
        chosen.json.write_text(json.dumps(account, indent=1) + "\n", encoding="utf-8")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
