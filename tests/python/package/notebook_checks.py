"""What a notebook of ours must be: functions over notebooks, each answers what is wrong as a list of sentences."""

import ast
import base64
import io
import re
import sys

import matplotlib.image
from ipykernel.kernelspec import get_kernel_dict
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

ALLOWED = {"halfopen", "pandas", "matplotlib", "numpy"} | sys.stdlib_module_names  # numpy comes with halfopen
SMALLEST_PX = 150
NUMBER = re.compile(r"(?<![\w.])\d[\d,_]*(?:\.\d+)?(?!\.?\w)")
# An address, a link to another notebook, or the level of the intervals is no measurement.
NO_NUMBER = re.compile(r"\b95 %|\[[^\]]*\]\([^)]*\)|\b\d+\.\d+\.\d+\.\d+(?::\d+)?")


class OwnKernel(KernelSpecManager):
    """Whatever kernels a machine has: `python3` is the interpreter that runs the tests."""

    def get_kernel_spec(self, kernel_name):
        assert kernel_name == "python3", kernel_name
        return KernelSpec(**get_kernel_dict())


class OwnManager(AsyncKernelManager):
    """Starts it, and ends it with the client that owns this manager."""

    def __init__(self, **options):
        super().__init__(kernel_spec_manager=OwnKernel(), **options)


def execute(notebook, folder, seconds):
    """Run all cells in order, with the folder as working directory; the outputs are in the notebook afterwards."""
    place = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, kernel_manager_class=OwnManager, kernel_name="python3", timeout=seconds, resources=place).execute()
    return notebook


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def prose(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "markdown"]


def title(notebook):
    """The question of a notebook: the heading of its first cell."""
    return notebook.cells[0].source.split("\n", 1)[0].removeprefix("# ").strip()


def stripped(notebook):
    """Nothing of a run is kept in the file."""
    for place, cell in enumerate(notebook.cells):
        if cell.metadata:
            yield f"cell {place} has metadata: {dict(cell.metadata)}"
        if cell.cell_type == "code" and (cell.outputs or cell.execution_count is not None):
            yield f"cell {place} has outputs, or the number of its execution"
    if set(notebook.metadata) - {"kernelspec", "language_info"} or notebook.metadata.kernelspec.name != "python3":
        yield f"the notebook's metadata are those of one machine: {dict(notebook.metadata)}"


def shaped(notebook):
    """Question and answer first, then the imports; the setting and its limits at the end."""
    first, second = notebook.cells[:2]
    if first.cell_type != "markdown" or not first.source.startswith("# ") or not title(notebook).endswith("?"):
        yield "the first cell does not begin with the question as a heading"
    if len(first.source.split("\n\n")) < 2 or "**" not in first.source:
        yield "the first cell has no answer in bold"
    imports = {place: imported(cell.source) for place, cell in enumerate(code(notebook))}
    if second.cell_type != "code" or not imports[0]:
        yield "the second cell is not that of the imports"
    for place in imports:
        if place and imports[place]:
            yield f"code cell {place} imports {', '.join(imports[place])}: imports stand in the first one"
    for name in set().union(*imports.values()) - ALLOWED:
        yield f"it imports {name}: pandas and matplotlib are all that a reader needs beside halfopen"
    ending = "\n".join(cell.source for cell in prose(notebook)[-2:])
    for words in ("## Recommended", "would not hold"):
        if words not in ending:
            yield f"its end does not say {words!r}"


def imported(source):
    """Top names of the modules that some code imports."""
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or ".")
    return {name.split(".")[0] or "a file beside it" for name in names}


def pictures(notebook):
    """The pictures that an executed notebook drew, as arrays."""
    outputs = [output for cell in code(notebook) for output in cell.outputs]
    found = [output.data["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    return [matplotlib.image.imread(io.BytesIO(base64.b64decode(png)), format="png") for png in found]


def drawn(notebook):
    """At least one picture, and none that is blank or a stamp."""
    images = pictures(notebook)
    if not images:
        yield "it draws no picture"
    for place, image in enumerate(images):
        if min(image.shape[:2]) < SMALLEST_PX or image[..., :3].std(axis=(0, 1)).max() < 0.01:
            yield f"picture {place} is blank or small: {image.shape}"


def quiet(notebook):
    """No warning reaches the reader."""
    for place, cell in enumerate(code(notebook)):
        said = "".join(one.text for one in cell.outputs if one.output_type == "stream" and one.name == "stderr")
        if said:
            yield f"code cell {place} says on stderr: {said}"


def printed(notebook):
    """What the last code cell of an executed notebook prints."""
    return "".join(one.text for one in code(notebook)[-1].outputs if one.output_type == "stream" and one.name == "stdout")


def answered(notebook):
    """The answer in the first cell is what the cells computed.

    The last code cell either prints the answer out of what was measured, which is then the first cell's text, word for word; or it
    asserts the numbers. Either way each number of the first cell stands in what it prints, or in code that ran: settings may be there
    in ms, and in s in the answer.
    """
    first, last = notebook.cells[0].source, code(notebook)[-1].source
    told = printed(notebook)
    if told and words(told) not in words(first):
        yield f"the first cell does not say what the last one prints: {told}"
    asserts = [node for node in ast.walk(ast.parse(last)) if isinstance(node, ast.Assert)]
    if not told and not any(numbers(ast.unparse(node)) for node in asserts):
        yield "the last code cell neither prints the answer nor asserts its numbers"
    known = numbers(told + "\n" + "\n".join(cell.source for cell in code(notebook)))
    known |= {number / 1000 for number in known if number >= 1000}
    for number in sorted(numbers(first) - known):
        yield f"the first cell says {number:g}, which no cell computes or asserts"


def words(text):
    return " ".join(text.split())


def numbers(text):
    """All numbers in a text, whatever their thousands are separated by."""
    found = NUMBER.findall(NO_NUMBER.sub(" ", text))
    return {float(number.rstrip(",_").replace(",", "").replace("_", "")) for number in found}
