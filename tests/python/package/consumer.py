"""A program that uses the package, for the type checker to read."""

import halfopen
import numpy as np
from halfopen import build

scenario = halfopen.Scenario.of(
    duration_ms=60_000,
    upstreams=[
        build.Upstream(
            name="api",
            endpoints=[build.Endpoint(address="10.0.0.1", port=8080)],
            health=build.Health(consecutive_failures=3),
        )
    ],
    endpoints={"10.0.0.1:8080": build.Behaviour(faults=[build.Fault(from_ms=10_000, down=build.Down())])},
    traffic=[build.Traffic(upstream="api", rate_rps=50)],
)
result: halfopen.Result = halfopen.run(scenario.with_({"/seed": 3}), seed=4)
ejections: int | float | None = result.summary["ejections"]
times = np.asarray(result.events["t_ms"], dtype=np.float64)
first: str = result.events.categories("type")[0]
upstream = halfopen.Upstream(name="api", endpoints=[{"address": "10.0.0.1", "port": 8080}], health={})
with upstream.admit(0) as admission:
    dispatch = admission.pick(0)
    if dispatch is not None:
        dispatch.report(3, error="refused").close()
findings: tuple[halfopen.Finding, ...] = halfopen.lint(scenario, balancers=3)
warned: list[str] = [f"{one.id} {one.pointers[0]}: {one.numbers[0].value}" for one in findings if one.level == "warning"]
quiet = [scenario.with_(values) for one in findings for values in one.instead_values]
tuning: halfopen.Tuning = halfopen.tune(
    scenario, ["min:failed~1", "min:false_ejections"], "missed<=0", params={"/upstreams/0/health/consecutive_failures": (1, 9)}
)
block: str = tuning.block
settings: dict[str, object] = tuning.recommended.settings if tuning.recommended else {}
