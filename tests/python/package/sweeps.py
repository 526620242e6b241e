"""A scenario whose run takes a millisecond or two, and what the tests of sweeps do with it."""

import halfopen

FAILURES = "/upstreams/0/health/consecutive_failures"
EJECT = "/upstreams/0/health/eject_ms"

SCENARIO = {
    "name": "small brownout",
    "duration_ms": 20_000,
    "upstreams": [
        {
            "name": "api",
            "endpoints": [{"address": f"10.0.0.{n}", "port": 80} for n in (1, 2, 3)],
            "health": {"consecutive_failures": 3, "eject_ms": 5000},
        }
    ],
    "endpoints": {
        "*": {"latency": {"exponential": {"mean_ms": 20}}},
        "10.0.0.1:80": {"faults": [{"from_ms": 5000, "to_ms": 12_000, "error": {"ratio": 0.7, "status": 503}}]},
    },
    "traffic": [{"upstream": "api", "arrivals": "poisson", "rate_rps": 30}],
    "expect": [{"metric": "requests", ">": 1}],
}


def scenario(**changes):
    """`SCENARIO`, with other values of its top-level keys."""
    return halfopen.Scenario.from_dict({**SCENARIO, **changes})


def small_sweep(replicates=4, seed=7, **more):
    """Four points of two parameters."""
    params = {FAILURES: [1, 3], EJECT: [2000, 5000]}
    return halfopen.Sweep(scenario(), params, replicates=replicates, seed=seed, **more)
