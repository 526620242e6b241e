"""`halfopen probe` against small servers on loopback: verdicts, phases, exit statuses, signals.

HALFOPEN_BIN names the binary (else build/dev/halfopen or build/release/halfopen).
"""

import json
import os
import re
import signal
import subprocess
import time

import pytest
from probed import OK, UNAVAILABLE, Server, answer, certificate, closed_port, full_listener, hang, has_ipv6, take

KEYS = ["probe", "url", "end", "ok", "status", "detail", "peer", "look_up_ms", "connect_ms", "tls_ms", "response_ms",
        "total_ms"]
PHASES = KEYS[-5:-1]

needs_ipv6 = pytest.mark.skipif(not has_ipv6(), reason="This machine has no ::1.")


@pytest.fixture(scope="module", autouse=True)
def with_prober(binary):
    done = subprocess.run([binary, "probe", "--help"], capture_output=True, text=True)
    if "was built without the prober" in done.stderr:
        pytest.skip("This halfopen was built without the prober.")


@pytest.fixture
def serve():
    """Starts servers (see Server) that end with the test."""
    servers = []

    def start(*handlers, **options):
        servers.append(Server(*handlers, **options))
        return servers[-1]
    yield start
    for server in servers:
        server.close()


def surroundings(**more):
    # A proxy of the environment is none of a probe's business; it is set here to show that.
    return {**os.environ, "http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9", **more}


@pytest.fixture
def probe(binary, tmp_path):
    """Runs the command; answers (status, stdout, stderr)."""
    def run(*words, **options):
        done = subprocess.run([binary, "probe", *map(str, words)], cwd=tmp_path, env=surroundings(), text=True,
                              stdout=options.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE, timeout=60, **options)
        return done.returncode, done.stdout, done.stderr
    return run


@pytest.fixture
def report(probe):
    """One probe as JSON: (exit status, object)."""
    def run(*words):
        status, out, err = probe(*words, "--format", "jsonl")
        assert err == ""
        line, = out.splitlines()
        found = json.loads(line)
        assert list(found) == KEYS
        assert found["ok"] == (found["end"] == "ok") == (status == 0)
        phases = [found[phase] for phase in PHASES if found[phase] is not None]
        assert all(phase >= 0 and round(phase, 3) == phase for phase in phases)
        assert sum(phases) <= found["total_ms"] + 0.01
        return status, found
    return run


def at(server, path="/healthz", scheme="http"):
    host = f"[{server.host}]" if ":" in server.host else server.host
    return f"{scheme}://{host}:{server.port}{path}"


def told(found):
    """Which phases a report has a time of."""
    return [phase.removesuffix("_ms") for phase in PHASES if found[phase] is not None]


def within_80_columns(text):
    return max(map(len, text.splitlines())) <= 80


# ---- one probe ------------------------------------------------------------------------------------


def test_200_is_a_success_and_asks_as_active_health_does(probe, serve):
    server = serve(answer(OK))
    status, out, err = probe(at(server, "/healthz?deep=1"))
    assert (status, err) == (0, "")
    head, columns, line, peer = out.splitlines()
    assert head == f"GET http://127.0.0.1:{server.port}/healthz?deep=1  timeout 2 s, times in ms"
    assert columns.split() == ["#", "verdict", "look-up", "connect", "tls", "response", "total"]
    assert re.fullmatch(r" 1  ok 200 +- +\d+\.\d{3} +- +\d+\.\d{3} +\d+\.\d{3}", line)
    assert len(line) == len(columns)
    assert peer == f"    with 127.0.0.1:{server.port}"
    first, *headers = server.requests[0].decode().lower().split("\r\n")
    assert first == "get /healthz?deep=1 http/1.1"
    assert "connection: close" in headers
    assert f"host: 127.0.0.1:{server.port}" in headers


@pytest.mark.parametrize("code", [200, 204, 299])
def test_2xx_is_a_success(report, serve, code):
    status, found = report(at(serve(answer(b"HTTP/1.1 %d\r\n\r\n" % code))))
    assert (status, found["end"], found["status"], found["detail"]) == (0, "ok", code, None)
    assert told(found) == ["connect", "response"]


@pytest.mark.parametrize("code, sentence", [
    (503, "the answer is 503, and only 2xx is a success"),
    (500, "the answer is 500, and only 2xx is a success"),
    (302, "the answer is 302, and redirects are not followed: probe where it leads"),
    (401, "the answer is 401, and a probe brings no credentials"),
    (404, "the answer is 404: is /healthz the right path?"),
    (199, "the answer is 199, and only 2xx is a success"),
])
def test_another_status_is_a_failure(probe, serve, code, sentence):
    status, out, err = probe(at(serve(answer(b"HTTP/1.1 %d No\r\nLocation: /\r\n\r\n" % code))))
    assert (status, err) == (1, "")
    assert re.search(rf"^ 1  status {code} ", out, re.MULTILINE)
    assert out.splitlines()[-1] == "    " + sentence


def test_nobody_listens(probe, report):
    port = closed_port()
    status, out, err = probe(f"http://127.0.0.1:{port}/")
    assert (status, err) == (1, "")
    assert " 1  refused " in out
    assert out.splitlines()[-1] == f"    nobody listens on 127.0.0.1:{port}"
    assert report(f"tcp://127.0.0.1:{port}")[1]["end"] == "refused"


def test_no_answer_in_time(report, probe, serve):
    server = serve(hang)
    status, found = report(at(server), "--timeout-ms", 150)
    assert (status, found["end"], found["status"]) == (1, "timeout", None)
    assert told(found) == ["connect"]
    assert 150 <= found["total_ms"] < 2000
    out = probe(at(server), "--timeout-ms", 150)[1]
    assert f"127.0.0.1:{server.port} took the connection, but no whole status line came" in out


def test_no_connection_in_time(report):
    with full_listener() as port:
        status, found = report(f"tcp://127.0.0.1:{port}", "--timeout-ms", 150)
    assert (status, found["end"], told(found), found["peer"]) == (1, "connect_timeout", [], None)
    assert 150 <= found["total_ms"] < 2000


@pytest.mark.parametrize("text, end", [
    (b"HTTP/1.1 20", "truncated"),
    (b"", "truncated"),
    (b"SSH-2.0-OpenSSH_9.2\r\n", "malformed"),
    (b"HTTP/1.1 2000 OK\r\n\r\n", "malformed"),
    (b"HTTP/1.1 200 " + b"x" * 5000, "too_long"),
])
def test_what_is_no_status_line(report, serve, text, end):
    status, found = report(at(serve(answer(text))))
    assert (status, found["end"], found["status"]) == (1, end, None)


def test_tcp_only_connects(probe, report, serve):
    server = serve(take)
    url = f"tcp://127.0.0.1:{server.port}"
    status, found = report(url)
    assert (status, found["end"], found["status"], told(found)) == (0, "ok", None, ["connect"])
    assert (found["url"], found["peer"]) == (url, f"127.0.0.1:{server.port}")
    assert probe(url)[1].startswith(f"connect to {url}  timeout 2 s, times in ms\n")


@needs_ipv6
def test_ipv6(report, serve):
    server = serve(answer(OK), host="::1")
    status, found = report(at(server))
    assert (status, found["peer"]) == (0, f"[::1]:{server.port}")
    assert f"Host: [::1]:{server.port}\r\n".lower() in server.requests[0].decode().lower()


def test_a_name_is_looked_up(report, serve):
    server = serve(answer(OK))
    status, found = report(f"http://localhost:{server.port}/", "--happy-eyeballs-ms", 0)
    assert (status, found["peer"]) == (0, f"127.0.0.1:{server.port}")
    assert told(found) == ["look_up", "connect", "response"]


def test_a_name_that_does_not_exist(probe, report):
    status, found = report("http://nowhere.invalid/")
    assert (status, found["end"], found["peer"]) == (1, "name_lookup", None)
    assert "no address was found for nowhere.invalid" in probe("http://nowhere.invalid/")[1]


# ---- https ----------------------------------------------------------------------------------------


def test_https_with_its_ca_and_without(probe, report, serve, tmp_path):
    cert, context = certificate(tmp_path, "good", "IP:127.0.0.1,DNS:localhost")
    server = serve(answer(OK), tls=context)
    status, found = report(at(server, scheme="https"), "--ca", cert)
    assert (status, found["end"], found["status"]) == (0, "ok", 200)
    assert told(found) == ["connect", "tls", "response"]
    assert report(f"https://localhost:{server.port}/", "--ca", cert)[0] == 0
    status, out, err = probe(at(server, scheme="https"))
    assert (status, err) == (1, "")
    assert " 1  tls " in out
    assert f"the TLS handshake with 127.0.0.1:{server.port} failed (" in out
    assert "self-signed" in out or "self signed" in out
    assert len(server.requests) == 2


def test_https_of_another_name(report, serve, tmp_path):
    cert, context = certificate(tmp_path, "other", "DNS:other.example")
    status, found = report(at(serve(answer(OK), tls=context), scheme="https"), "--ca", cert)
    assert (status, found["end"]) == (1, "tls")
    assert found["detail"]


def test_https_with_an_expired_certificate(report, serve, tmp_path):
    cert, context = certificate(tmp_path, "old", "IP:127.0.0.1", expired=True)
    status, found = report(at(serve(answer(OK), tls=context), scheme="https"), "--ca", cert)
    assert (status, found["end"]) == (1, "tls")
    assert "expired" in found["detail"]


def test_https_where_no_tls_is_spoken(report, serve):
    status, found = report(at(serve(answer(UNAVAILABLE)), scheme="https"), "--timeout-ms", 500)
    assert (status, found["status"], found["tls_ms"]) == (1, None, None)
    assert found["end"] in ("tls", "timeout")


def test_https_that_hangs_in_the_handshake(probe, serve):
    server = serve(lambda server, _: server.over.wait(20))
    status, out, _ = probe(at(server, scheme="https"), "--timeout-ms", 150)
    assert status == 1
    assert " 1  timeout " in out and "the TLS handshake was not over" in out


def test_a_ca_file_without_certificates_says_nothing_about_the_endpoint(probe, serve, tmp_path):
    (tmp_path / "empty.pem").write_text("no certificate\n")
    server = serve(answer(OK))
    status, out, err = probe(at(server, scheme="https"), "--ca", "empty.pem")
    assert status == 2
    assert " 1  not_made " in out
    assert f"which says nothing about 127.0.0.1:{server.port}" in " ".join(out.split())
    # The third in a row ends a series, as it ends a probe loop.
    status, out, err = probe(at(server, scheme="https"), "--ca", "empty.pem", "--count", 9, "--interval-ms", 1)
    assert status == 2
    assert "3 probes: 3 not_made" in out
    assert err == "halfopen: given up, because 3 probes in a row could not be made\n"


# ---- a series -------------------------------------------------------------------------------------


def mixed():
    return answer(OK), answer(UNAVAILABLE), answer(OK), answer(b"HTTP/1.1 2"), answer(OK)


def test_a_series_with_mixed_results(probe, serve):
    server = serve(*mixed())
    status, out, err = probe(at(server), "--count", 6, "--interval-ms", 1)
    assert (status, err) == (1, "")
    assert re.findall(r"^ (\d)  (\w+(?: \d+)?)", out, re.MULTILINE) == [
        ("1", "ok 200"), ("2", "status 503"), ("3", "ok 200"), ("4", "truncated"), ("5", "ok 200"), ("6", "ok 200")]
    assert out.count(f"with 127.0.0.1:{server.port}\n") == 1  # an address is told once while it stays
    blank, counts, times = out.splitlines()[-3:]
    assert (blank, counts) == ("", "6 probes: 4 ok, 1 status, 1 truncated")
    low, median, high = map(float, re.fullmatch(r"total of the ok: min (\S+) ms, median (\S+) ms, max (\S+) ms", times).groups())
    totals = sorted(float(line.split()[-1]) for line in out.splitlines() if " ok 200 " in line)
    assert (low, high) == (totals[0], totals[-1])
    assert median == pytest.approx((totals[1] + totals[2]) / 2, abs=0.0011)


def test_a_series_of_successes(probe, serve):
    status, out, _ = probe(at(serve(answer(OK))), "--count", 3, "--interval-ms", 1)
    assert status == 0
    assert "\n3 probes: 3 ok\n" in out


def test_a_series_of_failures_has_no_times(probe):
    status, out, _ = probe(f"tcp://127.0.0.1:{closed_port()}", "--count", 2, "--interval-ms", 1)
    assert status == 1
    assert out.endswith("\n2 probes: 2 refused\n")


def test_json_lines_have_the_same_keys_always(probe, serve, tmp_path):
    server = serve(*mixed())
    words = at(server), "--count", 5, "--interval-ms", 1, "--format", "jsonl"
    status, out, err = probe(*words, "-o", "series.jsonl")
    assert (status, out, err) == (1, "", "")
    lines = [json.loads(line) for line in (tmp_path / "series.jsonl").read_text().splitlines()]
    assert [list(line) for line in lines] == [KEYS] * 5
    assert [line["probe"] for line in lines] == [1, 2, 3, 4, 5]
    assert [line["end"] for line in lines] == ["ok", "status", "ok", "truncated", "ok"]
    assert {line["url"] for line in lines} == {at(server)}


def test_the_interval_runs_from_a_verdict_to_the_next_start(probe, serve):
    started = time.monotonic()
    assert probe(at(serve(hang)), "--count", 3, "--interval-ms", 100, "--timeout-ms", 100)[0] == 1
    assert 0.5 <= time.monotonic() - started < 5


# ---- interrupts -----------------------------------------------------------------------------------


def eventually(true, seconds=60):
    last = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < last
        time.sleep(0.01)


def start(binary, *words, ignored=(), **options):
    def dispositions():
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)
    return subprocess.Popen([binary, "probe", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=surroundings(), text=True, preexec_fn=dispositions, **options)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_in_a_series_still_prints_the_summary(binary, serve, number):
    running = start(binary, at(serve(answer(OK))), "--count", 1000, "--interval-ms", 600_000)
    lines = [running.stdout.readline() for _ in range(4)]
    assert " ok 200 " in lines[2]  # and now it rests for ten minutes
    running.send_signal(number)
    out, err = running.communicate(timeout=20)
    assert (running.returncode, err) == (128 + number, "")
    assert "1 probe: 1 ok\ntotal of the ok: min " in out


def test_an_interrupt_ends_a_hanging_probe(binary, serve):
    server = serve(answer(OK), hang)
    running = start(binary, at(server), "--count", 5, "--interval-ms", 1, "--timeout-ms", 600_000)
    for _ in range(4):
        running.stdout.readline()
    eventually(lambda: len(server.requests) == 2)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=20)
    assert (running.returncode, err) == (130, "")
    line = out.splitlines()[0]
    assert re.fullmatch(r"   2  cancelled +- +\d+\.\d{3} +- +- +\d+\.\d{3}|"
                        r" 2  cancelled +- +\d+\.\d{3} +- +- +\d+\.\d{3}", line)
    assert "1 probe: 1 ok" in out  # what was stopped is no verdict


def test_an_interrupt_of_a_single_hanging_probe(binary, serve, tmp_path):
    server = serve(hang)
    running = start(binary, at(server), "--timeout-ms", 600_000, "--format", "jsonl", "-o", "out", cwd=tmp_path)
    assert server.came.wait(20)
    running.send_signal(signal.SIGTERM)
    assert running.communicate(timeout=20) == ("", "")
    assert running.returncode == 143
    assert json.loads((tmp_path / "out").read_text())["end"] == "cancelled"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_an_ignored_interrupt_stays_ignored(binary, serve):
    running = start(binary, at(serve(answer(OK))), "--count", 3, "--interval-ms", 300, ignored=[signal.SIGHUP])
    for _ in range(4):
        running.stdout.readline()
    running.send_signal(signal.SIGHUP)
    out, _ = running.communicate(timeout=20)
    assert running.returncode == 0
    assert "3 probes: 3 ok" in out


def until_stuck(server):
    """Waits for a series whose output nobody reads to hang in its write: no more probes come."""
    seen = [-1]

    def full():
        seen.append(server.accepted)
        time.sleep(0.5)
        return seen[-2] == seen[-1] > 50
    eventually(full)


def test_two_interrupts_are_one_and_the_third_leaves_at_once(binary, serve):
    # Nobody reads, so that the command hangs in its write; timeout(1) sends each signal twice.
    server = serve(answer(OK))
    running = start(binary, at(server), "--count", 100_000, "--interval-ms", 1, "--format", "jsonl")
    until_stuck(server)
    for _ in range(2):
        running.send_signal(signal.SIGINT)
        time.sleep(0.1)
    assert running.poll() is None
    running.send_signal(signal.SIGINT)
    assert running.wait(20) == 130
    running.communicate()


def test_a_reader_that_never_reads_is_not_waited_for_without_bound(binary, serve):
    server = serve(answer(OK))
    running = start(binary, at(server), "--count", 100_000, "--interval-ms", 1, "--format", "jsonl")
    until_stuck(server)
    running.send_signal(signal.SIGINT)
    assert running.wait(30) == 130
    assert running.communicate()[1] == "halfopen: standard output is not read: what was left to tell is lost\n"


# ---- output ---------------------------------------------------------------------------------------


def test_a_reader_that_leaves_ends_the_series(binary, serve):
    running = start(binary, at(serve(answer(OK))), "--count", 100_000, "--interval-ms", 20, "--format", "jsonl")
    assert json.loads(running.stdout.readline())["probe"] == 1
    running.stdout.close()
    assert running.wait(20) == 0
    assert running.stderr.read() == ""
    running.stderr.close()


def test_a_closed_standard_output_is_told(binary, serve):
    server = serve(answer(OK))
    done = subprocess.run([binary, "probe", at(server), "--count", "1000"], preexec_fn=lambda: os.close(1),
                          stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith("halfopen: can't write to standard output: ")
    assert len(done.stderr.splitlines()) == 1
    assert server.accepted == 0


def test_nowhere_to_write_to_is_told_before_anything_is_probed(probe, serve, tmp_path):
    server = serve(answer(OK))
    status, out, err = probe(at(server), "-o", "missing/out")
    assert (status, out) == (2, "")
    assert "missing" in err
    (tmp_path / "ca.pem").write_text("")
    status, out, err = probe(at(server, scheme="https"), "--ca", "ca.pem", "-o", "ca.pem")
    assert (status, out, err) == (2, "", "halfopen: -o ca.pem would overwrite ca.pem; name another file\n")
    assert server.accepted == 0


def test_80_columns_whatever_the_url_is(probe, serve):
    server = serve(answer(b"HTTP/1.1 404 No\r\n\r\n"), answer(OK))
    status, out, _ = probe(at(server, "/" + "deep/" * 100 + "?q=" + "x" * 300), "--count", 2, "--interval-ms", 1,
                           "--timeout-ms", 123_456)
    assert status == 1
    assert within_80_columns(out)
    status, out, _ = probe(f"http://{'a' * 63}.{'b' * 63}.invalid/")
    assert status == 1
    assert within_80_columns(out)


def test_help_is_complete_by_itself(probe):
    status, out, err = probe("--help")
    assert (status, err) == (0, "")
    assert within_80_columns(out)
    for word in ("--timeout-ms", "--ca", "--count", "--interval-ms", "--happy-eyeballs-ms", "--format", "--output",
                 "Examples:", "Exit status:", "130"):
        assert word in out
    ends = re.findall(r"^  ([a-z_]+)  +\S", out, re.MULTILINE)
    assert {"ok", "status", "name_lookup", "refused", "unreachable", "connect_timeout", "tls", "reset", "truncated",
            "malformed", "too_long", "timeout", "not_made", "cancelled"} == set(ends)


# ---- usage ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("url, sentence", [
    ("", "it is empty: write http://HOST, https://HOST or tcp://HOST:PORT"),
    ("localhost:8080", "'localhost:8080' has no scheme: write http://HOST, https://HOST or tcp://HOST:PORT"),
    ("ftp://h", "'ftp' is no scheme that can be probed: write http, https or tcp"),
    ("http://", "the host is missing: write http://HOST"),
    ("tcp://h", "tcp has no port of its own: write tcp://HOST:PORT"),
    ("tcp://h:1/x", "a tcp probe only connects: leave out '/x'"),
    ("http://h:0", "'0' is no port: write a whole number from 1 to 65535"),
    ("http://h:65536", "'65536' is no port: write a whole number from 1 to 65535"),
    ("http://::1/", "'::1' has several colons: write an IPv6 address in brackets, http://[::1]"),
    ("http://[::1", "'[::1' has no closing bracket: write [::1]"),
    ("http://me:secret@h/", "a probe sends no credentials: leave out what stands before the @"),
    ("http://h/#top", "a fragment is never sent: leave out '#top'"),
    ("http://h/a b", "byte 11 is a blank: write %20 in a path, and none elsewhere"),
    ("http://h/\x1b[31m", "byte 10 is a control character: write %1B in a path, and none elsewhere"),
    ("http://bücher.example", "byte 9 is not ASCII: write a host name in its xn-- form, a path with %XX"),
    ("http://" + "a" * 64, "'" + "a" * 23 + "..." + "a" * 22
     + "' in the host name has 64 characters: between dots there may be 63"),
    ("http://" + "a." * 126 + "aa", "the host name has 254 characters: it may have 253"),
    ("http://127.1/", "'127.1' is no IPv4 address: write four numbers up to 255, as in 10.0.0.1"),
])
def test_a_bad_url_is_told_in_a_sentence(probe, url, sentence):
    status, out, err = probe(url)
    assert (status, out) == (2, "")
    assert err.splitlines()[0] == "halfopen: probe: URL: " + sentence


@pytest.mark.parametrize("words, sentence", [
    ([], "URL is required"),
    (["http://h", "--count", "0"], "--count: '0' is no whole number from 1 to 1000000"),
    (["http://h", "--count", "1000001"], "--count: '1000001' is no whole number from 1 to 1000000"),
    (["http://h", "--count", "-1"], "--count: '-1' is no whole number from 1 to 1000000"),
    (["http://h", "--timeout-ms", "0"], "--timeout-ms: '0' is no whole number from 1 to 1000000000000"),
    (["http://h", "--timeout-ms", "1000000000001"],
     "--timeout-ms: '1000000000001' is no whole number from 1 to 1000000000000"),
    (["http://h", "--timeout-ms", "1e3"], "--timeout-ms: '1e3' is no whole number from 1 to 1000000000000"),
    (["http://h", "--interval-ms", "0"], "--interval-ms: '0' is no whole number from 1 to 1000000000000"),
    (["http://h", "--happy-eyeballs-ms", "2.5"],
     "--happy-eyeballs-ms: '2.5' is no whole number from 0 to 1000000000000"),
    (["http://h", "--format", "xml"], "--format: 'xml' is none of text, jsonl"),
    (["http://h", "--ca", "x.pem"], "--ca: only https has certificates to check: leave it out, or write https://"),
    (["https://h", "--ca", ""], "--ca: the name of the file is empty"),
])
def test_a_bad_option_is_told_in_a_sentence(probe, words, sentence):
    status, out, err = probe(*words)
    assert (status, out) == (2, "")
    assert err.splitlines()[0] == "halfopen: probe: " + sentence


def test_an_unreadable_ca_file_is_told_before_anything_is_probed(probe, tmp_path):
    for name in "missing.pem", ".":
        status, out, err = probe("https://127.0.0.1:9", "--ca", name)
        assert (status, out) == (2, "")
        assert err == f"halfopen: can't read {name}: --ca needs a file of certificates in PEM\n"
