"""Which way includes point. On Debian all libraries sit in one folder, so the compiler does not mind."""

import re

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"(?P<own>[^"\n]*)"|<(?P<library>[^>\n]*)>)', re.MULTILINE)
MACHINES = ("endpoint_health", "breaker", "retry_budget", "active_probe", "balancer")
STANDARD = set(
    """algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono
    cinttypes climits clocale cmath codecvt compare complex concepts condition_variable coroutine csetjmp
    csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception
    execution filesystem format forward_list fstream functional future initializer_list iomanip ios iosfwd
    iostream istream iterator latch limits list locale map memory memory_resource mutex new numbers numeric
    optional ostream queue random ranges ratio regex scoped_allocator semaphore set shared_mutex
    source_location span sstream stack stdexcept stop_token streambuf string string_view strstream
    syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility
    valarray variant vector version""".split()
)

# The command line is where the simulator meets a machine: whole-file writes, terminals.
POSIX = {"fcntl.h", "poll.h", "sys/ioctl.h", "sys/stat.h", "unistd.h"}


def machine_of(path):
    """core/breaker.hpp and core/breaker_table.cpp belong to the machine breaker."""
    if path.parts[0] == "core":
        for machine in MACHINES:
            if path.stem == machine or path.stem.startswith(machine + "_"):
                return machine
    return None


def includes(source):
    """(line, path or None, library or None) of every #include."""
    text = source.without_comments
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start("own" if match["own"] else "library")) + 1, match["own"], match["library"]


def is_cli(path):
    return path.parts[0] == "sim" and (path.name.startswith("cli") or path.name == "main.cpp")


def is_prober(path):
    """The optional part of core that opens sockets and reads clocks."""
    return path.parts[:2] == ("core", "prober")


def may_use_json(path):
    return path.parts[0] == "sim" and ("json" in path.name or path.name.startswith("writer"))


def check_own(source, line, own):
    """An include in quotes: written from the root, and along the arrows core <- sim <- python, tests."""
    roots = {"core": ("core",), "sim": ("core", "sim"), "tests": ("core", "sim", "tests"),
             "python": ("core", "sim", "python")}[source.top]
    top = own.split("/")[0]
    if top == "tests" and source.top != "tests":
        yield source.finding(line, "include-tests", f'"{own}": only tests include tests',
                             "what both need moves to core/ or sim/")
    elif top not in ("core", "sim", "tests", "python") or ".." in own.split("/"):
        yield source.finding(line, "include-root", f'"{own}" is not written from the root',
                             '"core/breaker.hpp", so that the arrow is in the line; <header> for a library')
    elif top not in roots:
        yield source.finding(line, "include-arrow", f'"{own}": {source.top} must not know {top}',
                             f"an interface in {source.top} that {top} implements or calls")
    elif own.startswith("core/prober/") and not (is_prober(source.path) or is_cli(source.path) or source.top == "tests"):
        yield source.finding(line, "include-prober", f'"{own}": who links no OpenSSL must not need the prober',
                             "std::function or an interface that core/prober or sim/cli fills in")
    elif own.startswith("sim/cli") and source.top == "sim" and not is_cli(source.path):
        yield source.finding(line, "include-cli", f'"{own}": the simulator must not know its command line',
                             "a plain struct that sim/cli fills in")


def check_library(source, line, library):
    path, top = source.path, library.split("/")[0]
    if library in STANDARD:
        return
    if source.top == "core" and not is_prober(path):
        yield source.finding(line, "include-core", f"<{library}>: core uses the C++ standard library only",
                             "a standard header (<cmath>, not <math.h>); sockets belong to core/prober/")
    elif source.top == "sim":
        if top == "nlohmann":
            if not may_use_json(path):
                yield source.finding(line, "include-json", f"<{library}> outside sim/*json* and sim/writer*",
                                     "a plain struct that scenario_json reads and a writer writes")
        elif top == "yaml-cpp":
            if path.name != "yaml_source.cpp":
                yield source.finding(line, "include-yaml", f"<{library}> outside sim/yaml_source.cpp",
                                     "a plain value that read_yaml hands over")
        elif top in ("CLI", "CLI11.hpp"):
            if not is_cli(path):
                yield source.finding(line, "include-cli", f"<{library}> outside sim/cli* and sim/main.cpp",
                                     "a plain options struct that sim/cli fills in")
        elif top not in ("fmt", "Eigen") and not (library in POSIX and is_cli(path)):
            yield source.finding(line, "include-sim", f"<{library}>: sim uses core, fmt, Eigen and the standard library",
                                 "the standard library's way, or put the need to the architecture first")
    elif source.top == "python" and top not in ("pybind11", "Python.h"):
        yield source.finding(line, "include-sim", f"<{library}>: bindings use sim, core and pybind11",
                             "a function in sim that the binding calls")


def check_machines(sources):
    """No machine reaches another one, nor upstream which composes them, by any chain of includes."""
    graph = {str(s.path): [(line, own) for line, own, _ in includes(s) if own] for s in sources}
    by_path = {str(s.path): s for s in sources}

    def stranger(path, machine, seen):
        """The chain from path to the first file that belongs to somebody else."""
        if path not in by_path or path in seen:
            return None
        seen.add(path)
        owner = machine_of(by_path[path].path)
        if owner not in (None, machine) or by_path[path].path.stem == "upstream":
            return [path]
        for _, target in graph[path]:
            chain = stranger(target, machine, seen)
            if chain:
                return [path, *chain]
        return None

    for source in sources:
        machine = machine_of(source.path)
        if not machine:
            continue
        for line, own in graph[str(source.path)]:
            chain = stranger(own, machine, {str(source.path)})
            if chain:
                yield source.finding(line, "include-machine",
                                     f"the machine {machine} includes another one ({' -> '.join(chain)})",
                                     "an argument or a return value that core/upstream hands from one to the other")


def check(sources):
    cpp = [s for s in sources if s.is_cpp and s.top in ("core", "sim", "tests", "python")]
    for source in cpp:
        for line, own, library in includes(source):
            yield from check_own(source, line, own) if own else check_library(source, line, library)
    yield from check_machines([s for s in cpp if s.top == "core"])
