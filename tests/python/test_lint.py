"""`halfopen lint` as a command: formats, exit statuses, suppressions, bad input; and that each rule's scenario shows what it says."""

import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = sorted(path for path in (ROOT / "scenarios").glob("*.json") if not path.name.endswith(".timeline.json"))
NEVER = ROOT / "scenarios" / "lint-ratio-never-first.json"

BLOCK = """{
  "duration_ms": 1000,
  "upstreams": [
    {
      "name": "api",
      "endpoints": [ { "address": "10.0.0.1", "port": 80 }, { "address": "10.0.0.2", "port": 80 } ],
      "health": {
        "failure_ratio": 0.9,
        "eject_ms": 100
      }
    }
  ]
}
"""
BOTH = ["ratio-never-first", "eject-shorter-than-timeout"]


@pytest.fixture
def halfopen(binary):
    def run(*words):
        done = subprocess.run([binary, *map(str, words)], capture_output=True, timeout=120, cwd=ROOT)
        return done.returncode, done.stdout.decode(), done.stderr.decode()
    return run


@pytest.fixture
def lint(halfopen):
    return lambda *words: halfopen("lint", *words)


@pytest.fixture
def write(tmp_path):
    def to_file(text, name="mine.json"):
        path = tmp_path / name
        path.write_text(text)
        return path
    return to_file


@pytest.fixture
def ids(lint):
    def of(*words):
        status, out, err = lint(*words, "--format", "json")
        found = [finding for file in json.loads(out)["files"] for finding in file["findings"]]
        assert status == (1 if any(finding["level"] == "warning" for finding in found) else 0)
        return [finding["id"] for finding in found], err
    return of


# ---- formats and exit statuses --------------------------------------------------------------------------------------


def test_text_says_place_rule_reason_number_remedy_and_scenario(lint):
    status, out, err = lint(NEVER.relative_to(ROOT))
    assert (status, err) == (1, "")
    assert out == """\
scenarios/lint-ratio-never-first.json:23:63:
  warning: ratio-never-first, upstream never
  failure_ratio 0.84 can never eject before consecutive_failures 5 does.
  why:     Without 5 failures in a row at most 20 of 24 can fail, and no larger
           share from failure_min_volume 20 on: the ratio rule would need 21.
  number:  largest share of failures without the streak: 83.33 %
  instead: failure_ratio of at most 0.833, or consecutive_failures of at least
           6; failure_min_volume 4294967295 to say that there is no ratio rule.
  see:     halfopen run scenarios/lint-ratio-never-first.json

1 warning in 1 file
"""


def test_nothing_found_is_exit_status_0(lint, halfopen, write):
    starter = write(halfopen("init", "-")[1])
    assert lint(starter) == (0, "No findings in 1 file\n", "")
    assert lint(starter, "--format", "github") == (0, "", "")


def test_notices_are_told_and_leave_the_exit_status_0(lint, write):
    block = BLOCK.replace('"health": {', '"active_health": {}, "health": {')
    mine = write(block.replace('"failure_ratio": 0.9,', "").replace('"eject_ms": 100', ""))
    status, out, err = lint(mine)
    assert (status, err) == (0, "") and "notice: probes-readmit, upstream api\n" in out
    assert out.endswith("1 notice in 1 file\n")
    status, out, _ = lint(mine, "--format", "github")
    assert status == 0 and out.startswith("::notice file=")
    (finding,) = json.loads(lint(mine, "--format", "json")[1])["files"][0]["findings"]
    assert finding["level"] == "notice"
    assert lint(mine, NEVER)[0] == 1 and lint(mine, NEVER)[1].endswith("1 warning, 1 notice in 2 files\n")


def test_what_is_said_alike_of_several_upstreams_of_a_file_is_said_once(lint):
    path = "scenarios/retry-storm.json"
    status, out, _ = lint(path)
    assert status == 1
    assert out.startswith(f"{path}:30:17: warning: pool-of-one, upstream once\n"
                          f"{path}:35:17: warning: pool-of-one, upstream again\n  Ejecting")
    assert out.count("Ejecting the only endpoint") == 1 and out.endswith("2 warnings in 1 file\n")
    assert lint(path, "--format", "github")[1].count("::warning ") == 2


def test_a_place_stays_whole_however_long_its_path_is(lint, write):
    path = write(BLOCK, "long" * 30 + ".json")
    lines = lint(path)[1].splitlines()
    assert lines[:2] == [f"{path}:8:26:", "  warning: ratio-never-first, upstream api"]
    assert all(len(line) <= 80 for line in lines if not line.startswith(str(path)))


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_every_scenario_fits_the_page_and_its_numbers_are_numbers(lint, path):
    status, out, err = lint(path.relative_to(ROOT))
    assert status in (0, 1) and err == ""
    assert max(map(len, out.splitlines())) <= 80
    assert not any(line != line.rstrip() for line in out.splitlines())
    document = json.loads(lint(path, "--format", "json")[1])
    for finding in document["files"][0]["findings"]:
        assert finding["numbers"] and all(isinstance(number["value"], (int, float)) for number in finding["numbers"])
        assert all(finding[key] for key in ("sentence", "why", "instead", "upstream"))
        assert finding["instead_values"] or finding["id"] in ("pool-of-one", "pool-without-spare")
        assert finding["line"] > 1


def test_json_has_places_pointers_and_numbers_with_units(lint, write):
    status, out, _ = lint(write(BLOCK), NEVER, "--format", "json")
    assert status == 1 and out.endswith("}\n")
    document = json.loads(out)
    assert document["format"] == "halfopen.lint/1"
    mine, never = document["files"]
    assert [finding["id"] for finding in mine["findings"]] == BOTH
    ratio, eject = mine["findings"]
    assert (ratio["line"], ratio["column"]) == (8, 26)
    assert ratio["pointers"] == ["/upstreams/0/health/failure_ratio", "/upstreams/0/health/consecutive_failures"]
    assert ratio["numbers"] == [{"what": "largest share of failures without the streak", "value": 20 / 24, "unit": "share"}]
    assert eject["numbers"][0] == {"what": "verdicts come after the end of the ejection for up to", "value": 4.9, "unit": "s"}
    assert (mine["suppressed"], len(never["findings"])) == (0, 1)


def test_github_annotations(lint):
    status, out, _ = lint(NEVER.relative_to(ROOT), "--format", "github")
    assert status == 1
    (line,) = out.splitlines()
    assert line.startswith("::warning file=scenarios/lint-ratio-never-first.json,line=23,col=63,"
                           "title=halfopen lint%3A ratio-never-first::failure_ratio 0.84 can never eject")
    assert "%0AInstead: failure_ratio of at most 0.833" in line and "83.33 %25" in line


def test_list_tells_every_rule(lint):
    status, out, _ = lint("--list")
    assert status == 0 and max(map(len, out.splitlines())) <= 80
    document = json.loads(lint("--list", "--format", "json")[1])
    assert document["format"] == "halfopen.lint-rules/1"
    told = [(rule["id"], rule["level"]) for rule in document["rules"]]
    assert told == re.findall(r"^([a-z-]+) \((warning|notice)\)$", out, re.M)
    assert [name for name, level in told if level == "notice"] == ["ratio-one-is-not-off", "probes-readmit"]
    # A file format: ids stand in comments and build scripts.
    assert sorted(rule["id"] for rule in document["rules"]) == sorted(SHOWS)


def test_output_goes_to_a_file_which_must_not_be_an_input(lint, write, tmp_path):
    mine = write(BLOCK)
    assert lint(mine, "-o", tmp_path / "out.txt")[:2] == (1, "")
    assert (tmp_path / "out.txt").read_text().endswith("2 warnings in 1 file\n")
    status, _, err = lint(mine, "-o", mine)
    assert status == 2 and err.startswith("halfopen: ")
    assert mine.read_text() == BLOCK


@pytest.mark.parametrize("words", [
    [], ["--disable", "ratio-never-frist", NEVER], ["--format", "sarif", NEVER], ["--balancers", "0", NEVER],
    ["--balancers", "100001", NEVER], ["--list", "--format", "github"], ["--set", "eject_ms=3", NEVER],
], ids=lambda words: " ".join(map(str, words[:2])) or "nothing")
def test_wrong_usage(lint, words):
    status, out, err = lint(*words)
    assert (status, out) == (2, "")
    assert err.splitlines()[0].startswith("halfopen: lint: ")


def test_a_rule_that_does_not_exist_is_told_with_the_one_that_was_meant(lint):
    assert 'did you mean "ratio-never-first"?' in lint("--disable", "ratio-never-frist", NEVER)[2]


def test_a_bad_file_is_told_and_the_others_are_read(lint, write, tmp_path):
    bad = write('{ "duration_ms": 0 }', "bad.json")
    status, out, err = lint(bad, NEVER)
    assert status == 2 and f"{bad}:1:" in err
    assert "ratio-never-first" in out
    assert lint(bad)[:2] == (2, "")
    assert lint(tmp_path)[0] == 2 and lint(tmp_path / "none.json")[0] == 2
    assert lint("/dev/zero")[0] == 2


# ---- settings from elsewhere ----------------------------------------------------------------------------------------


def test_set_changes_what_is_read(ids, write):
    mine = write(BLOCK)
    assert ids(mine, "--set", "/upstreams/0/health/eject_ms=5000")[0] == BOTH[:1]
    assert ids(mine, "--set", "/upstreams/0/health/failure_ratio=0.8")[0] == BOTH[1:]


def test_a_gateways_file_has_the_places_and_the_suppressions(lint, ids, write):
    scenario = write('{ "duration_ms": 1000, "upstreams": [] }')
    text = """\
listeners: []
upstreams:
  - name: api
    endpoints: [ { address: 10.0.0.1, port: 80 }, { address: 10.0.0.2, port: 80 } ]
    health:
      failure_ratio: 0.9  # COMMENT
"""
    gateway = write(text, "gateway.yaml")
    status, out, _ = lint(scenario, "--gateway", gateway)
    assert status == 1 and out.startswith(f"{gateway}:6:22:\n  warning: ratio-never-first")
    write(text.replace("COMMENT", "halfopen-lint: disable=ratio-never-first"), "gateway.yaml")
    assert ids(scenario, "--gateway", gateway) == ([], "")


def test_balancers_that_share_the_settings_multiply_probe_loops(ids, write):
    block = BLOCK.replace('"eject_ms": 100', '"eject_ms": 9000 }, "active_health": { "jitter_ms": 0, "success_threshold": 3')
    mine = write(block.replace('"failure_ratio": 0.9', '"failure_ratio": 0.5'))
    assert ids(mine)[0] == []
    assert ids(mine, "--balancers", "5")[0] == ["probes-in-lockstep"]


# ---- suppressions ---------------------------------------------------------------------------------------------------



RATIO = "halfopen-lint: disable=ratio-never-first"


@pytest.mark.parametrize("text", [
    BLOCK.replace('0.9,', f'0.9, // {RATIO}'),
    BLOCK.replace('0.9,', f'0.9, /* {RATIO} because */'),
    BLOCK.replace('        "failure_ratio"', f'        // {RATIO}\n\n        // and so on\n        "failure_ratio"'),
    BLOCK.replace('        "failure_ratio"', f'        /* {RATIO}\n */ "failure_ratio"'),
    BLOCK.replace('"health": {', f'"health": {{ // {RATIO}'),
    BLOCK.replace('      "health"', f'      // {RATIO}\n      "health"'),
    BLOCK.replace('    {\n      "name"', f'    // {RATIO}\n    {{\n      "name"'),
    f"// {RATIO}, as a matter of taste\n" + BLOCK,
], ids=["behind", "block comment", "above", "before", "behind a brace", "above a block", "above an upstream", "top"])
def test_a_comment_keeps_one_rule_quiet_where_it_stands(ids, write, text):
    assert ids(write(text)) == (BOTH[1:], "")


@pytest.mark.parametrize("text", [
    BLOCK.replace('"eject_ms": 100', f'"eject_ms": 100 // {RATIO}'),
    BLOCK.replace('"name": "api"', f'"name": "api" // {RATIO}\n').replace(f'// {RATIO}\n,', f', // {RATIO}'),
    BLOCK.replace('"name": "api"', f'"name": "// {RATIO}"'),
    BLOCK.replace('  "upstreams"', f'  // see {RATIO}\n  "upstreams"'),
    BLOCK + f"// {RATIO}\n",
], ids=["another key", "behind a sibling", "in a string", "mentioned", "bottom"])
def test_elsewhere_it_keeps_nothing_quiet(ids, write, text):
    assert ids(write(text)) == (BOTH, "")


def test_several_rules_in_one_comment_and_on_the_command_line(lint, ids, write):
    mine = write(f"// {RATIO},eject-shorter-than-timeout\n" + BLOCK)
    assert ids(mine) == ([], "")
    assert lint(mine)[1] == "No findings, 2 suppressed, in 1 file\n"
    for separator in (", ", " , ", " ,", ",  "):
        for words in ("", " as a matter of taste", ", as we like it"):
            apart = write(f"// {RATIO}{separator}eject-shorter-than-timeout{words}\n" + BLOCK, "apart.json")
            assert ids(apart) == ([], "")
    plain = write(BLOCK, "plain.json")
    assert ids(plain, "--disable", BOTH[0])[0] == BOTH[1:]
    assert ids(plain, "--disable", BOTH[0], "--disable", BOTH[1])[0] == []


@pytest.mark.parametrize("comment, what", [
    ("halfopen-lint: disable=ratio-never-frist", 'there is no rule "ratio-never-frist"; did you mean "ratio-never-first"?'),
    ("halfopen-lint: disable=pool-of-one, ratio-never-frist", 'there is no rule "ratio-never-frist"; did you mean "ratio-never-first"?'),
    ("halfopen-lint: disable=", "halfopen-lint: must be followed by disable=ID, or several with commas"),
    ("halfopen-lint: ratio-never-first", "halfopen-lint: must be followed by disable=ID, or several with commas"),
])
def test_a_comment_that_says_it_wrong_is_told_with_its_place(ids, write, comment, what):
    mine = write(BLOCK.replace('0.9,', f'0.9, // {comment}'))
    assert ids(mine) == (BOTH, f"{mine}:8:34: warning: {what}\n")


@pytest.mark.parametrize("where", ["failure_ratio: 0.9", "health:", "- name: api", "duration_ms"])
@pytest.mark.parametrize("above", [True, False], ids=["above", "behind"])
def test_yaml_has_the_same_comments(ids, write, where, above):
    lines = """\
duration_ms: 1000
upstreams:
  - name: api
    endpoints: [ { address: 10.0.0.1, port: 80 }, { address: 10.0.0.2, port: 80 } ]
    health:
      failure_ratio: 0.9
      eject_ms: 100
""".splitlines()
    at = next(n for n, line in enumerate(lines) if where in line)
    if above:
        lines.insert(at, f"   # {RATIO}")
    else:
        lines[at] += f"  # {RATIO}"
    assert ids(write("\n".join(lines) + "\n", "mine.yaml")) == (BOTH[1:], "")


def test_a_comment_changes_nothing_in_a_run(halfopen, write):
    plain, commented = write(BLOCK, "plain.json"), write(f"// {RATIO}\n" + BLOCK)
    assert halfopen("run", "--format", "json", plain) == halfopen("run", "--format", "json", commented)


# ---- what the scenarios show ----------------------------------------------------------------------------------------


def events(timeline, upstream, *types):
    return [event for event in timeline["events"] if event["upstream"] == upstream and event["type"] in types]


def never_ejected(upstream):
    return lambda timeline: not events(timeline, upstream, "endpoint_ejected")


def breaker_was_first(timeline):
    first, second = events(timeline, "late", "breaker_opened", "endpoint_ejected")[:2]
    return (first["type"], second["type"]) == ("breaker_opened", "endpoint_ejected")


def came_back_early(timeline):
    seen = events(timeline, "probed", "endpoint_ejected", "endpoint_recovered")
    back = [after["t_ms"] - before["t_ms"] for before, after in zip(seen[::2], seen[1::2], strict=False)]
    return len(back) >= 4 and max(back) < 30000


# What the run of the rule's scenario must show, for the upstream that the finding names.
SHOWS = {
    "ratio-never-first": ("never", never_ejected("never")),
    "ratio-one-is-not-off":
        ("one", lambda timeline: [event["t_ms"] for event in events(timeline, "one", "endpoint_ejected")] == [2000]),
    "volume-out-of-reach": ("eleven", never_ejected("eleven")),
    "false-ejections": ("two", lambda timeline: len(events(timeline, "two", "endpoint_ejected")) >= 3),
    "breaker-opens-first": ("late", breaker_was_first),
    "eject-shorter-than-timeout":
        ("short", lambda timeline: sum(event["t_ms"] > 3100 for event in events(timeline, "short", "endpoint_ejected")) == 4),
    "pool-of-one": ("alone", lambda timeline: timeline["summary"]["fail_open_picks"] > 0),
    "pool-without-spare": ("eager", lambda timeline: len({e["endpoint"] for e in events(timeline, "eager", "endpoint_ejected")}) == 3),
    "probes-readmit": ("probed", came_back_early),
    "probes-reset-streak": ("quiet", never_ejected("quiet")),
    "probes-in-lockstep":
        ("lock-1", lambda timeline: sum(event["t_ms"] == 10009 for event in timeline["events"]) == 5),
    "retries-double-load": ("plenty", lambda timeline: timeline["summary"]["retries"] == 215),
}


@pytest.mark.parametrize("rule", SHOWS)
def test_the_scenario_of_a_rule_shows_it_and_lint_tells_it_there(lint, halfopen, rule):
    rules = {entry["id"]: entry for entry in json.loads(lint("--list", "--format", "json")[1])["rules"]}
    path = ROOT / rules[rule]["shown_by"]
    assert path in SCENARIOS
    upstream, shows = SHOWS[rule]
    findings = json.loads(lint(path, "--format", "json")[1])["files"][0]["findings"]
    assert (rule, upstream) in [(finding["id"], finding["upstream"]) for finding in findings]
    status, out, _ = halfopen("run", "--format", "json", path)
    assert status == 0 and shows(json.loads(out))


@pytest.mark.parametrize("stem, told", [
    ("lint-ratio-never-first", {"ratio-never-first"}), ("lint-false-ejections", {"false-ejections"}),
    ("lint-breaker-opens-first", {"breaker-opens-first"}), ("lint-retries-double-load", {"retries-double-load"}),
    ("lint-eject-shorter-than-timeout", {"eject-shorter-than-timeout"}),
    ("brownout-one-of-four", set()), ("gateway-demo", {"probes-readmit"}), ("ejection-before-breaker", set()),
    ("breaker-before-ejection", set()), ("one-in-five-bad", set()),
])
def test_judged_by_an_expert(ids, stem, told):
    assert set(ids(ROOT / "scenarios" / f"{stem}.json")[0]) == told
