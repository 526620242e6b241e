"""halfopen.analyze gives what the command gives."""

import subprocess

import halfopen
import pytest


def test_it_is_what_the_command_says(cli, scenarios, tmp_path):
    for path in scenarios[:12]:
        found = halfopen.analyze(halfopen.Scenario.load(path))
        for form, ours in (("text", found.text), ("json", found.json)):
            done = subprocess.run([cli, "analyze", path, "--format", form], capture_output=True, text=True, check=True)
            assert done.stdout == ours, (path, form)


def test_rates_and_ratios_are_the_callers(cli, brownout):
    asked = {"rate_rps": 250, "healthy_error_ratio": 0.01, "sick_error_ratio": 0.3}
    found = halfopen.analyze(brownout, **asked)
    assert found.json != halfopen.analyze(brownout).json
    (upstream,) = found.to_dict()["upstreams"]
    assert upstream["name"] == "api" and str(found) == found.text and found.text.split("\n")[0] in found._repr_html_()


@pytest.mark.parametrize(
    ("wrong", "error"), [({"rate_rps": 0}, ValueError), ({"sick_error_ratio": 1.5}, ValueError), ({"rate_rps": "9"}, TypeError)]
)
def test_bad_numbers_are_told(brownout, wrong, error):
    with pytest.raises(error, match="it must be a number from"):
        halfopen.analyze(brownout, **wrong)


def test_only_scenarios_are_analysed():
    with pytest.raises(TypeError, match="Scenario.load"):
        halfopen.analyze("a.json")
