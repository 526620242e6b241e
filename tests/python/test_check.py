"""`halfopen check`: what its renderings say, that threads change no byte, and what a directory must not hide."""

import json
import re
import resource
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

from test_cli import EJECTION, halfopen, scenario, write  # noqa: F401 (fixtures)

NEVER = {"never": "endpoint_ejected"}
STEADY = {"never": "breaker_opened"}


@pytest.fixture
def mixed(halfopen, write, tmp_path):  # noqa: F811
    """A directory of everything: holding, failing, bad, golden, differing, stale, nothing to judge."""
    (tmp_path / "d").mkdir()
    write(scenario(name="good", expect=[EJECTION, STEADY]), "d/a-good.json")
    write(scenario(name="failing", expect=[EJECTION, NEVER]), "d/b-failing.json")
    write("{ \"name\": 3,\n  \"trafic\": [] }", "d/c-bad.json")
    write(scenario(name="golden"), "d/d-golden.json")
    write(scenario(name="differs", seed=2), "d/e-differs.json")
    for name in "d-golden", "e-differs":
        assert halfopen("run", f"d/{name}.json", "--format", "json", "-o", f"d/{name}.timeline.json")[0] == 0
    write(scenario(name="differs", seed=3), "d/e-differs.json")
    write("{}", "d/f-stale.timeline.json")
    write(scenario(name="silent", expect=[]), "d/g-silent.json")
    return "d"


# ---- the text -------------------------------------------------------------------------------------


def test_the_text_tells_each_file_in_order(halfopen, mixed):  # noqa: F811
    status, out, err = halfopen("check", mixed)
    assert status == 2
    heads = [line for line in out.splitlines() if not line.startswith(" ")]
    assert heads == [
        "ok good (2 expectations)", "FAILED failing", "ok golden (1 expectation, golden timeline)", "FAILED differs",
        "FAILED d/f-stale.timeline.json",
        "ok silent (nothing to judge: no expectation, no golden timeline)",
    ]
    assert "d/c-bad.json:1:11: /name: " in err and "d/c-bad.json:2:3: /trafic: " in err
    assert err.endswith("3 of 6 scenarios held, 1 bad, 1 golden timeline of no scenario\n")


def test_without_a_bad_file_the_status_is_1(halfopen, mixed, tmp_path):  # noqa: F811
    (tmp_path / "d/c-bad.json").unlink()
    assert halfopen("check", mixed)[0] == 1


def test_a_stale_golden_timeline_fails_alone_and_is_not_deleted(halfopen, write, tmp_path):  # noqa: F811
    (tmp_path / "d").mkdir()
    write(scenario(), "d/x.json")
    assert halfopen("check", "--update", "d")[0] == 0
    (tmp_path / "d/x.json").rename(tmp_path / "d/y.json")
    status, out, _ = halfopen("check", "d")
    assert status == 1
    assert ("d/x.timeline.json: golden timeline of no scenario: delete it, or restore d/x.json") in out
    assert halfopen("check", "--update", "d")[0] == 1
    assert (tmp_path / "d/x.timeline.json").exists()
    (tmp_path / "d/x.timeline.json").unlink()
    assert halfopen("check", "d")[0] == 0


@pytest.mark.parametrize("extension", ["yaml", "yml"])
def test_a_golden_timeline_beside_a_scenario_in_yaml_is_not_stale(halfopen, write, tmp_path, extension):  # noqa: F811
    (tmp_path / "d").mkdir()
    write(scenario(), "d/a.json")
    write("{}", "d/x.timeline.json")
    assert "d/x.timeline.json" in halfopen("check", "d")[1]
    write("name: x", f"d/x.{extension}")
    assert "d/x.timeline.json: golden timeline of no scenario" not in halfopen("check", "d")[1]


def test_folders_in_a_directory_are_not_entered(halfopen, write, tmp_path):  # noqa: F811
    (tmp_path / "d/inner.json").mkdir(parents=True)
    write(scenario(name="outer"), "d/x.json")
    write("{", "d/inner.json/bad.json")
    assert halfopen("check", "d")[:2] == (0, "ok outer (1 expectation)\n")


def test_an_internal_error_is_status_3_for_its_file_and_the_others_are_judged(binary, write, tmp_path):  # noqa: F811
    # A series of 10^7 bins needs more memory than the limit gives it.
    wide = scenario(name="wide", duration_ms=10_000_000, sample_ms=1, traffic=[], expect=[])
    files = [write(scenario(name="first"), "a.json"), write(wide, "b.json"), write(scenario(name="last"), "c.json")]
    limited = {"cwd": tmp_path, "capture_output": True, "text": True,
               "preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))}
    if subprocess.run([binary, "check", files[0]], **limited).returncode != 0:
        pytest.skip("this build needs more address space than that (a sanitizer)")
    for jobs in "1", "3":
        done = subprocess.run([binary, "check", "--jobs", jobs, *files], **limited)
        assert done.returncode == 3
        assert done.stdout.splitlines()[0] == "ok first (1 expectation)"
        assert done.stdout.splitlines()[1:3] == ["FAILED wide", "  b.json: internal error: std::bad_alloc"]
        assert done.stdout.splitlines()[3] == "ok last (1 expectation)"


# ---- threads --------------------------------------------------------------------------------------


def test_the_number_of_threads_changes_no_byte(halfopen, mixed, tmp_path):  # noqa: F811
    def everything(jobs, *words):
        answer = halfopen("check", "--jobs", jobs, "--junit", "report.xml", *words, mixed)
        return answer, (tmp_path / "report.xml").read_bytes()
    for words in [], ["--tap"], ["--github"], ["--tap", "--github"]:
        alone = everything(1, *words)
        assert alone[0][0] == 2
        for jobs in 2, 7, 1024:
            assert everything(jobs, *words) == alone
        assert (halfopen("check", *words, mixed)) == alone[0]


def test_update_with_threads_writes_what_one_thread_writes(halfopen, write, tmp_path):  # noqa: F811
    (tmp_path / "d").mkdir()
    for number in range(12):
        write(scenario(name=f"n{number}", seed=number), f"d/{number}.json")
    def goldens():
        return {path.name: path.read_bytes() for path in (tmp_path / "d").glob("*.timeline.json")}
    assert halfopen("check", "--update", "--jobs", "1", "d")[0] == 0
    alone = goldens()
    assert len(alone) == 12
    for path in (tmp_path / "d").glob("*.timeline.json"):
        path.unlink()
    status, out, _ = halfopen("check", "--update", "--jobs", "8", "d")
    assert status == 0 and out.count("golden timeline written") == 12
    assert goldens() == alone
    assert len(list((tmp_path / "d").iterdir())) == 24


@pytest.mark.parametrize("jobs", ["0", "-1", "1025", "two", "1.5", ""])
def test_jobs_that_can_not_be_are_refused(halfopen, write, jobs):  # noqa: F811
    status, out, err = halfopen("check", "--jobs", jobs, write(scenario()))
    assert (status, out) == (2, "")
    assert "--jobs" in err


# ---- JUnit ----------------------------------------------------------------------------------------


def suites_of(path):
    root = ElementTree.parse(path).getroot()
    assert root.tag == "testsuites"
    kinds = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    for counted in [root, *root]:
        cases = list(counted.iter("testcase"))
        assert int(counted.get("tests")) == len(cases)
        for attribute, tag in kinds.items():
            assert int(counted.get(attribute)) == len(list(counted.iter(tag)))
    for element in root.iter():
        assert "time" not in element.attrib and "timestamp" not in element.attrib
    return {suite.get("file"): suite for suite in root}


def test_junit_has_a_suite_a_file_and_a_case_an_expectation(halfopen, mixed, tmp_path):  # noqa: F811
    assert halfopen("check", "--junit", "report.xml", mixed)[0] == 2
    suites = suites_of(tmp_path / "report.xml")
    assert list(suites) == ["d/a-good.json", "d/b-failing.json", "d/c-bad.json", "d/d-golden.json", "d/e-differs.json",
                            "d/f-stale.timeline.json", "d/g-silent.json"]
    good = suites["d/a-good.json"]
    assert [case.get("name") for case in good] == ["exactly 1 endpoint_ejected of 10.0.0.1:8080", "no breaker_opened"]
    assert {case.get("classname") for case in good} == {"good"}
    failing = suites["d/b-failing.json"][1]
    text = (tmp_path / "d/b-failing.json").read_text().splitlines()
    assert '"never"' in text[int(failing.get("line"))], "the line is that of the expectation's brace"
    assert failing[0].tag == "failure"
    assert failing[0].get("message").startswith("expected no endpoint_ejected\ngot 1")
    assert failing[0].text.startswith(f"d/b-failing.json:{failing.get('line')}:")
    bad = suites["d/c-bad.json"]
    assert [case[0].tag for case in bad] == ["error"] * len(bad) and len(bad) >= 2
    assert ["/name", "1"] in [[case.get("name"), case.get("line")] for case in bad]
    assert [case.get("name") for case in suites["d/d-golden.json"]][-1] == "golden timeline"
    golden = suites["d/e-differs.json"][-1]
    assert golden.get("file") == "d/e-differs.timeline.json" and int(golden.get("line")) > 1
    assert "golden timeline differs" in golden[0].get("message")
    assert suites["d/f-stale.timeline.json"][0][0].tag == "failure"
    assert suites["d/g-silent.json"][0][0].tag == "skipped"


def test_junit_is_xml_whatever_the_names_contain(halfopen, write, tmp_path):  # noqa: F811
    wild = "a<b>&\"'\u0001\u001b\n]]>\uffff\u00fc\U0001f600"
    file = write(scenario(name=wild, expect=[{"never": "<&\"]]>\u0007\ufffe"}, NEVER, NEVER]))
    assert halfopen("check", "--junit", "report.xml", file)[0] == 1
    suite = suites_of(tmp_path / "report.xml")["x.json"]
    assert suite.get("name").startswith("a<b>&\"'") and "\u00fc\U0001f600" in suite.get("name")
    names = [case.get("name") for case in suite]
    assert '"never":"<&\\"]]>' in names[0]
    assert names[1:] == ["no endpoint_ejected", "no endpoint_ejected (2)"], "two cases must not be taken for one"


def test_junit_is_written_whole_and_over_no_input(halfopen, write, tmp_path):  # noqa: F811
    file = write(scenario())
    assert halfopen("check", "--update", file)[0] == 0
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for target in "x.json", "./x.json", "x.timeline.json", str(tmp_path / "x.json"):
        status, out, err = halfopen("check", "--junit", target, file)
        assert (status, out) == (2, "") and "overwrite" in err
    for target in "no/such/report.xml", ".", "-":
        status, out, err = halfopen("check", "--junit", target, file)
        assert (status, out) == (2, "") and err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_golden_timeline_to_be_is_no_place_for_a_report(halfopen, write, tmp_path):  # noqa: F811
    status, _, err = halfopen("check", "--update", "--junit", "x.timeline.json", write(scenario()))
    assert status == 2 and "overwrite" in err
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


# ---- TAP ------------------------------------------------------------------------------------------

POINT = re.compile(r"^(?P<ok>ok|not ok) (?P<number>\d+) - (?P<what>(?:\\.|[^#\\])*?)(?: # SKIP (?P<why>.*))?$")


def tap_points(out):
    lines = out.splitlines()
    assert lines[0] == "TAP version 14"
    points, at = [], 1
    while at < len(lines) - 1:
        match = POINT.match(lines[at])
        assert match, lines[at]
        point = match.groupdict() | {"about": {}}
        at += 1
        if point["ok"] == "not ok":
            assert lines[at] == "  ---"
            while (at := at + 1) and lines[at] != "  ...":
                key, _, value = lines[at].strip().partition(":")
                point["about"][key] = json.loads(value) if value.strip()[:1] in ('"', *"0123456789") else value.strip()
            at += 1
        points.append(point)
    assert [int(point["number"]) for point in points] == list(range(1, len(points) + 1))
    assert lines[-1] == f"1..{len(points)}"
    return points


def test_tap_has_a_point_an_expectation_and_a_golden_file(halfopen, mixed):  # noqa: F811
    status, out, _ = halfopen("check", "--tap", mixed)
    assert status == 2
    points = tap_points(out)
    by_name = {}
    for point in points:
        by_name.setdefault(point["what"].split(": ")[0], []).append(point)
    assert [point["ok"] for point in by_name["good"]] == ["ok", "ok"]
    assert [point["ok"] for point in by_name["failing"]] == ["ok", "not ok"]
    about = by_name["failing"][1]["about"]
    assert about["message"].startswith("expected no endpoint_ejected\ngot 1")
    assert about["severity"] == "fail" and about["file"] == "d/b-failing.json" and about["line"] > 1
    assert {point["about"]["severity"] for point in by_name["d/c-bad.json"]} == {"error"}
    assert [point["what"] for point in by_name["golden"]][-1] == "golden: golden timeline"
    assert by_name["differs"][-1]["about"]["file"] == "d/e-differs.timeline.json"
    assert by_name["d/f-stale.timeline.json"][0]["ok"] == "not ok"
    assert by_name["silent"][0]["why"] == "no expectation, no golden timeline"


def test_a_name_is_no_directive_of_tap(halfopen, write):  # noqa: F811
    status, out, _ = halfopen("check", "--tap", write(scenario(name="x # SKIP \\ why\nok 7 - y", expect=[NEVER])))
    assert status == 1
    (point,) = tap_points(out)
    assert point["ok"] == "not ok" and point["why"] is None
    assert point["what"].startswith("x \\# SKIP \\\\ why ok 7 - y: ")


def test_tap_of_bad_files_only_still_fails(halfopen, write):  # noqa: F811
    status, out, _ = halfopen("check", "--tap", write("{", "bad.json"))
    assert status == 2
    assert [point["ok"] for point in tap_points(out)] == ["not ok"]


# ---- GitHub ---------------------------------------------------------------------------------------

COMMAND = re.compile(r"^::(?P<level>error|warning|notice) file=(?P<file>[^,:]+)(?:,line=(?P<line>\d+),col=(?P<col>\d+))?"
                     r",title=(?P<title>[^,:]*)::(?P<message>.*)$")


def test_github_annotates_what_has_not_held_where_it_stands(halfopen, mixed):  # noqa: F811
    plain = halfopen("check", mixed)[1]
    assert "::" not in plain.replace("8080::", "")
    status, out, _ = halfopen("check", "--github", f"./{mixed}/")
    assert status == 2
    found = [COMMAND.match(line) for line in out.splitlines() if line.startswith("::")]
    assert all(found)
    by_file = {}
    for match in found:
        by_file.setdefault(match["file"], []).append(match)
    assert list(by_file) == ["d/b-failing.json", "d/c-bad.json", "d/e-differs.timeline.json", "d/f-stale.timeline.json",
                             "d/g-silent.json"]
    (failing,) = by_file["d/b-failing.json"]
    assert failing["level"] == "error" and int(failing["line"]) > 1
    assert failing["message"].startswith("expected no endpoint_ejected%0Agot 1")
    assert [match["level"] for match in by_file["d/g-silent.json"]] == ["notice"]
    assert "\n".join(line for line in out.splitlines() if not line.startswith("::")).replace("./d/", "d/") == plain.rstrip("\n")


def test_github_escapes_what_would_end_a_command(halfopen, write):  # noqa: F811
    name = "100%, a:b\r\n::error::injected"
    (out,) = [line for line in halfopen("check", "--github", write(scenario(name=name, expect=[NEVER]), "a,b%.json"))[1]
              .splitlines() if line.startswith("::")]
    assert out.startswith("::error file=a%2Cb%25.json,line=")
    assert "title=100%25%2C a%3Ab  %3A%3Aerror%3A%3Ainjected::expected " in out


def test_with_tap_annotations_go_to_standard_error(halfopen, mixed):  # noqa: F811
    _, out, err = halfopen("check", "--tap", "--github", mixed)
    tap_points(out)
    assert err.count("\n::error ") >= 4


# ---- help -----------------------------------------------------------------------------------------


def test_the_help_of_check_tells_its_defaults(halfopen):  # noqa: F811
    status, out, _ = halfopen("check", "--help")
    assert status == 0
    assert max(map(len, out.splitlines())) <= 80
    options = re.findall(r"^  (--\w+)", out, re.M)
    assert {"--jobs", "--junit", "--tap", "--github", "--update"} <= set(options)
    assert out.count("Default:") == len(options)
    assert "not entered" in " ".join(out.split())
