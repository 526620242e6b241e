"""halfopen.lint gives what the command gives."""

import dataclasses
import json
import pickle
import subprocess

import halfopen
import pytest


def test_it_is_what_the_command_says(cli, scenarios):
    told = 0
    for path in scenarios:
        found = halfopen.lint(halfopen.Scenario.load(path))
        done = subprocess.run([cli, "lint", path, "--format", "json"], capture_output=True, text=True)
        (file,) = json.loads(done.stdout)["files"]
        theirs = [{key: one[key] for key in one if key not in ("file", "line", "column")} for one in file["findings"]]
        ours = []
        for one in found:
            fields = dataclasses.asdict(one)
            fields.pop("text")
            fields["numbers"] = [number._asdict() for number in one.numbers]
            ours.append(json.loads(json.dumps(fields)))
        assert ours == theirs, path
        text = subprocess.run([cli, "lint", path], capture_output=True, text=True).stdout
        assert all(one.text in text for one in found)
        told += len(found)
    assert told > 10


def test_a_finding_is_a_value_that_reads_well(brownout):
    deaf = brownout.with_({"/upstreams/0/health/failure_ratio": 0.9})
    (one,) = halfopen.lint(deaf)
    assert (one.id, one.level, one.upstream) == ("ratio-never-first", "warning", "api")
    assert one.pointers == ("/upstreams/0/health/failure_ratio", "/upstreams/0/health/consecutive_failures")
    assert one.numbers == (halfopen.FindingNumber("largest share of failures without the streak", 20 / 24, "share"),)
    assert str(one).startswith("warning: ratio-never-first, upstream api\n  failure_ratio 0.9 can never eject")
    assert max(map(len, str(one).splitlines())) <= 80 and not str(one).endswith("\n")
    assert "can never eject" in one._repr_html_()
    assert pickle.loads(pickle.dumps(one)) == one and hash(one) == hash(halfopen.lint(deaf)[0])
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.level = "notice"


def test_its_values_can_be_set_and_make_it_silent(brownout):
    deaf = brownout.with_({"/upstreams/0/health/failure_ratio": 0.9})
    (one,) = halfopen.lint(deaf)
    assert len(one.instead_values) == 3
    for values in one.instead_values:
        assert halfopen.lint(deaf.with_(values)) == ()


def test_balancers_share_the_settings(brownout):
    probed = brownout.with_({"/upstreams/0/active_health": {"jitter_ms": 0}})
    assert "probes-in-lockstep" not in {one.id for one in halfopen.lint(probed)}
    assert "probes-in-lockstep" in {one.id for one in halfopen.lint(probed, balancers=5)}


@pytest.mark.parametrize(("wrong", "error"), [(0, ValueError), (100_001, ValueError), (2.5, TypeError), ("3", TypeError)])
def test_a_wrong_number_of_balancers_is_told(brownout, wrong, error):
    with pytest.raises(error, match="a whole number from 1 to 100000"):
        halfopen.lint(brownout, balancers=wrong)


def test_only_scenarios_are_read():
    with pytest.raises(TypeError, match="Scenario.load"):
        halfopen.lint("a.json")
