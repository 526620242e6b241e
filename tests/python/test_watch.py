"""`halfopen watch` as its users meet it: live endpoints that fall ill and recover, files that change meanwhile, and
the ways in which it ends.

HALFOPEN_BIN names the binary (else build/dev/halfopen or build/release/halfopen). Every endpoint is a server of this
process whose answer a test switches.
"""

import fcntl
import json
import os
import queue
import re
import signal
import socket
import subprocess
import threading
import time

import pytest

PATIENCE = 30  # seconds for something that takes milliseconds on a machine at rest


@pytest.fixture(autouse=True)
def needs_the_prober(binary):
    done = subprocess.run([binary, "watch", "--help"], capture_output=True, timeout=60)
    if done.returncode == 2 and b"without the prober" in done.stderr:
        pytest.skip("this halfopen was built without the prober")


class Server:
    """Answers every request with `status`; counts them."""

    def __init__(self, status=200):
        self.status, self.asked = status, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    @property
    def name(self):
        return f"127.0.0.1:{self.port}"

    @property
    def endpoint(self):
        return {"address": "127.0.0.1", "port": self.port}

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(PATIENCE)
                try:
                    self.answer(connection)
                except OSError:
                    pass

    def answer(self, connection):
        request = b""
        while b"\r\n\r\n" not in request:
            more = connection.recv(4096)
            if not more:
                return
            request += more
        self.asked += 1
        connection.sendall(f"HTTP/1.1 {self.status} As Told\r\nContent-Length: 0\r\n\r\n".encode())

    def close(self):
        self.listener.close()


@pytest.fixture
def server():
    made = []

    def make(status=200):
        made.append(Server(status))
        return made[-1]
    yield make
    for one in made:
        one.close()


def dead_port():
    """Where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def upstream(*endpoints, name="api", eject_ms=600_000, **active):
    settings = {"interval_ms": 60, "timeout_ms": 60, "jitter_ms": 5}
    settings.update(active)
    return {"name": name, "endpoints": list(endpoints), "health": {"eject_ms": eject_ms},
            "active_health": settings}


def whole(*upstreams, **more):
    return {"upstreams": list(upstreams), **more}


@pytest.fixture
def write(tmp_path):
    def save(content, name="gateway.json"):
        # In one step: a reload must not meet half of it.
        (tmp_path / "new").write_text(content if isinstance(content, str) else json.dumps(content))
        os.replace(tmp_path / "new", tmp_path / name)
        return name
    return save


class Watch:
    def __init__(self, command, folder):
        self.process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.lines, self.said, self.queue = [], [], queue.Queue()
        self.readers = [threading.Thread(target=self.read, daemon=True),
                        threading.Thread(target=self.listen, daemon=True)]
        for reader in self.readers:
            reader.start()

    def read(self):
        for line in self.process.stdout:
            self.queue.put(line.decode().rstrip("\n"))
        self.queue.put(None)

    def listen(self):
        for line in self.process.stderr:
            self.said.append(line.decode().rstrip("\n"))

    def line(self, wanted):
        """The next line that `wanted` (a piece of it, or a function) is true of."""
        is_it = wanted if callable(wanted) else lambda line: wanted in line
        until = time.monotonic() + PATIENCE
        while True:
            line = self.queue.get(timeout=max(0.01, until - time.monotonic()))
            assert line is not None, f"it ended before: {self.lines[-5:]} {self.said}"
            self.lines.append(line)
            if is_it(line):
                return line

    def row(self, type, **members):
        return json.loads(self.line(lambda line: all(
            json.loads(line).get(key) == value for key, value in {"type": type, **members}.items())))

    def says(self, piece):
        until = time.monotonic() + PATIENCE
        while not any(piece in line for line in self.said):
            assert time.monotonic() < until, self.said
            time.sleep(0.01)

    def send(self, number):
        self.process.send_signal(number)

    def end(self, number=signal.SIGINT):
        """Every line, after it has ended as asked."""
        if number is not None:
            self.send(number)
        assert self.process.wait(timeout=PATIENCE) == 0, self.said
        for reader in self.readers:
            reader.join(timeout=PATIENCE)
        while (line := self.queue.get(timeout=PATIENCE)) is not None:
            self.lines.append(line)
        return self.lines

    def rows(self, number=signal.SIGINT):
        return [json.loads(line) for line in self.end(number)]


@pytest.fixture
def watch(binary, tmp_path):
    started = []

    def start(*words):
        started.append(Watch([binary, "watch", *map(str, words)], tmp_path))
        return started[-1]
    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()


@pytest.fixture
def halfopen(binary, tmp_path):
    def run(*words):
        done = subprocess.run([binary, *map(str, words)], cwd=tmp_path, capture_output=True, timeout=300)
        return done.returncode, done.stdout.decode(), done.stderr.decode()
    return run


TIME = r"\d\d:\d\d:\d\d\.\d\d\dZ  "


def test_an_endpoint_goes_out_and_comes_back_by_probes_alone(watch, write, server):
    well, ill = server(), server()
    run = watch(write(whole(upstream(well.endpoint, ill.endpoint))))
    run.says("watching 2 endpoints of 1 upstream since ")
    ill.status = 503
    out = run.line("ejected")
    assert re.fullmatch(TIME + re.escape(
        f"api {ill.name}  ejected: 3 failures in a row, limit 3 (active health); out for 600 s; last probe: status 503"
    ), out)
    ill.status = 204
    back = run.line("recovered")
    assert re.fullmatch(TIME + re.escape(
        f"api {ill.name}  recovered: 2 probes in a row succeeded, limit 2; last probe: ok 204"), back)
    lines = run.end()
    assert lines[:2] == [out, back]
    assert lines[2] == "" and re.fullmatch(r"watched for [\d.]+ m?s: 1 ejection, 1 recovery", lines[3])
    assert lines[4].split() == ["probes", "failed", "ejections", "out", "state"]
    first, second = (line.split() for line in lines[5:])
    assert first[:2] == ["api", well.name] and first[4:] == ["0", "-", "healthy"]
    assert second[:2] == ["api", ill.name] and second[4] == "1" and second[-1] == "healthy"
    # The end may have cut a probe short.
    assert well.asked - int(first[2]) in (0, 1) and ill.asked - int(second[2]) in (0, 1) and int(second[3]) >= 3


EVENT = ["time", "t_ms", "type", "upstream", "endpoint", "rule", "because", "last_probe"]
PROBE = ["end", "ok", "status", "detail", "peer", "look_up_ms", "connect_ms", "tls_ms", "response_ms", "total_ms"]


def test_json_lines_account_for_every_probe_and_every_transition(watch, write, server):
    began = time.time() * 1000
    ill = server(500)
    file = write(whole(upstream(ill.endpoint, failure_threshold=4, success_threshold=3)))
    run = watch(file, "--format", "jsonl", "--verdicts")
    run.row("endpoint_ejected")
    run.row("probe")
    ill.status = 200
    run.row("endpoint_recovered")
    rows = run.rows(signal.SIGTERM)

    assert rows[0]["type"] == "watch" and rows[0]["file"] == file and rows[0]["not_watched"] == []
    assert rows[0]["upstreams"] == [{
        "name": "api", "endpoints": [ill.name], "kind": "http", "path": "/healthz", "interval_ms": 60, "jitter_ms": 5,
        "timeout_ms": 60, "failure_threshold": 4, "success_threshold": 3, "eject_ms": 600_000}]
    assert rows[-1]["type"] == "summary" and all(row["type"] != "summary" for row in rows[:-1])
    # The machine of the specification, on what the lines say: nothing is told that does not follow, nor left out.
    failures = successes = 0
    out = False
    expected, told, probe = [], [], None
    for row in rows[1:-1]:
        if row["type"] == "probe":
            assert list(row) == ["time", "t_ms", "type", "upstream", "endpoint"] + PROBE
            probe = row
            failures, successes = (0, successes + 1) if row["ok"] else (failures + 1, 0)
            if not out and failures == 4:
                out = True
                expected.append("endpoint_ejected")
                failures = successes = 0
            elif out and successes == 3:
                out = False
                expected.append("endpoint_recovered")
        else:
            told.append(row["type"])
            assert told == expected  # each at once after the probe that brought it about
            assert row["last_probe"] == {key: probe[key] for key in PROBE}
            assert (row["time"], row["t_ms"]) == (probe["time"], probe["t_ms"])
    assert told == expected == ["endpoint_ejected", "endpoint_recovered"]
    ejected, recovered = (row for row in rows if row["type"].startswith("endpoint_"))
    assert list(ejected) == EVENT and list(recovered) == [key.replace("rule", "via") for key in EVENT]
    assert ejected["rule"] == "consecutive_failures" and recovered["via"] == "active_probe"
    assert ejected["because"] == {"streak": 4, "threshold": 4, "volume": 0, "failures": 0, "ratio": None, "limit": 1,
                                  "min_volume": 2**32 - 1, "for_ms": 600_000}
    assert recovered["because"]["successes"] == 3 and recovered["because"]["threshold"] == 3
    assert all(began - 1 <= row["time"] <= time.time() * 1000 + 1 for row in rows)
    assert [row["t_ms"] for row in rows] == sorted(row["t_ms"] for row in rows)
    summary = rows[-1]["endpoints"]
    probes = [row for row in rows if row["type"] == "probe"]
    assert len(probes) == summary[0]["probes"] and ill.asked - len(probes) in (0, 1)  # one may have been cut short
    assert {**summary[0], "out_ms": 0} == {
        "upstream": "api", "endpoint": ill.name, "probes": len(probes), "failed": sum(not row["ok"] for row in probes),
        "no_verdict": 0, "watched": True, "gave_up": False, "ejections": 1, "recoveries": 1, "out_ms": 0, "state": "healthy"}
    assert abs(summary[0]["out_ms"] - (recovered["t_ms"] - ejected["t_ms"])) < 0.01


def test_the_events_have_the_keys_of_a_timeline(watch, write, halfopen):
    """A scenario's own file, run and watched: where nobody listens, both eject, with the same reason."""
    endpoint = {"address": "127.0.0.1", "port": dead_port()}
    name = f"127.0.0.1:{endpoint['port']}"
    file = write(whole(upstream(endpoint), duration_ms=1000,
                       endpoints={name: {"faults": [{"from_ms": 0, "to_ms": 1000, "down": {}}]}},
                       traffic=[{"upstream": "api", "every_ms": 1000, "from_ms": 999}]))
    status, out, err = halfopen("run", file, "--format", "jsonl")
    assert status == 0, err
    simulated = next(row for row in map(json.loads, out.splitlines()) if row["type"] == "endpoint_ejected")
    run = watch(file, "--format", "jsonl")
    live = run.row("endpoint_ejected")
    assert [key for key in live if key not in ("time", "last_probe")] == list(simulated)
    assert {**live, "t_ms": 0} == {**simulated, "t_ms": 0, "time": live["time"], "last_probe": live["last_probe"]}
    assert live["last_probe"]["end"] == "refused"
    run.end()


def test_verdicts_in_text(watch, write, server):
    well = server()
    run = watch(write(whole(upstream(well.endpoint, {"address": "127.0.0.1", "port": dead_port()}))), "--verdicts")
    assert re.fullmatch(TIME + rf"api {well.name}  probe: ok 200 in [\d.]+ ms", run.line(well.name))
    assert re.fullmatch(TIME + r"api 127\.0\.0\.1:\d+  probe: refused in [\d.]+ ms", run.line("refused"))
    ejected = run.line("ejected")
    assert "probe: refused" in run.lines[run.lines.index(ejected) - 1]  # its probe comes first
    run.end()


def test_it_ends_by_itself(watch, write, server):
    began = time.monotonic()
    rows = watch(write(whole(upstream(server().endpoint))), "--for-ms", 450, "--format", "jsonl").rows(None)
    assert time.monotonic() - began >= 0.45
    assert [row["type"] for row in rows] == ["watch", "summary"]
    assert 450 <= rows[-1]["t_ms"] < 450 + PATIENCE * 1000
    assert 1 <= rows[-1]["endpoints"][0]["probes"] <= 7  # the first one after a whole interval


def test_an_ejection_that_has_run_out_is_half_open_in_the_summary_alone(watch, write):
    file = write(whole(upstream({"address": "127.0.0.1", "port": dead_port()}, eject_ms=100)))
    run = watch(file, "--format", "jsonl", "--verdicts")
    out = run.row("endpoint_ejected")
    while run.row("probe")["t_ms"] < out["t_ms"] + 200:
        pass
    rows = run.rows()
    assert [row["type"] for row in rows if row["type"] not in ("probe", "watch", "summary")] == ["endpoint_ejected"]
    summary = rows[-1]["endpoints"][0]
    assert summary["state"] == "half_open" and summary["out_ms"] >= 200
    run = watch(file)
    run.line("ejected")
    time.sleep(0.2)
    assert run.end()[-1] == "half_open: its ejection has run out, so that the next request would be a trial."


def test_sighup_reads_the_file_again_and_keeps_what_has_been_counted(watch, write, server):
    ill, new = server(503), server()
    run = watch(write(whole(upstream(ill.endpoint, failure_threshold=6))), "--format", "jsonl", "--verdicts")
    for _ in range(3):
        run.row("probe")
    write(whole(upstream(ill.endpoint, new.endpoint, failure_threshold=6), {**upstream(name="idle"), "endpoints": [
        {"address": "127.0.0.1", "port": 1}], "active_health": None}))
    run.send(signal.SIGHUP)
    refused = run.row("reload_refused")
    assert len(refused["mistakes"]) == 1 and "/upstreams/1/active_health" in refused["mistakes"][0]
    write(whole(upstream(ill.endpoint, new.endpoint, failure_threshold=6)))
    run.send(signal.SIGHUP)
    reloaded = run.row("reloaded")
    assert (reloaded["added"], reloaded["removed"]) == (1, 0)
    assert reloaded["upstreams"][0]["endpoints"] == [ill.name, new.name]
    ejected = run.row("endpoint_ejected")
    assert ejected["because"]["streak"] == 6
    before = [json.loads(line) for line in run.lines]
    assert sum(row["type"] == "probe" and row["endpoint"] == ill.name for row in before) == 6
    run.row("probe", endpoint=new.name)

    write(whole(upstream(new.endpoint, failure_threshold=6)))
    run.send(signal.SIGHUP)
    gone = run.row("reloaded")
    assert (gone["added"], gone["removed"]) == (0, 1)
    for _ in range(4):
        run.row("probe")
    rows = run.rows()
    after = rows[rows.index(gone):]
    assert {row["endpoint"] for row in after if row["type"] == "probe"} == {new.name}
    one, other = rows[-1]["endpoints"]
    assert one["endpoint"] == ill.name and one["state"] is None and one["ejections"] == 1
    assert abs(one["out_ms"] - (gone["t_ms"] - ejected["t_ms"])) < 1000  # until it left
    assert other["endpoint"] == new.name and other["state"] == "healthy"


def test_sighup_reads_again_even_where_nohup_has_it_ignored(binary, write, server, tmp_path):
    file = write(whole(upstream(server().endpoint)))
    run = subprocess.Popen([binary, "watch", file, "--format", "jsonl"], cwd=tmp_path, stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL,
                           preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    try:
        assert json.loads(run.stdout.readline())["type"] == "watch"
        run.send_signal(signal.SIGHUP)
        assert json.loads(run.stdout.readline())["type"] == "reloaded"
    finally:
        run.terminate()
        assert run.wait(timeout=PATIENCE) == 0
        run.stdout.close()


def test_timeout_which_sends_its_signal_twice_gets_the_summary(binary, write, server, tmp_path):
    file = write(whole(upstream(server().endpoint)))
    done = subprocess.run(["timeout", "0.4", binary, "watch", file], cwd=tmp_path, capture_output=True,
                          timeout=PATIENCE)
    assert done.returncode == 124 and done.stdout.startswith(b"\nwatched for ")


@pytest.mark.parametrize("content, piece", [
    ('{ "upstreams": [ { "name": "api" } ] }', '/upstreams/0: an upstream needs the key "endpoints"'),
    ('{ "upstreams": [', "gateway.json:1:"),
    ('{ "upstreams": [ { "name": "api", "endpoints": [ { "address": "a", "port": 1 } ] } ] }',
     "no upstream has active_health"),
])
def test_a_broken_file_leaves_everything_as_it_was(watch, write, server, content, piece):
    well = server()
    run = watch(write(whole(upstream(well.endpoint))))
    run.says("watching")
    write(content)
    run.send(signal.SIGHUP)
    line = run.line("can't be used")
    assert re.fullmatch(TIME + re.escape("the file was read again and can't be used (") +
                        r"\d+ mistakes?\): what was watched stays", line)
    run.says(piece)
    asked = well.asked
    until = time.monotonic() + PATIENCE
    while well.asked < asked + 3:
        assert time.monotonic() < until
        time.sleep(0.01)
    well.status = 500
    run.line("ejected")
    run.end()


def test_a_file_that_is_gone_at_a_reload(watch, write, server, tmp_path):
    run = watch(write(whole(upstream(server().endpoint))))
    run.says("watching")
    (tmp_path / "gateway.json").unlink()
    run.send(signal.SIGHUP)
    run.line("can't be used (1 mistake)")
    run.says("gateway.json: it can't be opened: No such file or directory")
    run.end()


def test_a_gateways_yaml_with_more_in_it(watch, write, server):
    well = server()
    run = watch(write(f"""# ours
listeners: [ {{ port: 443 }} ]
upstreams:
  - name: api
    zone: eu
    endpoints: [ {{ address: 127.0.0.1, port: {well.port} }} ]
    health: {{}}
    active_health: {{ interval_ms: 40, timeout_ms: 40, jitter_ms: 0 }}
  - name: static
    endpoints: [ {{ address: 127.0.0.1, port: 1 }} ]
""", "gateway.yaml"), "--format", "jsonl", "--verdicts")
    assert run.row("watch")["not_watched"] == ["static"]
    run.row("probe", endpoint=well.name)
    run.says("gateway.yaml:5:5: warning: /upstreams/0/zone: ")
    run.says("static: not watched, because it has no active_health")
    run.says("api: 1 endpoint, GET /healthz every 40 ms; out after 3 failures, back after 2")
    assert len(run.rows()[-1]["endpoints"]) == 1


def test_nothing_to_watch_is_bad_input(halfopen, write):
    file = write(whole({"name": "api", "endpoints": [{"address": "a", "port": 1}]}))
    assert halfopen("watch", file) == (2, "", (
        "halfopen: gateway.json: no upstream has active_health, which says how to probe: there is nothing to watch\n"))
    status, out, err = halfopen("watch", write('{ "upstreams": [ { "nam": 5 } ] }'))
    assert (status, out) == (2, "") and err.startswith("gateway.json:1:")
    assert halfopen("watch", "no.yaml") == (2, "", "no.yaml: it can't be opened: No such file or directory\n")


@pytest.mark.parametrize("words", [[], ["a", "b"], ["a", "--for-ms", "0"], ["a", "--for-ms", "1.5"],
                                   ["a", "--format", "xml"], ["a", "-o", "b"]])
def test_usage(halfopen, words):
    status, out, err = halfopen("watch", *words)
    assert (status, out) == (2, "") and err.startswith("halfopen: watch: ") and "--help" in err


def test_an_unreadable_ca_file_gives_up_and_says_so_until_the_file_is_read_again(watch, write, server):
    one = server()
    write("no certificate", "such.pem")
    secure = {**upstream(one.endpoint), "protocol": "https", "trusted_ca_file": "such.pem"}
    run = watch(write(whole(secure)), "--format", "jsonl")
    rows = [run.row("no_verdict") for _ in range(3)]
    assert [row["in_a_row"] for row in rows] == [1, 2, 3]
    assert [row["gave_up"] for row in rows] == [False, False, True]
    assert all("such.pem" in row["what"] for row in rows)
    run.says("nothing is probed any more; SIGHUP reads the file again")
    assert one.asked == 0
    write(whole(upstream(one.endpoint)))
    run.send(signal.SIGHUP)
    run.row("reloaded")
    one.status = 418
    run.row("endpoint_ejected")
    summary = run.rows()[-1]["endpoints"][0]
    assert (summary["no_verdict"], summary["gave_up"], summary["ejections"]) == (3, False, 1)

    run = watch(write(whole(secure)))
    line = run.line("given up")
    assert re.fullmatch(TIME + rf"api {one.name}  given up after 3 iterations without a verdict: .*such\.pem.*; repair that, then send SIGHUP",
                        line)
    assert "no verdict, 1 in a row: " in run.lines[0] and "no verdict, 2 in a row: " in run.lines[1]
    lines = run.end()
    assert lines[-3].endswith("  given up")
    assert " ".join(lines[-2:]).endswith("3 iterations without a verdict; given up, so nothing probes it")


def test_a_ca_file_is_looked_up_in_the_working_directory(watch, write, server, tmp_path):
    """Not beside the file: a gateway has it so."""
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "roots.pem").write_text("no certificate")
    secure = {**upstream(server().endpoint), "protocol": "https", "trusted_ca_file": "roots.pem"}
    (tmp_path / "etc" / "gateway.json").write_text(json.dumps(whole(secure)))
    run = watch("etc/gateway.json")
    assert run.process.wait(timeout=PATIENCE) == 2
    run.says("halfopen: etc/gateway.json: upstream api: trusted_ca_file roots.pem can't be read: No such file or directory")


def test_a_ca_file_that_is_gone_at_a_reload_leaves_everything_as_it_was(watch, write, server):
    well = server()
    run = watch(write(whole(upstream(well.endpoint))), "--format", "jsonl", "--verdicts")
    run.row("probe")
    write(whole({**upstream(well.endpoint), "protocol": "https", "trusted_ca_file": "none.pem"},
                {**upstream(well.endpoint, name="plain"), "trusted_ca_file": "plain.pem"},
                {**upstream(well.endpoint, name="tcp", kind="tcp"), "protocol": "https", "trusted_ca_file": "t.pem"}))
    run.send(signal.SIGHUP)
    assert run.row("reload_refused")["mistakes"] == [
        "gateway.json: upstream api: trusted_ca_file none.pem can't be read: No such file or directory"]
    assert run.row("probe")["ok"]
    run.end()


def test_an_endpoint_that_was_never_judged_is_not_called_healthy(watch, write, server):
    file = write(whole(upstream(server().endpoint, interval_ms=60_000)))
    run = watch(file, "--for-ms", 60_000, "--format", "jsonl")
    run.says("the start")
    assert " ".join(run.said).endswith(
        "note: --for-ms 60000 ends it before the first probe of api, an interval_ms of 60000 after the start")
    end = run.rows()[-1]["endpoints"][0]
    assert (end["probes"], end["watched"], end["gave_up"], end["state"]) == (0, True, False, None)
    run = watch(file, "--for-ms", 60_001)
    run.says("api: 1 endpoint")
    assert run.end()[-1].endswith("  not probed")
    assert not any("note:" in line for line in run.said)


def test_a_reader_that_leaves_ends_it(binary, write, server, tmp_path):
    file = write(whole(upstream(server(500).endpoint)))
    line = subprocess.run(["bash", "-c", f'"{binary}" watch {file} --format jsonl | head -1; echo ${{PIPESTATUS[0]}}'],
                          cwd=tmp_path, capture_output=True, timeout=PATIENCE).stdout.decode().splitlines()
    assert json.loads(line[0])["type"] == "watch" and line[1:] == ["0"]
    line = subprocess.run(["bash", "-c", f'"{binary}" watch {file} 2>&- | grep -m1 ejected'],
                          cwd=tmp_path, capture_output=True, timeout=PATIENCE).stdout.decode()
    assert line.count("\n") == 1 and "status 500" in line


def test_a_reader_that_leaves_is_noticed_while_nothing_happens(binary, write, server, tmp_path):
    run = subprocess.Popen([binary, "watch", write(whole(upstream(server().endpoint)))], cwd=tmp_path,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert run.stderr.readline().startswith(b"watching 1 endpoint")
        run.stdout.close()
        assert run.wait(timeout=PATIENCE) == 0
    finally:
        run.kill()
        run.wait()


def test_standard_output_that_takes_nothing_is_bad_input(binary, write, server, tmp_path):
    with open("/dev/full", "w") as full:
        done = subprocess.run([binary, "watch", write(whole(upstream(server(500).endpoint)))], cwd=tmp_path,
                              stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE)
    assert done.returncode == 2
    assert done.stderr.count(b"can't write to standard output: No space left on device") == 1


def test_a_file_grows_line_by_line(binary, write, server, tmp_path):
    with open(tmp_path / "out.jsonl", "w") as out:
        run = subprocess.Popen([binary, "watch", write(whole(upstream(server(500).endpoint))), "--format", "jsonl"],
                               cwd=tmp_path, stdout=out, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + PATIENCE
        while "endpoint_ejected" not in (text := (tmp_path / "out.jsonl").read_text()):
            assert time.monotonic() < until, text
            time.sleep(0.01)
        assert text.endswith("\n") and [json.loads(line)["type"] for line in text.splitlines()] == [
            "watch", "endpoint_ejected"]
    finally:
        run.terminate()
        assert run.wait(timeout=PATIENCE) == 0
    assert json.loads((tmp_path / "out.jsonl").read_text().splitlines()[-1])["type"] == "summary"


def test_probes_go_on_while_nobody_reads_and_the_third_signal_leaves(binary, write, server, tmp_path):
    one = server()
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    run = subprocess.Popen([binary, "watch", write(whole(upstream(one.endpoint, interval_ms=5, timeout_ms=5,
                                                                  jitter_ms=0))), "--format", "jsonl", "--verdicts"],
                           cwd=tmp_path, stdout=writer, stderr=subprocess.DEVNULL)
    os.close(writer)
    try:
        until = time.monotonic() + PATIENCE
        while one.asked < 100:  # 100 lines are more than the pipe has room for
            assert time.monotonic() < until
            time.sleep(0.01)
        for _ in range(2):
            run.send_signal(signal.SIGINT)
            time.sleep(0.2)
            assert run.poll() is None
        run.send_signal(signal.SIGINT)
        assert run.wait(timeout=PATIENCE) == 130
    finally:
        run.kill()
        run.wait()
        os.close(reader)


def holding_a_full_pipe(binary, write, tmp_path, one, *words):
    """A watch whose standard output nobody reads: (process, the end to close)."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    file = write(whole(upstream(one.endpoint, interval_ms=5, timeout_ms=5, jitter_ms=0)))
    run = subprocess.Popen([binary, "watch", file, "--format", "jsonl", "--verdicts", *words], cwd=tmp_path,
                           stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    return run, reader


@pytest.mark.parametrize("words, number", [(["--for-ms", "1500"], None), ([], signal.SIGINT)])
def test_a_reader_that_never_reads_is_not_waited_for_without_bound(binary, write, server, tmp_path, words, number):
    one = server()
    run, reader = holding_a_full_pipe(binary, write, tmp_path, one, *words)
    try:
        if number is not None:
            until = time.monotonic() + PATIENCE
            while one.asked < 100:
                assert time.monotonic() < until
                time.sleep(0.01)
            run.send_signal(number)
        assert run.wait(timeout=PATIENCE) == 2
        said = run.stderr.read().decode().splitlines()
        assert said[-1] == "halfopen: standard output is not read: what was left to tell is lost"
        assert sum("lost" in line for line in said) == 1
    finally:
        run.kill()
        run.wait()
        run.stderr.close()
        os.close(reader)


def test_a_reader_that_begins_again_in_time_gets_the_summary(binary, write, server, tmp_path):
    run, reader = holding_a_full_pipe(binary, write, tmp_path, server(), "--for-ms", "1000")
    try:
        time.sleep(2.5)
        with os.fdopen(os.dup(reader)) as lines:
            assert json.loads(lines.read().splitlines()[-1])["type"] == "summary"
        assert run.wait(timeout=PATIENCE) == 0
    finally:
        run.kill()
        run.wait()
        run.stderr.close()
        os.close(reader)


@pytest.mark.parametrize("pause", [0, 0.0005, 0.002])
@pytest.mark.parametrize("first, second", [(signal.SIGHUP, signal.SIGTERM), (signal.SIGTERM, signal.SIGHUP),
                                           (signal.SIGTERM, signal.SIGTERM)])
def test_a_stop_wins_over_a_reload_whichever_comes_first(binary, write, server, tmp_path, first, second, pause):
    file = write(whole(upstream(server().endpoint)))
    for _ in range(4):
        run = subprocess.Popen([binary, "watch", file], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            assert run.stderr.readline().startswith(b"watching 1 endpoint")
            run.send_signal(first)
            time.sleep(pause)
            run.send_signal(second)
            assert b"watched for " in run.communicate(timeout=PATIENCE)[0]
            assert run.returncode == 0
        finally:
            run.kill()
            run.wait()


def test_reloads_leave_no_descriptors_and_no_threads_behind(watch, write, server):
    file = write(whole(upstream(*[server().endpoint for _ in range(5)])))
    run = watch(file, "--format", "jsonl", "--verdicts")
    run.row("probe")

    def held(what):
        return len(os.listdir(f"/proc/{run.process.pid}/{what}"))
    run.send(signal.SIGHUP)
    run.row("reloaded")
    threads = held("task")
    for _ in range(20):
        run.send(signal.SIGHUP)
        run.row("reloaded")
        run.row("probe")
    assert held("task") == threads
    until = time.monotonic() + PATIENCE
    while held("fd") > 20:  # the standard ones, the event loop's, and a socket a probe
        assert time.monotonic() < until
        time.sleep(0.01)
    run.end()


def test_text_fits_a_terminal_but_for_the_transitions(watch, write, halfopen):
    name = "a-name-that-nobody-would-like-to-type-twice-because-it-is-so-long"
    run = watch(write(whole(upstream({"address": f"{name}.invalid", "port": 65535}, interval_ms=300, timeout_ms=300,
                                     name=name))))
    run.says(name[:10])
    run.says("successes in a row")
    lines = run.end()
    assert all(len(line) <= 80 for line in lines[lines.index(""):] + run.said)
    assert "…" in "".join(lines)
    status, out, _ = halfopen("watch", "--help")
    assert status == 0 and all(len(line) <= 80 for line in out.splitlines())
    for word in ("SIGHUP", "--verdicts", "--for-ms", "jsonl", "half_open", "trusted_ca_file", "Exit status", "Default:"):
        assert word in out


def test_names_cannot_move_the_cursor(watch, write):
    run = watch(write(whole(upstream({"address": "127.0.0.1", "port": dead_port()}, name="a\x1b[2Jb"))))
    run.line("ejected")
    assert "\x1b" not in "".join(run.end() + run.said)
