"""Tables as other libraries' frames, by Arrow's PyCapsule protocol."""

import ctypes
import subprocess
import sys

import pytest

TABLES = ("events", "intervals", "series", "endpoints", "expectations")


def rows_of(columns):
    """Columns with NaN told as None, so that frames compare."""
    return {name: [None if value != value else value for value in values] for name, values in columns.items()}


def test_pandas(result):
    pandas = pytest.importorskip("pandas")
    for name in TABLES:
        table = getattr(result, name)
        frame = table.to_pandas()
        assert list(frame.columns) == list(table.columns) and len(frame) == len(table)
        assert rows_of({column: frame[column].tolist() for column in frame}) == table.to_dict(), name
    assert isinstance(result.events.to_pandas()["type"].dtype, pandas.CategoricalDtype)


def test_polars(result):
    pytest.importorskip("polars")
    for name in TABLES:
        table = getattr(result, name)
        frame = table.to_polars()
        assert frame.to_dict(as_series=False) == table.to_dict(), name
    assert result.series.to_polars()["latency_p50_ms"].null_count() == 0


def test_pyarrow(result):
    pyarrow = pytest.importorskip("pyarrow")
    for name in TABLES:
        table = getattr(result, name)
        arrow = table.to_arrow()
        arrow.validate(full=True)
        assert arrow.to_pydict() == table.to_dict(), name
        assert pyarrow.schema(table) == arrow.schema
        for column in table.columns:
            kinds = {"count": pyarrow.int64(), "number": pyarrow.float64(), "flag": pyarrow.bool_(),
                     "text": pyarrow.large_string(), "code": pyarrow.dictionary(pyarrow.int32(), pyarrow.large_string())}
            assert arrow.schema.field(column).type == kinds[table._core.kind(column)]


def test_arrow_copies_no_numbers(result):
    pytest.importorskip("pyarrow")
    address = result.series["requests"].__array_interface__["data"][0]
    assert result.series.to_arrow()["requests"].chunk(0).buffers()[1].address == address


def test_a_stream_outlives_its_table(brownout):
    pyarrow = pytest.importorskip("pyarrow")
    import halfopen

    arrow = pyarrow.table(halfopen.run(brownout).series)
    assert sum(arrow["requests"].to_pylist()) == 120394


class Stream(ctypes.Structure):
    _fields_ = [("get_schema", ctypes.c_void_p), ("get_next", ctypes.c_void_p), ("get_last_error", ctypes.c_void_p),
                ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]


class Array(ctypes.Structure):
    _fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
                ("children", ctypes.c_void_p), ("dictionary", ctypes.c_void_p), ("release", ctypes.c_void_p),
                ("private_data", ctypes.c_void_p)]


def test_the_protocol_needs_no_library(result):
    """One batch with every row, then the end: an array without a release."""
    capsule = result.events.__arrow_c_stream__()
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    stream = Stream.from_address(pointer_of(capsule, b"arrow_array_stream"))
    get_next = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(stream.get_next)
    array = Array()
    assert get_next(ctypes.addressof(stream), ctypes.addressof(array)) == 0
    assert array.length == len(result.events) and array.n_children == len(result.events.columns)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(array.release)(ctypes.addressof(array))
    assert array.release is None
    assert get_next(ctypes.addressof(stream), ctypes.addressof(array)) == 0 and array.release is None
    assert type(result.events.__arrow_c_schema__()).__name__ == "PyCapsule"


@pytest.mark.parametrize(("method", "library", "extra"), [
    ("to_pandas", "pandas", "pandas"), ("to_polars", "polars", "polars"), ("to_arrow", "pyarrow", "arrow")])
def test_a_missing_library_says_what_to_install(method, library, extra):
    program = (f"import sys; sys.modules[{library!r}] = None; import halfopen\n"
               "scenario = halfopen.Scenario.from_dict({'duration_ms': 1, 'upstreams': []})\n"
               f"try: halfopen.run(scenario).series.{method}()\n"
               "except ImportError as error: print(error)")
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd="/")
    assert f"pip install 'halfopen[{extra}]'" in told.stdout, told


def test_nothing_optional_is_imported():
    program = "import sys, halfopen; print([name for name in ('pandas', 'polars', 'pyarrow', 'matplotlib') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd="/").stdout.strip() == "[]"
