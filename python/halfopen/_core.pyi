"""
The C++ side of halfopen. Private: use the package.
"""
from __future__ import annotations
import collections.abc
import numpy
import typing
import typing_extensions
__all__: list[str] = ['ActiveProbe', 'Admission', 'Body', 'Breaker', 'BreakerAdmission', 'Dispatch', 'EndpointHealth', 'MAX_SWEEP_RUNS', 'MOST_BALANCERS', 'Mistake', 'RetryBudget', 'Run', 'Scenario', 'Sweep', 'Table', 'Upstream', 'analyze', 'draw', 'jittered_backoff_ms', 'lint', 'metrics', 'nominal_backoff_ms', 'philox4x64_10', 'scenario_schema', 'simulate', 'timeline_schema']
class Mistake:
    """
    One thing that is wrong with a file, or will surprise its author.
    """
    def __eq__(self, arg0: typing.Any) -> bool:
        ...
    def __getstate__(self) -> tuple[str, int, int, str, str, bool]:
        ...
    def __hash__(self) -> int:
        ...
    def __repr__(self) -> str:
        ...
    def __setstate__(self, arg0: tuple[typing.Any, ...]) -> None:
        ...
    def __str__(self) -> str:
        ...
    @property
    def column(self) -> int:
        """
        From 1, counted in bytes; 0 where there is no place.
        """
    @property
    def file(self) -> str:
        """
        The name of the file or text.
        """
    @property
    def line(self) -> int:
        """
        From 1; 0 where there is no place.
        """
    @property
    def message(self) -> str:
        """
        What is wrong, and what would be right.
        """
    @property
    def pointer(self) -> str:
        """
        JSON pointer of what is meant; empty: the whole file.
        """
    @property
    def warning(self) -> bool:
        """
        The scenario is usable all the same.
        """
class Scenario:
    """
    A scenario that was read without a mistake.
    """
    @staticmethod
    def read_file(path: str, name: str, sets: collections.abc.Sequence[tuple[str, str]], seed: typing.SupportsInt | typing.SupportsIndex | None, gateway: str | None) -> Scenario:
        ...
    @staticmethod
    def read_text(text: str, file: str, name: str, sets: collections.abc.Sequence[tuple[str, str]], seed: typing.SupportsInt | typing.SupportsIndex | None, gateway: str | None) -> Scenario:
        ...
    def __getstate__(self) -> tuple[str, str, str, list[tuple[str, str]], int | None, str | None, dict[str, str]]:
        ...
    def __setstate__(self, arg0: tuple[str, str, str, collections.abc.Sequence[tuple[str, str]], typing.SupportsInt | typing.SupportsIndex | None, str | None, collections.abc.Mapping[str, str]]) -> None:
        ...
    def with_seed(self, seed: typing.SupportsInt | typing.SupportsIndex) -> Scenario:
        ...
    def with_sets(self, sets: collections.abc.Sequence[tuple[str, str]]) -> Scenario:
        ...
    @property
    def digest(self) -> str:
        ...
    @property
    def duration_ms(self) -> float:
        ...
    @property
    def effective_json(self) -> str:
        ...
    @property
    def file(self) -> str:
        ...
    @property
    def file_name(self) -> str:
        ...
    @property
    def name(self) -> str:
        ...
    @property
    def question(self) -> str:
        ...
    @property
    def readable_json(self) -> str:
        ...
    @property
    def seed(self) -> int:
        ...
    @property
    def sets(self) -> list[tuple[str, str]]:
        ...
    @property
    def text(self) -> str:
        ...
    @property
    def warnings(self) -> tuple[typing.Any, ...]:
        ...
class Table:
    """
    Columns of equal length.
    """
    def __len__(self) -> int:
        ...
    def arrow_schema(self) -> typing_extensions.CapsuleType:
        ...
    def arrow_stream(self) -> typing_extensions.CapsuleType:
        ...
    def kind(self, name: str) -> str:
        """
        count, number, flag, code or text.
        """
    def nullable(self, name: str) -> bool:
        ...
    def values(self, name: str) -> numpy.ndarray:
        """
        The numbers (of a code column: the codes, -1 for nothing), read-only, without a copy.
        """
    def words(self, name: str) -> list[str]:
        """
        Of a code column its categories, of a text column its rows.
        """
    @property
    def names(self) -> list[str]:
        ...
class Run:
    """
    What came out of one run.
    """
    @staticmethod
    def read(text: bytes, name: str) -> Run:
        ...
    def __getstate__(self) -> bytes:
        ...
    def __setstate__(self, arg0: bytes) -> None:
        ...
    def endpoints(self) -> Table:
        ...
    def events(self) -> Table:
        ...
    def expectations(self) -> Table:
        ...
    def intervals(self) -> Table:
        ...
    def json(self) -> bytes:
        ...
    def judgements(self) -> list[typing.Any]:
        ...
    def series(self) -> Table:
        ...
    def source(self) -> bytes:
        ...
    def summary(self) -> dict[str, typing.Any]:
        ...
    @property
    def digest(self) -> str:
        ...
    @property
    def duration_ms(self) -> float:
        ...
    @property
    def fingerprint(self) -> str:
        ...
    @property
    def name(self) -> str:
        ...
    @property
    def question(self) -> str:
        ...
    @property
    def sample_ms(self) -> float:
        ...
    @property
    def seed(self) -> int:
        ...
    @property
    def upstreams(self) -> list[str]:
        ...
    @property
    def version(self) -> str:
        ...
class Sweep:
    """
    Numbered runs of one scenario at several points, several seeds each.
    """
    def __init__(self, scenario: Scenario, seed: typing.SupportsInt | typing.SupportsIndex | None, pointers: collections.abc.Sequence[str], points: collections.abc.Sequence[collections.abc.Sequence[str]], replicates: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    def __len__(self) -> int:
        ...
    def execute(self, numbers: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], threads: typing.SupportsInt | typing.SupportsIndex, every_s: typing.SupportsFloat | typing.SupportsIndex, take: typing.Any) -> None:
        """
        Runs them in any order without the GIL; `take(columns)` gets what is done, on this thread.
        """
    def identities(self, numbers: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]) -> tuple[typing.Any, ...]:
        """
        Seeds and digests of runs, ascending.
        """
    def prepare(self, numbers: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], threads: typing.SupportsInt | typing.SupportsIndex = 0) -> tuple[typing.Any, ...]:
        """
        Reads the scenario at every point of those runs; its warnings. Raises ScenarioError.
        """
class EndpointHealth:
    """
    Passive health of one endpoint.
    """
    def __init__(self, json: str) -> None:
        ...
    def acquire(self, now: typing.SupportsInt | typing.SupportsIndex) -> bool:
        ...
    def consume_probe(self) -> bool:
        ...
    def is_available(self, now: typing.SupportsInt | typing.SupportsIndex) -> bool:
        ...
    def is_candidate(self, now: typing.SupportsInt | typing.SupportsIndex) -> bool:
        ...
    def params(self) -> dict[str, typing.Any]:
        ...
    def report(self, now: typing.SupportsInt | typing.SupportsIndex, failure: bool) -> None:
        ...
    def report_probe(self, now: typing.SupportsInt | typing.SupportsIndex, failure: bool) -> None:
        ...
    def set_params(self, json: str) -> None:
        ...
    def snapshot(self, now: typing.SupportsInt | typing.SupportsIndex) -> dict[str, typing.Any]:
        ...
    def take_events(self) -> list[typing.Any]:
        ...
class ActiveProbe:
    """
    The probe loop of one endpoint, without sockets.
    """
    def __init__(self, tracker: EndpointHealth, health_json: str, json: str) -> None:
        ...
    def iteration_threw(self) -> bool:
        ...
    def sleep_ms(self, u: typing.SupportsFloat | typing.SupportsIndex) -> int:
        ...
    def verdict(self, now: typing.SupportsInt | typing.SupportsIndex, ok: bool) -> None:
        ...
    @property
    def success_streak(self) -> int:
        ...
class BreakerAdmission:
    """
    The answer of a breaker's check.
    """
    def give_back(self) -> None:
        ...
    def settle(self) -> None:
        ...
    @property
    def allowed(self) -> bool:
        ...
    @property
    def is_open(self) -> bool:
        ...
    @property
    def retry_after_ms(self) -> int:
        ...
    @property
    def retry_after_s(self) -> int:
        ...
class Breaker:
    """
    The circuit breaker of one upstream.
    """
    def __init__(self, json: str) -> None:
        ...
    def check(self, now: typing.SupportsInt | typing.SupportsIndex) -> BreakerAdmission:
        ...
    def params(self) -> dict[str, typing.Any]:
        ...
    def report(self, now: typing.SupportsInt | typing.SupportsIndex, failure: bool) -> None:
        ...
    def set_params(self, json: str) -> None:
        ...
    def snapshot(self, now: typing.SupportsInt | typing.SupportsIndex) -> dict[str, typing.Any]:
        ...
    def take_events(self) -> list[typing.Any]:
        ...
class RetryBudget:
    """
    How many retries an upstream may make.
    """
    def __init__(self) -> None:
        ...
    def request(self, now: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    def reserve(self, now: typing.SupportsInt | typing.SupportsIndex, percent: typing.SupportsInt | typing.SupportsIndex) -> bool:
        ...
    @property
    def requests(self) -> int:
        ...
    @property
    def retries(self) -> int:
        ...
class Body:
    """
    What is left of an attempt once its headers are in.
    """
    def broken(self, now: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    def close(self) -> None:
        ...
    @property
    def is_open(self) -> bool:
        ...
class Dispatch:
    """
    An attempt on its way to an endpoint.
    """
    def abandon(self) -> None:
        ...
    def report(self, now: typing.SupportsInt | typing.SupportsIndex, status: typing.Any, error: typing.Any) -> Body:
        ...
    @property
    def endpoint(self) -> str:
        ...
    @property
    def fail_open(self) -> bool:
        ...
    @property
    def index(self) -> int:
        ...
    @property
    def is_open(self) -> bool:
        ...
    @property
    def trial(self) -> bool:
        ...
class Admission:
    """
    What the breaker answered an attempt.
    """
    def give_back(self) -> None:
        ...
    def pick(self, now: typing.SupportsInt | typing.SupportsIndex, key: str | None, words: tuple[typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex] | None) -> Dispatch | None:
        ...
    @property
    def allowed(self) -> bool:
        ...
    @property
    def is_open(self) -> bool:
        ...
    @property
    def retry_after_ms(self) -> int:
        ...
    @property
    def retry_after_s(self) -> int:
        ...
class Upstream:
    """
    One upstream as a gateway holds it.
    """
    def __init__(self, json: str, now: typing.SupportsInt | typing.SupportsIndex, seed: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    def admit(self, now: typing.SupportsInt | typing.SupportsIndex, retry: bool) -> Admission:
        ...
    def config(self) -> dict[str, typing.Any]:
        ...
    def decide_retry(self, now: typing.SupportsInt | typing.SupportsIndex, retries_made: typing.SupportsInt | typing.SupportsIndex, status: typing.Any, error: typing.Any, elapsed_ms: typing.SupportsFloat | typing.SupportsIndex, u: typing.SupportsFloat | typing.SupportsIndex) -> tuple[typing.Any, ...]:
        ...
    def endpoints(self, now: typing.SupportsInt | typing.SupportsIndex) -> list[typing.Any]:
        ...
    def reload(self, json: str, now: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    def take_events(self) -> list[typing.Any]:
        ...
    @property
    def breaker_state(self) -> str | None:
        ...
    @property
    def fail_open_picks(self) -> int:
        ...
    @property
    def late_reports_ignored(self) -> int:
        ...
    @property
    def retry_budget(self) -> RetryBudget:
        ...
def analyze(scenario: Scenario, rate_rps: typing.SupportsFloat | typing.SupportsIndex | None, healthy_error_ratio: typing.SupportsFloat | typing.SupportsIndex | None, sick_error_ratio: typing.SupportsFloat | typing.SupportsIndex | None) -> tuple[typing.Any, ...]:
    """
    (text, JSON) of the exact answers.
    """
def draw(seed: typing.SupportsInt | typing.SupportsIndex, stream: str, index: typing.SupportsInt | typing.SupportsIndex, tryn: typing.SupportsInt | typing.SupportsIndex = 0, attempt: typing.SupportsInt | typing.SupportsIndex = 0, entry: typing.SupportsInt | typing.SupportsIndex = 0, kind: typing.SupportsInt | typing.SupportsIndex = 0) -> float:
    """
    One draw in [0, 1) of a named stream.
    """
def jittered_backoff_ms(nominal_ms: typing.SupportsInt | typing.SupportsIndex, u: typing.SupportsFloat | typing.SupportsIndex) -> int:
    ...
def lint(scenario: Scenario, balancers: typing.SupportsInt | typing.SupportsIndex) -> list[typing.Any]:
    """
    (id, level, upstream, pointers, sentence, why, numbers, instead, instead_values, shown_by, text) of each finding.
    """
def metrics() -> list[typing.Any]:
    """
    (name, unit, takes_endpoint, takes_between, about) of each, in documented order.
    """
def nominal_backoff_ms(base_ms: typing.SupportsInt | typing.SupportsIndex, cap_ms: typing.SupportsInt | typing.SupportsIndex, retry: typing.SupportsInt | typing.SupportsIndex) -> int:
    ...
def philox4x64_10(counter: typing.Annotated[collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], "FixedSize(4)"], key: typing.Annotated[collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], "FixedSize(2)"]) -> typing.Annotated[list[int], "FixedSize(4)"]:
    """
    One block of Philox4x64-10, four words in Random123's order.
    """
def scenario_schema() -> str:
    """
    JSON Schema (draft-07) of scenarios, as text.
    """
def simulate(scenario: Scenario) -> Run:
    """
    Runs it without the GIL; in the main thread, signals are handled some 20 times a second.
    """
def timeline_schema() -> str:
    """
    JSON Schema (draft-07) of timelines, as text.
    """
MAX_SWEEP_RUNS: int = 10000000
MOST_BALANCERS: int = 100000
__version__: str
