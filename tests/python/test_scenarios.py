"""The scenarios of the repository: each holds, has its golden timeline, and stands in the table of scenarios/README.md."""

import json
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "scenarios"
FILES = sorted(path for path in FOLDER.glob("*.json") if not path.name.endswith(".timeline.json"))


def test_all_hold_and_match_their_golden_timelines(binary):
    done = subprocess.run([binary, "check", "scenarios"], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(FILES) >= 50


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_is_one_question_with_expectations_and_a_golden_timeline(path):
    golden = path.with_name(path.stem + ".timeline.json")
    assert golden.exists(), f"{golden.name} is missing: halfopen check --update {path.name}"
    timeline = json.loads(golden.read_text())
    assert timeline["format"] == "halfopen.timeline/1"
    assert timeline["meta"]["name"] == path.stem
    assert timeline["meta"]["question"].endswith("?")
    assert timeline["expectations"], "nothing is expected of it"
    assert all(expectation["held"] for expectation in timeline["expectations"])


def test_the_table_lists_them_all_and_nothing_else():
    rows = re.findall(r"^\| \[([^\]]+)\]\(([^)]+)\)", (FOLDER / "README.md").read_text(), re.M)
    assert sorted(name for name, _ in rows) == sorted(path.stem for path in FILES)
    assert all(target == name + ".json" for name, target in rows)


def test_a_golden_timeline_of_no_scenario_is_an_orphan():
    owners = {path.stem for path in FILES}
    orphans = [path.name for path in FOLDER.glob("*.timeline.json")
               if path.name.removesuffix(".timeline.json") not in owners]
    assert not orphans
