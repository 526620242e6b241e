"""`python -m halfopen report`: pages of what the CLI wrote; whatever is wrong is a sentence and exit status 2."""

import subprocess
import sys
from pathlib import Path

import halfopen
import pytest

pytest.importorskip("plotly", reason="reports need pip install 'halfopen[report]'")

SCENARIOS = Path(__file__).resolve().parents[3] / "scenarios"


def run(name):
    return halfopen.run(halfopen.Scenario.load(SCENARIOS / f"{name}.json"))


def command(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "halfopen", *map(str, arguments)], capture_output=True, check=False, **options
    )


@pytest.mark.parametrize("kind", ["json", "jsonl"])
def test_the_command_makes_a_page_of_what_the_cli_wrote(kind, tmp_path, cli):
    timeline = subprocess.run(
        [cli, "run", SCENARIOS / "brownout-one-of-four.json", "--format", kind], capture_output=True, check=True
    ).stdout
    (tmp_path / "timeline").write_bytes(timeline)
    out = command("report", tmp_path / "timeline", "-o", tmp_path / "page.html")
    assert (out.returncode, out.stdout, out.stderr) == (0, b"", b"")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    if kind == "json":
        run("brownout-one-of-four").report(tmp_path / "of-python.html")
        assert text == (tmp_path / "of-python.html").read_text(encoding="utf-8")
    else:
        assert "JSON lines, which leave the states and the series out" in text
        assert len(text) < 100_000, "no library for no figure"
        assert text.count("ejected: ") == 19, "all events"
        assert "<button" not in text and "<script" not in text, "nothing to press for"
    piped = command("report", "-", "-o", tmp_path / "piped.html", input=timeline)
    assert (piped.returncode, piped.stderr) == (0, b"")
    assert (tmp_path / "piped.html").read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    "content, sentence",
    [
        (None, "timeline: No such file or directory"),
        (b"", "timeline"),
        (b"[1, 2", "timeline"),
        (b'{"format": "other/1"}', "timeline"),
        (b"\xff\xfe\x00", "timeline"),
    ],
)
def test_what_is_no_timeline_is_said_in_a_sentence(content, sentence, tmp_path):
    if content is not None:
        (tmp_path / "timeline").write_bytes(content)
    out = command("report", tmp_path / "timeline", "-o", tmp_path / "page.html")
    said = out.stderr.decode()
    assert out.returncode == 2
    assert sentence in said and "Traceback" not in said
    assert not (tmp_path / "page.html").exists()


def test_a_page_that_can_not_be_written_is_said_too(tmp_path):
    run("breaker-before-ejection").save(tmp_path / "timeline")
    out = command("report", tmp_path / "timeline", "-o", tmp_path / "no" / "page.html")
    assert (out.returncode, out.stderr.decode()) == (2, f"{tmp_path}/no/page.html: No such file or directory\n")


def test_help_is_complete_and_usage_errors_are_two():
    assert b"report" in command("--help").stdout
    said = command("report", "--help").stdout.decode()
    assert "TIMELINE" in said and "-o PAGE, --output PAGE" in said and "exit status" in said
    assert command("--version").stdout.decode() == f"halfopen {halfopen.__version__}\n"
    for arguments in ((), ("report",), ("report", "x"), ("paint", "x")):
        assert command(*arguments).returncode == 2
