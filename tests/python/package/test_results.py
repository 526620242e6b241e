"""The studies: a small version anew is a part of what is committed, to the byte; pages say what the data say; these tests would see if not."""

import csv
import dataclasses
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import halfopen
import matplotlib.image
import notebook_checks as checks
import numpy as np
import pandas as pd
import pytest

FOLDER = Path(__file__).resolve().parents[3] / "results"
sys.path.append(str(FOLDER))
import studies  # noqa: E402  (it lies beside the studies)

STUDIES = studies.studies()
ROW = re.compile(r"^\| \[(\w+)\]\((\w+)/README\.md\) \| (.*?) \| (.*?) \|$", re.MULTILINE)
LIMIT_S = 60  # the small versions take 1 to 3 s each on two idle cores

each = pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)


def committed(study, name):
    return (study.folder / name).read_text(encoding="utf-8")


def table(text):
    return list(csv.reader(io.StringIO(text)))


def command(*words, timeout=LIMIT_S):
    """`python results …` from another folder: status, stdout, stderr."""
    done = subprocess.run([sys.executable, str(FOLDER), *words], capture_output=True, text=True, timeout=timeout, check=False, cwd=FOLDER.anchor)
    return done.returncode, done.stdout, done.stderr


# ---- data --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The folder with the small version of all studies."""
    folder = tmp_path_factory.mktemp("small")
    status, _, errors = command("--small", "--into", str(folder), timeout=LIMIT_S * len(STUDIES))
    assert status == 0, errors
    return folder


@each
def test_small_version_anew_is_a_part_of_the_data(study, small):
    head, *again = table((small / study.name / "data.csv").read_text(encoding="utf-8"))
    kept_head, *kept = table(committed(study, "data.csv"))
    assert head == kept_head == study.columns
    by_run = {tuple(row[:2]): row for row in kept}
    assert len(by_run) == len(kept)
    assert len(again) == sum(len(part.small_runs()) for part in study.parts) >= 8
    assert {row[0] for row in again} == {part.name for part in study.parts}
    assert [row for row in again if by_run.get(tuple(row[:2])) != row] == []


@each
def test_data_are_whole(study):
    text = committed(study, "data.csv")
    rows = table(text)[1:]
    runs = [(part.name, str(run)) for part in study.parts for run in range(1, len(part.points) * part.replicates + 1)]
    assert [tuple(row[:2]) for row in rows] == runs
    seeds = [str(part.seed + n) for part in study.parts for _ in part.points for n in range(part.replicates)]
    assert [row[2] for row in rows] == seeds
    labels = [[studies._cell(value) for value in point.labels.values()] for part in study.parts for point in part.points for _ in range(part.replicates)]
    assert [row[3 : 3 + len(study.labels)] for row in rows] == labels
    assert all(re.fullmatch(r"[0-9a-f]{16}", row[-1]) for row in rows)
    assert all(list(point.labels) == study.labels for part in study.parts for point in part.points)


def test_more_threads_give_the_same_bytes():
    study = STUDIES["1_thresholds"]
    assert study.run(small=True, threads=1) == study.run(small=True, threads=3)


# ---- manifest and command ----------------------------------------------------------------------------


@each
def test_manifest_is_of_these_data_and_of_this_study(study):
    manifest = json.loads(committed(study, "manifest.json"))
    text = committed(study, "data.csv")
    expected = study.manifest(text)
    made_by, now = manifest.pop("version"), expected.pop("version")
    assert now == halfopen.__version__
    # A later version need not run everything again: the test above shows that it still measures the same.
    assert [int(part) for part in made_by.split(".")] <= [int(part) for part in now.split(".")]
    assert manifest == expected
    assert manifest["data_sha256"] == studies.digest(text)
    assert manifest["command"] == f"make results study={study.name}"
    assert all(part["seeds"][1] - part["seeds"][0] + 1 == part["replicates"] for part in manifest["parts"].values())


def test_make_has_the_target_of_the_manifests():
    makefile = (FOLDER.parent / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^results: wheel ## .+\n\t@.+ results \$\(study\)$", makefile, re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["9_nothing"], "there is no study '9_nothing'; there are 1_thresholds"),
        (["1", "--small"], "--small needs --into FOLDER"),
        (["--small", "--draw", "--into", "x"], "not allowed with"),
    ],
    ids=str,
)
def test_wrong_command_is_answered(words, said):
    status, _, errors = command(*words)
    assert status != 0
    assert said in " ".join(errors.split())
    assert "Traceback" not in errors


def test_figure_and_page_can_be_made_from_the_data_alone(tmp_path):
    study = STUDIES["1_thresholds"]
    (tmp_path / study.name).mkdir()
    (tmp_path / study.name / "data.csv").write_text(committed(study, "data.csv"), encoding="utf-8")
    status, told, errors = command("1", "--draw", "--into", str(tmp_path))
    assert (status, len(told.splitlines())) == (0, 1), told + errors
    assert [*drawn(tmp_path / study.name / "figure.png")] == []


# ---- figures and pages -------------------------------------------------------------------------------


def drawn(path):
    image = matplotlib.image.imread(path)
    if min(image.shape[:2]) < checks.SMALLEST_PX or image[..., :3].std(axis=(0, 1)).max() < 0.01:
        yield f"{path.name} is blank or small: {image.shape}"


def unfounded(study, data, page):
    """Numbers of a page that stand in no sentence or row of a claim and are no setting; those may be there in ms, and in s on the page."""
    rest = studies.words(page)
    for claim in sorted(study.claims(data), key=lambda one: -len(one.text)):
        rest = rest.replace(studies.words(claim.text), " ")
    code = re.sub(r"Claim\(.*|text = .*|#[0-9a-f]{6}", " ", (study.folder / "study.py").read_text(encoding="utf-8"))
    settings = checks.numbers(code)
    known = settings | {number / 1000 for number in settings if number >= 100} | {100 * number for number in settings if number <= 1}
    for number in sorted(checks.numbers(re.sub(r"\b95 %", " ", rest)) - known):
        yield f"the page says {number:g}, which nothing computes"


@each
def test_figure_is_there_and_not_blank(study):
    assert [*drawn(study.folder / "figure.png")] == []
    assert "](figure.png)" in study.readme()


@each
def test_page_says_what_the_data_say_and_nothing_else(study):
    data = study.data()
    assert study.unsaid(data) == []
    assert [*unfounded(study, data, study.readme())] == []


@each
def test_page_is_in_shape(study):
    page = study.readme()
    assert page.startswith(f"# {study.question}\n\n**")
    assert study.question.endswith("?")
    for part in ("## Method", "## Conclusions", "## Recommended", "**It would not hold**", "How sure:"):
        assert part in page, part
    assert max(map(len, page.splitlines())) <= 220


def test_table_of_all_has_a_row_for_each():
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = ROW.findall(page)
    assert [(name, folder, question) for name, folder, question, _ in rows] == [(name[0], name, study.question) for name, study in STUDIES.items()]
    for (*_, answer), study in zip(rows, STUDIES.values(), strict=True):
        assert len(answer) > 40
        assert checks.numbers(answer) <= checks.numbers(study.readme())


# ---- what the checks see -----------------------------------------------------------------------------


def test_a_page_that_says_other_than_the_data_is_found(tmp_path):
    study = dataclasses.replace(STUDIES["1_thresholds"], folder=tmp_path)
    page = studies.words(STUDIES["1_thresholds"].readme())
    (tmp_path / "study.py").write_text(committed(STUDIES["1_thresholds"], "study.py"), encoding="utf-8")
    data = STUDIES["1_thresholds"].data()
    (tmp_path / "README.md").write_text(page.replace("makes 61 (59 to 62)", "makes 71 (69 to 72)"), encoding="utf-8")
    assert len(study.unsaid(data)) == 1
    assert [*unfounded(study, data, page + " 7,777 of them")] == ["the page says 7777, which nothing computes"]
    assert [*unfounded(study, data, page + " 61 of them")] == ["the page says 61, which nothing computes"], "a number of a claim, in other words"
    (tmp_path / "README.md").write_text(page, encoding="utf-8")
    data.loc[(data["part"] == "sick") & (data["rule"] == "streak 30"), "missed"] = 0
    assert any(wrong.startswith("the data do not bear out") for wrong in study.unsaid(data))


def test_exact_models_and_simulation_judge_each_other(monkeypatch):
    study = STUDIES["1_thresholds"]
    data = study.data()
    data.loc[(data["part"] == "single errors") & (data["rule"] == "streak 5"), "time_to_detect_ms"] *= 1.5
    assert sum(wrong.startswith("the data do not bear out: | streak 5 |") for wrong in study.unsaid(data)) == 4
    answers = halfopen.analyze

    def other(scenario, **ratios):
        return answers(scenario.with_({"/upstreams/0/health/consecutive_failures": 6}), **ratios)

    monkeypatch.setattr(halfopen, "analyze", other)
    wrong = study.unsaid(study.data())
    assert sum(one.startswith("the data do not bear out: | streak 5 |") for one in wrong) == 4


def test_missed_ejections_make_no_mean():
    study = STUDIES["1_thresholds"]
    data = study.data()
    data.loc[(data["part"] == "single errors") & (data["seed"] == "7"), "missed"] = 1
    with pytest.raises(ValueError, match="an hour is too short"):
        study.unsaid(data)


@pytest.mark.parametrize(("low", "high", "agrees"), [(9, 11, True), (10.32, 12, True), (10.34, 12, False), (0, 9.66, False), (0, 9.68, True)])
def test_bounds_agree_within_standard_errors(low, high, agrees):
    values = pd.Series(np.tile([9.0, 11.0], 50))  # mean 10, a standard error of 0.1005
    assert studies.agrees(studies.mean(values), low, high) is agrees


def test_blank_figure_is_found(tmp_path):
    matplotlib.image.imsave(tmp_path / "figure.png", np.ones((400, 600)))
    assert len([*drawn(tmp_path / "figure.png")]) == 1


def test_differences_are_taken_run_by_run():
    more = pd.DataFrame({"seed": ["3", "1", "2"], "failed": [13, 11, 12]})
    less = pd.DataFrame({"seed": ["1", "2", "3"], "failed": [1, 2, 3]})
    assert studies.difference(more, less, "failed")[1:] == (10, 0, 10, 10)
    with pytest.raises(ValueError, match="no pairs"):
        studies.difference(more, less[:2], "failed")
    with pytest.raises(KeyError, match="no run has"):
        studies.rows(more, seed="9")


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(1234.4, 0, "1,234"), (-0.04, 1, "0.0"), (-0.4, 0, "0"), (0.05, 1, "0.1"), (-12.3, 1, "-12.3"), (1000, 0, "1,000")],
)
def test_numbers_are_said(value, digits, text):
    assert studies.said(value, digits) == text


@pytest.mark.parametrize(("value", "text"), [(3.0, "3"), (0.1 + 0.2, "0.30000000000000004"), (float("nan"), ""), (None, ""), (7, "7"), ("a", "a")])
def test_cells_are_exact(value, text):
    assert studies._cell(value) == text
