"""The luck of a run, made again with NumPy's Philox and mpmath: every nanosecond has to agree.

The timeline shows no single request, so the scenarios make each one visible: an endpoint that always fails, is
ejected by one failure and comes back after 1 ms turns every pick into `endpoint_half_open` (at the arrival) and
every completion into `endpoint_ejected` (at arrival + latency). Nothing is taken from our own code: streams, counters
and formulas are written out here from the scenario page. HALFOPEN_BIN names the binary (else build/dev or
build/release).
"""

import json
import math
import subprocess
from decimal import Decimal
from pathlib import Path

import mpmath
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
MASK = 2**64 - 1
NS_PER_MS = 10**6
START_UNIX_NS = 1_700_000_000_000 * NS_PER_MS
SEEDS = [1, 2**64 - 1]

mpmath.mp.prec = 160


# ---- the scenario page, once more ---------------------------------------------------------------------


def h(text):
    x = 0xCBF29CE484222325
    for byte in text.encode():
        x = ((x ^ byte) * 0x100000001B3) & MASK
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        x = ((x ^ (x >> 33)) * factor) & MASK
    return x ^ (x >> 33)


def draws(seed, stream, entry, count, tryn=0):
    """u of the counters (0 … count - 1, try * 2^32, entry, 0). NumPy increments first, so it starts one below."""
    start = ((entry << 128) + (tryn << 96) - 1) % 2**256
    words = np.random.Philox(counter=start, key=seed | h(stream) << 64).random_raw(4 * count)[::4]
    return [float(u) for u in (words >> np.uint64(11)) * 2.0**-53]


def ln(x):
    return float(mpmath.log(mpmath.mpf(x)))


def exp(x):
    return float(mpmath.exp(mpmath.mpf(x)))


def power(x, y):
    return float(mpmath.power(mpmath.mpf(x), mpmath.mpf(y)))


def polynomial(coefficients, x):
    value = 0.0
    for coefficient in reversed(coefficients):
        value = value * x + coefficient
    return value


# Wichura, AS 241, PPND16: (numerator, denominator) of the centre, the shoulders and the tails, lowest power first.
CENTRE = ([3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125,
           45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727],
          [1.0, 42.313330701600911252, 687.18700749205790830, 5394.1960214247511077, 21213.794301586595867,
           39307.895800092710610, 28729.085735721942674, 5226.4952788528545610])
SHOULDER = ([1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504,
             1.27045825245236838258, 0.241780725177450611770, 0.0227238449892691845833, 7.74545014278341407640e-4],
            [1.0, 2.05319162663775882187, 1.67638483018380384940, 0.689767334985100004550, 0.148103976427480074590,
             0.0151986665636164571966, 5.47593808499534494600e-4, 1.05075007164441684324e-9])
TAIL = ([6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580, 0.296560571828504891230,
         0.0265321895265761230930, 0.00124266094738807843860, 2.71155556874348757815e-5, 2.01033439929228813265e-7],
        [1.0, 0.599832206555887937690, 0.136929880922735805310, 0.0148753612908506148525, 7.86869131145613259100e-4,
         1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15])


def inverse_normal(p):
    q = p - 0.5
    if abs(q) <= 0.425:
        r = 0.180625 - q * q
        return q * polynomial(CENTRE[0], r) / polynomial(CENTRE[1], r)
    root = math.sqrt(-ln(p if q < 0 else 1.0 - p))
    (above, below), r = (SHOULDER, root - 1.6) if root <= 5.0 else (TAIL, root - 5.0)
    z = polynomial(above, r) / polynomial(below, r)
    return -z if q < 0 else z


def latency_ms(spec, u):
    [(kind, of)] = spec.items()
    if kind == "fixed":
        return of["ms"]
    if kind == "uniform":
        return of["min_ms"] + u * (of["max_ms"] - of["min_ms"])
    if kind == "exponential":
        return -of["mean_ms"] * ln(1.0 - u)
    if kind == "pareto":
        return min(of["min_ms"] * power(1.0 - u, -1.0 / of["alpha"]), of["max_ms"])
    if kind == "empirical":
        return of["ms"][math.floor(u * len(of["ms"]))]
    if "p50_ms" in of:
        mu, sigma = ln(of["p50_ms"]), ln(of["p99_ms"] / of["p50_ms"]) / 2.3263478740408408
    else:
        ratio = of["sd_ms"] / of["mean_ms"]
        variance = ln(1.0 + ratio * ratio)
        mu, sigma = ln(of["mean_ms"]) - variance / 2.0, math.sqrt(variance)
    return exp(mu + sigma * inverse_normal(max(u, 2.0**-54)))


def periods(level, nano_arrivals):
    """(whole periods, expected arrivals since then), in double; a level at the border belongs to the later period."""
    whole = int(level * 1e9 / nano_arrivals)
    whole += (level >= (whole + 1) * nano_arrivals / 1e9) - (level < whole * nano_arrivals / 1e9)
    return whole, level - whole * nano_arrivals / 1e9


def burst_times(burst, levels):
    length, every = burst["for_ms"] * NS_PER_MS, burst["every_ms"] * NS_PER_MS
    for level in levels:
        whole, within = periods(level, float(burst["rps"] * length))
        yield whole * every + math.floor(within * 1e9 / burst["rps"])


def wave_times(wave, levels, until):
    """The greatest n with L(n) <= S, in 160 bits, to the first that is not below `until`."""
    length, mean = wave["period_ms"] * NS_PER_MS, wave["mean_rps"]
    swing = mpmath.mpf(wave["amplitude_rps"] * length) / 10**9 / (2 * mpmath.pi)
    for level in levels:
        whole, within = periods(level, float(mean * length))
        low, high = 0, length
        while high - low > 1:
            n = (low + high) // 2
            expected = mpmath.mpf(mean * n) / 10**9 + swing * (1 - mpmath.cos(2 * mpmath.pi * n / length))
            low, high = (n, high) if expected <= within else (low, n)
        yield whole * length + low
        if whole * length + low >= until:
            return


def level_times(traffic, levels, until):
    """When the expected number of arrivals since the entry's start reaches each level, in ns since then."""
    if "burst" in traffic:
        return list(burst_times(traffic["burst"], levels))
    if "wave" in traffic:
        return list(wave_times(traffic["wave"], levels, until))
    if "rate_rps" in traffic and "stages" not in traffic:
        return [math.floor(s * 1e9 / traffic["rate_rps"]) for s in levels]
    times, start, before, rate = [], 0, 0.0, traffic.get("rate_rps", 0)
    pieces = [(stage["target_rps"], stage["duration_ms"], None) for stage in traffic.get("stages", [])]
    pieces += [(step["rps"], step["for_ms"], step["rps"]) for step in traffic.get("step", [])]
    for target, length_ms, begins in pieces:
        rate, length = rate if begins is None else begins, length_ms * NS_PER_MS
        after = before + (rate + target) * length / 2e9
        bend = 2 * (target - rate) / (length / 1e9)
        for a in (s - before for s in levels if before <= s < after):
            root = math.sqrt(max(0.0, rate * rate + bend * a))
            times.append(start + (math.floor(1e9 * 2 * a / (rate + root)) if a > 0 else 0))
        start, before, rate = start + length, after, target
    return times


def arrival_times(traffic, entry, seed, duration_ms):
    """(ns, index) of an entry's arrivals, in time order."""
    start = traffic.get("from_ms", 0) * NS_PER_MS
    end = min(traffic.get("to_ms", duration_ms), duration_ms) * NS_PER_MS
    if "at_ms" in traffic:
        times = [round(Decimal(str(at)) * NS_PER_MS) for at in traffic["at_ms"]]
    elif "every_ms" in traffic:
        times = range(start, end, traffic["every_ms"] * NS_PER_MS)
    else:
        enough = 4000
        levels = [float(k) for k in range(enough)]
        if traffic["arrivals"] == "poisson":
            level = 0.0
            for k, u in enumerate(draws(seed, f"arrivals:{entry}", entry, enough)):
                level = levels[k] = level - ln(1.0 - u)
        times = [start + offset for offset in level_times(traffic, levels, end)]
        ends = "stages" in traffic or "step" in traffic
        assert ends or times[-1] >= end, "the test has to draw more arrivals"
    return sorted((at, k) for k, at in enumerate(times) if start <= at < end)


# ---- making every request visible ---------------------------------------------------------------------


def endpoint(entry):
    return f"10.0.0.{entry + 1}:8080"


def scenario(traffic, latencies, seed, duration_ms):
    """One upstream of one endpoint an entry: fails always, ejected by one failure, back after 1 ms."""
    health = {"consecutive_failures": 1, "eject_ms": 1}
    return {
        "name": "numpy-draws", "seed": seed, "duration_ms": duration_ms,
        "upstreams": [{"name": f"u{n}", "health": health,
                       "endpoints": [{"address": f"10.0.0.{n + 1}", "port": 8080}]} for n in range(len(traffic))],
        "endpoints": {"*": {"faults": [{"error": {"ratio": 1}}]},
                      **{endpoint(n): {"latency": latency} for n, latency in enumerate(latencies)}},
        "traffic": [{"upstream": f"u{n}", **entry} for n, entry in enumerate(traffic)],
    }


def events_of(binary, folder, document):
    """{endpoint: [(ns, type), …]} of a run."""
    file, out = folder / "scenario.json", folder / "out.jsonl"
    file.write_text(json.dumps(document), encoding="utf-8")
    done = subprocess.run([binary, "run", file, "--format", "jsonl", "-o", out], capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, done.stderr
    events = {}
    for line in out.read_text(encoding="utf-8").splitlines():
        event = json.loads(line, parse_float=Decimal)
        if event["type"].startswith("endpoint_"):
            at = Decimal(event["t_ms"]) * NS_PER_MS
            assert at == int(at), line
            events.setdefault(event["endpoint"], []).append((int(at), event["type"]))
    return events


def machine_ms(ns):
    return (START_UNIX_NS + ns) // NS_PER_MS


def expected_events(requests):
    """Of requests (arrival, completion), one at a time. One that is over before the 1 ms is goes by fail-open, unseen."""
    events, until, free = [], None, 0
    for arrival, completion in requests:
        assert arrival >= free, "the test's requests overlap"
        free = completion
        if until is not None and machine_ms(arrival) < until:
            assert machine_ms(completion) < until, "the test's requests come too close"
            continue
        if until is not None:
            events.append((arrival, "endpoint_half_open"))
        events.append((completion, "endpoint_ejected"))
        until = machine_ms(completion) + 1
    return events


def assert_same(got, want, what):
    for place, (ours, theirs) in enumerate(zip(got, want)):
        assert ours == theirs, f"{what}: event {place} is {ours} in the run and {theirs} by NumPy"
    assert len(got) == len(want), what


# ---- the tests ----------------------------------------------------------------------------------------

TRAFFIC = [
    {"arrivals": "poisson", "rate_rps": 40, "from_ms": 1500},
    {"arrivals": "uniform", "rate_rps": 37, "from_ms": 250, "to_ms": 20000},
    {"arrivals": "poisson", "rate_rps": 10, "stages": [
        {"target_rps": 60, "duration_ms": 10000}, {"target_rps": 0, "duration_ms": 5000},
        {"target_rps": 0, "duration_ms": 5000}, {"target_rps": 80, "duration_ms": 10001}]},
    {"arrivals": "uniform", "from_ms": 33, "stages": [
        {"target_rps": 50, "duration_ms": 10000}, {"target_rps": 50, "duration_ms": 4000},
        {"target_rps": 5, "duration_ms": 7000}]},
    {"at_ms": [150.25, 50, 7000.000001, 700, 20, 59999.999999], "from_ms": 50},
    {"arrivals": "poisson", "rate_rps": 0.7},
    {"arrivals": "poisson", "from_ms": 7, "step": [
        {"rps": 60, "for_ms": 5000}, {"rps": 0, "for_ms": 3000}, {"rps": 2.5, "for_ms": 20001}, {"rps": 30, "for_ms": 9}]},
    {"arrivals": "uniform", "from_ms": 1, "burst": {"rps": 70, "for_ms": 333, "every_ms": 1700}},
    {"arrivals": "poisson", "burst": {"rps": 50, "for_ms": 1300, "every_ms": 1301}},
    {"arrivals": "uniform", "from_ms": 2, "wave": {"mean_rps": 25, "amplitude_rps": 24, "period_ms": 7001}},
    {"arrivals": "poisson", "wave": {"mean_rps": 20, "amplitude_rps": 15, "period_ms": 41000}},
]

LATENCIES = [
    {"exponential": {"mean_ms": 20}},
    {"lognormal": {"p50_ms": 20, "p99_ms": 120}},
    {"lognormal": {"mean_ms": 35, "sd_ms": 30}},
    {"pareto": {"min_ms": 1, "alpha": 1.3, "max_ms": 400}},
    {"uniform": {"min_ms": 2.5, "max_ms": 17.25}},
    {"empirical": {"ms": [3, 1, 4.5, 1.25, 9, 2.6, 5]}},
    {"fixed": {"ms": 1.25}},
]


@pytest.mark.parametrize("seed", SEEDS)
def test_arrivals_to_the_nanosecond(binary, tmp_path, seed):
    duration_ms = 60000
    instant = [{"fixed": {"ms": 0}}] * len(TRAFFIC)
    events = events_of(binary, tmp_path, scenario(TRAFFIC, instant, seed, duration_ms))
    for entry, traffic in enumerate(TRAFFIC):
        arrivals = arrival_times(traffic, entry, seed, duration_ms)
        want = expected_events([(at, at) for at, _ in arrivals])
        assert len(want) >= 1.9 * 0.9 * len(arrivals) - 2, "too few of the arrivals are visible"
        assert_same(events.get(endpoint(entry), []), want, f"entry {entry}, seed {seed}")


@pytest.mark.parametrize("seed", SEEDS)
def test_tries_of_clients_to_the_millisecond(binary, tmp_path, seed):
    """Try n of a request that always fails comes its backoff after try n - 1."""
    count, base, cap, retries = 500, 40, 130, 4
    traffic = [{"every_ms": 1000, "from_ms": 11, "client": {
        "retries": retries, "backoff_base_ms": base, "backoff_cap_ms": cap}}] * 2
    events = events_of(binary, tmp_path, scenario(traffic, [{"fixed": {"ms": 0}}] * 2, seed, 1000 * count))
    for entry in range(2):
        luck = [draws(seed, f"client:{entry}", entry, count, n) for n in range(1, retries + 1)]
        tries = []
        for k in range(count):
            at = (11 + 1000 * k) * NS_PER_MS
            tries.append(at)
            for n in range(1, retries + 1):
                at += math.floor(luck[n - 1][k] * (min(base * 2**(n - 1), cap) + 1)) * NS_PER_MS
                tries.append(at)
        assert_same(events.get(endpoint(entry), []), expected_events([(at, at) for at in tries]),
                    f"entry {entry}, seed {seed}")


@pytest.mark.parametrize("seed", SEEDS)
def test_latencies_to_the_nanosecond(binary, tmp_path, seed):
    count = 1500
    traffic = [{"every_ms": 1000, "from_ms": 7 * n} for n in range(len(LATENCIES))]
    events = events_of(binary, tmp_path, scenario(traffic, LATENCIES, seed, 1000 * count))
    for entry, latency in enumerate(LATENCIES):
        arrivals = arrival_times(traffic[entry], entry, seed, 1000 * count)
        luck = draws(seed, f"service:u{entry}/{endpoint(entry)}", entry, len(arrivals))
        requests = [(at, at + math.floor(latency_ms(latency, luck[k]) * 1e6)) for at, k in arrivals]
        finished = [pair for pair in requests if pair[1] < 1000 * count * NS_PER_MS]
        assert_same(events.get(endpoint(entry), []), expected_events(finished), f"{latency}, seed {seed}")


# ---- faults: their own draws stand in the fault lanes ---------------------------------------------------


def fault_lanes(binary, folder, document):
    """[(endpoint, fault, [(from, to) in ns, …]), …] of a run."""
    file, out = folder / "scenario.json", folder / "out.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    done = subprocess.run([binary, "run", file, "--format", "json", "-o", out], capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, done.stderr
    timeline = json.loads(out.read_text(encoding="utf-8"), parse_float=Decimal)
    return [(lane["endpoint"], lane["fault"], [tuple(int(t * NS_PER_MS) for t in part) for part in lane["lane"]])
            for lane in timeline["intervals"]["faults"]]


def faulty(faults, endpoints, seed, duration_ms):
    """One upstream without traffic, and these faults of "*"."""
    return {
        "seed": seed, "duration_ms": duration_ms,
        "upstreams": [{"name": "u", "endpoints": [{"address": f"10.0.0.{n + 1}", "port": 8080}
                                                  for n in range(endpoints)]}],
        "endpoints": {"*": {"faults": faults}},
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_bursts_to_the_nanosecond(binary, tmp_path, seed):
    start = 1_500_250_000
    # (good, bad, length of the fault) in ms; the last so short that many stays last no time.
    cases = [(400, 90.5, 598499.75), (5000, 12000, 598499.75), (0.000004, 0.000003, 0.006)]
    faults = [{"from_ms": 1500.25, "to_ms": 1500.25 + length,
               "bursts": {"mean_good_ms": good, "mean_bad_ms": bad, "error_ratio": 0.5}} for good, bad, length in cases]
    lanes = fault_lanes(binary, tmp_path, faulty(faults, 1, seed, 600_000))
    assert [fault for _, fault, _ in lanes] == [0, 1, 2]
    for (name, fault, lane), (*means, length) in zip(lanes, cases):
        end = start + round(length * NS_PER_MS)
        periods, at = [], start
        for p, u in enumerate(draws(seed, f"fault:{name}/{fault}", 0, 100 + 3 * math.ceil(length / sum(means)))):
            begin, at = at, at + math.floor(-means[p % 2] * ln(1.0 - u) * 1e6)
            if p % 2 == 0 or begin >= min(at, end):
                continue
            if periods and periods[-1][1] == begin:  # the good phase between them lasted no time
                begin = periods.pop()[0]
            periods.append((begin, min(at, end)))
        assert at >= end, "the test has to draw more phases"
        assert lane == periods, f"fault {fault}, seed {seed}"


@pytest.mark.parametrize("seed", SEEDS)
def test_selections_are_the_least_draws(binary, tmp_path, seed):
    endpoints = 40
    selections = [({"percent": 20}, 8), ({"count": 13}, 13), ({"percent": 1}, 1), ({"percent": 31}, 12),
                  ({"percent": 31.25}, 13), ({"percent": 100}, 40)]
    faults = [{"hang": {"ratio": 0.5}, "selection": selection} for selection, _ in selections]
    lanes = fault_lanes(binary, tmp_path, faulty(faults, endpoints, seed, 1000))
    for n, (selection, taken) in enumerate(selections):
        luck = draws(seed, f"selection:{n}", 0, endpoints)
        want = {endpoint(place) for place in sorted(range(endpoints), key=lambda i: luck[i])[:taken]}
        assert {name for name, fault, _ in lanes if fault == n} == want, f"{selection}, seed {seed}"
