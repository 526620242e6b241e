"""Every notebook runs from start to end, draws, and says what it computes; and these tests would see one that doesn't."""

import base64
import io
import re
import sys
import time
from pathlib import Path

import matplotlib.image
import nbformat
import notebook_checks as checks
import numpy as np
import pytest
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

FOLDER = Path(__file__).resolve().parents[3] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
LIMIT_S = 120  # they take 3 to 10 s on two idle cores, and are meant to take 20 at most
ROW = re.compile(r"^\| \[(\w+)\]\((\w+\.ipynb)\) \| (.*?) \| (.*?) \|$", re.MULTILINE)

names = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path):
    return nbformat.read(path, as_version=4)


def test_there_are_notebooks_and_their_numbers_differ():
    assert NOTEBOOKS
    assert all(re.fullmatch(r"\d\d_\w+", path.stem) for path in NOTEBOOKS)
    assert len({path.stem[:2] for path in NOTEBOOKS}) == len(NOTEBOOKS)


@names
def test_file_is_valid_stripped_and_in_shape(path):
    notebook = read(path)
    nbformat.validate(notebook)
    assert [*checks.stripped(notebook), *checks.shaped(notebook)] == []


@names
def test_runs_draws_and_says_what_it_computes(path):
    notebook = read(path)
    before = sorted(FOLDER.iterdir())
    started = time.monotonic()
    checks.execute(notebook, FOLDER, LIMIT_S)
    assert time.monotonic() - started < LIMIT_S
    assert [*checks.drawn(notebook), *checks.quiet(notebook), *checks.answered(notebook)] == []
    assert sorted(FOLDER.iterdir()) == before, "it leaves files behind"


def test_readme_has_a_row_for_each_with_its_question_and_an_answer():
    rows = ROW.findall((FOLDER / "README.md").read_text(encoding="utf-8"))
    assert [(name, question) for _, name, question, _ in rows] == [(path.name, checks.title(read(path))) for path in NOTEBOOKS]
    assert all(len(answer) > 20 for *_, answer in rows)


# ---- what the checks see -----------------------------------------------------------------------------

KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
FIRST = "# How many?\n\n**Three**: 3 of 1,200."
LAST = "x = 3\nassert [x, 1200] == [3, 1_200]"
END = "## Recommended\n\n3. It would not hold elsewhere."


def png(pixels):
    file = io.BytesIO()
    matplotlib.image.imsave(file, pixels, format="png")
    return base64.b64encode(file.getvalue()).decode()


def picture(pixels):
    return new_output("display_data", data={"image/png": png(pixels)})


def small(first=FIRST, imports="import halfopen", last=LAST, end=END, outputs=()):
    """A notebook as it should be, executed; `outputs` are those of its last code cell."""
    cells = [new_markdown_cell(first), new_code_cell(imports), new_markdown_cell(end), new_code_cell(last, outputs=list(outputs))]
    return new_notebook(cells=cells, metadata=KERNEL)


def stream(text, name="stdout"):
    return new_output("stream", name=name, text=text)


GOOD = np.indices((400, 600)).sum(axis=0) % 7 / 6


def test_good_notebook_passes_all_checks():
    assert [*checks.stripped(small()), *checks.shaped(small()), *checks.answered(small())] == []
    assert [*checks.drawn(small(outputs=[picture(GOOD)])), *checks.quiet(small(outputs=[stream("x")]))] == []


def test_outputs_and_traces_of_a_machine_are_found():
    assert len([*checks.stripped(small(outputs=[stream("x")]))]) == 1
    counted = small()
    counted.cells[1].execution_count = 1
    assert len([*checks.stripped(counted)]) == 1
    marked = small()
    marked.cells[0].metadata["execution"] = {}
    assert len([*checks.stripped(marked)]) == 1
    other = small()
    other.metadata["kernelspec"]["name"] = "venv"
    assert len([*checks.stripped(other)]) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"first": "# How many\n\n**Three**"},
        {"first": "# How many?"},
        {"imports": "x = 3"},
        {"imports": "import halfopen, scipy.stats"},
        {"imports": "from seaborn import lineplot"},
        {"last": "import halfopen\nassert 3 == 3"},
        {"end": "## Recommended\n\n3"},
        {"end": "3. It would not hold elsewhere."},
    ],
    ids=str,
)
def test_shape_that_is_wrong_is_found(change):
    assert len([*checks.shaped(small(**change))]) == 1


def test_missing_and_blank_pictures_and_warnings_are_found():
    assert len([*checks.drawn(small())]) == 1
    assert len([*checks.drawn(small(outputs=[picture(GOOD), picture(np.ones((400, 600)))]))]) == 1
    assert len([*checks.drawn(small(outputs=[picture(GOOD[:100])]))]) == 1
    assert len([*checks.quiet(small(outputs=[stream("UserWarning", "stderr")]))]) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"first": "# How many?\n\n**Four**: 4 of 1,200."},
        {"first": "# How many?\n\n**Three**: 3 of 1,300."},
        {"first": "# How many?\n\n**Three**: 3.1 of 1200."},
        {"last": "x = 3\n[x, 1200]"},
        {"last": "assert x\n[3, 1200]"},
        {"outputs": [stream("**Three**: 3 of\n1,201.")]},
    ],
    ids=str,
)
def test_answer_that_is_not_computed_is_found(change):
    assert len([*checks.answered(small(**change))]) == 1


def test_answer_may_be_printed_whatever_its_lines():
    assert [*checks.answered(small(last="print(x)", outputs=[stream("**Three**: 3\nof 1,200.\n")]))] == []
    seconds = small(first="# How many?\n\n**Three**: 3 in 1.2 s (95 %).")
    assert [*checks.answered(seconds)] == []
    assert checks.numbers("10.0.0.1:8080, [03](03_x.ipynb), a_4, x5, 1_000, 2,5.") == {1000, 25}


def test_kernel_is_this_interpreter_and_a_failing_cell_is_an_error(tmp_path):
    notebook = new_notebook(cells=[new_code_cell("import os, sys\nprint(sys.executable, os.getcwd())")], metadata=KERNEL)
    assert checks.printed(checks.execute(notebook, tmp_path, 60)).split() == [sys.executable, str(tmp_path)]
    notebook = new_notebook(cells=[new_code_cell("assert 3 == 4")], metadata=KERNEL)
    with pytest.raises(CellExecutionError, match="AssertionError"):
        checks.execute(notebook, tmp_path, 60)


def test_the_bar_of_a_sweep_is_no_warning_where_there_are_no_widgets(tmp_path):
    cells = [
        new_code_cell("import sys\nsys.modules['ipywidgets'] = None\nimport halfopen\nfrom halfopen import build"),
        new_code_cell(
            "api = build.Upstream(name='api', endpoints=[build.Endpoint(address='a', port=1)])\n"
            "print(len(halfopen.Sweep(halfopen.Scenario.of(duration_ms=10, upstreams=[api]), replicates=2).run().frame))"
        ),
    ]
    notebook = checks.execute(new_notebook(cells=cells, metadata=KERNEL), tmp_path, 60)
    assert list(checks.quiet(notebook)) == []
    assert checks.printed(notebook) == "2\n"
