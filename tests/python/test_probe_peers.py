"""`halfopen probe` and `halfopen watch` against what people really run: Debian's nginx and HAProxy, started here."""

import json
import subprocess
from collections import Counter

import pytest

from peers import Haproxy, Nginx, held_port, wait_until

PEERS = {"nginx": Nginx, "haproxy": Haproxy}


@pytest.fixture
def probe(binary):
    """What `halfopen probe` says of a url: a dictionary."""
    def run(url, *words):
        command = [binary, "probe", url, "--format", "jsonl", *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        if "built without the prober" in done.stderr:
            pytest.skip(done.stderr)
        said = json.loads(done.stdout)
        assert done.returncode == (0 if said["ok"] else 1), done.stderr
        assert said["ok"] == (said["end"] == "ok")
        return said
    return run


@pytest.fixture
def port():
    with held_port() as number:
        yield number


@pytest.fixture(params=PEERS)
def peer(request, tmp_path, port):
    with PEERS[request.param](tmp_path, port) as one:
        yield one


def test_a_probe_sees_a_peer_start_change_its_mind_and_stop(peer, probe):
    url = f"http://127.0.0.1:{peer.port}/healthz"

    def seen():
        said = probe(url)
        return said["end"], said["status"]

    assert seen() == ("refused", None)
    peer.start()
    said = probe(url)
    assert (said["end"], said["status"], said["peer"]) == ("ok", 200, f"127.0.0.1:{peer.port}")
    # A literal address needs no look-up and plain http no handshake; the rest took some time, and no more than all.
    assert said["look_up_ms"] is None and said["tls_ms"] is None
    assert 0 < said["connect_ms"] and 0 < said["response_ms"] and said["connect_ms"] + said["response_ms"] <= said["total_ms"]
    assert probe(f"tcp://127.0.0.1:{peer.port}")["end"] == "ok"

    for status in (503, 404, 429, 204):
        peer.answer(status)
        peer.reload()
        assert seen() == ("ok" if status == 204 else "status", status)
    assert probe(f"tcp://127.0.0.1:{peer.port}")["end"] == "ok"

    peer.stop()
    assert seen() == ("refused", None)
    assert probe(f"tcp://127.0.0.1:{peer.port}")["end"] == "refused"
    peer.start()
    assert seen() == ("ok", 204)


def certificate(folder, names):
    """(certificate, key) of a server with these names, signed by itself: so it is its own authority."""
    folder.mkdir()
    paths = folder / "certificate.pem", folder / "key.pem"
    done = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=a peer of a test", "-addext", f"subjectAltName={names}", "-out", paths[0], "-keyout", paths[1]],
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return paths


def test_a_probe_trusts_nginx_over_tls_as_far_as_its_certificate_goes(tmp_path, port, probe):
    ours = certificate(tmp_path / "ours", "IP:127.0.0.1,DNS:localhost")
    strangers = certificate(tmp_path / "strangers", "IP:127.0.0.1,DNS:localhost")
    elsewhere = certificate(tmp_path / "elsewhere", "IP:127.0.0.9,DNS:elsewhere.example")
    url, by_name = f"https://127.0.0.1:{port}/healthz", f"https://localhost:{port}/healthz"
    with Nginx(tmp_path, port, ours) as nginx:
        assert probe(url, "--ca", ours[0])["end"] == "refused"
        nginx.start()
        # nginx would rather speak HTTP/2, which it may choose only if the probe offers it.
        for address in (url, by_name):
            said = probe(address, "--ca", ours[0])
            assert (said["end"], said["status"], said["peer"]) == ("ok", 200, f"127.0.0.1:{port}")
            assert said["tls_ms"] > 0
        for trusting in ((), ("--ca", strangers[0])):
            said = probe(url, *trusting)
            assert (said["end"], said["status"]) == ("tls", None)
            assert "certificate" in said["detail"]
        # Who asks without TLS is told so in plain HTTP, which is an answer and no success.
        said = probe(f"http://127.0.0.1:{port}/healthz")
        assert (said["end"], said["status"]) == ("status", 400)

        nginx.answer(503)
        nginx.reload()
        said = probe(url, "--ca", ours[0])
        assert (said["end"], said["status"]) == ("status", 503)

        nginx.certificate = elsewhere
        nginx.answer(200)
        nginx.reload()
        said = probe(url, "--ca", elsewhere[0])
        assert (said["end"], said["status"]) == ("tls", None)

        nginx.certificate = None
        nginx.answer(200)
        nginx.reload()
        said = probe(url, "--ca", ours[0])
        assert (said["end"], said["status"]) == ("tls", None)


# ---- watch -----------------------------------------------------------------------------------------

# A probe may take as long as its interval, so the interval must outlast a stall of this machine; probes come thick
# all the same because so many upstreams have the one endpoint, out of step by their jitter.
UPSTREAMS = [f"peer-{i}" for i in range(20)]
INTERVAL_MS, JITTER_MS, FAILURES, SUCCESSES = 400, 200, 3, 2


def gateway_file(folder, port):
    active = {"kind": "http", "path": "/healthz", "interval_ms": INTERVAL_MS, "timeout_ms": INTERVAL_MS, "jitter_ms": JITTER_MS,
              "failure_threshold": FAILURES, "success_threshold": SUCCESSES}
    path = folder / "gateway.json"
    path.write_text(json.dumps({"upstreams": [
        {"name": name, "endpoints": [{"address": "127.0.0.1", "port": port}], "health": {"eject_ms": 600_000},
         "active_health": active} for name in UPSTREAMS]}))
    return path


class Watch:
    """A `halfopen watch` that runs beside the test: what it has written so far, as dictionaries."""

    def __init__(self, binary, folder, file):
        self.out, self.err = folder / "watch.jsonl", folder / "watch.err"
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.process = subprocess.Popen([binary, "watch", file, "--format", "jsonl", "--verdicts"],
                                            stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    def lines(self):
        return [json.loads(line) for line in self.out.read_text().rpartition("\n")[0].splitlines()]

    def until_each(self, end, count):
        """From now on, each upstream has `count` probes that end so. Returns the probes on the way there."""
        start = len(self.lines())

        def probes():
            return [line for line in self.lines()[start:] if line["type"] == "probe"]

        def all_there():
            if self.process.poll() is not None:
                message = self.err.read_text()
                pytest.skip(message) if "built without the prober" in message else pytest.fail(message)
            seen = Counter(line["upstream"] for line in probes() if line["end"] == end)
            return all(seen[name] >= count for name in UPSTREAMS)

        wait_until(all_there, f"{count} probes of each upstream that end as {end}")
        return probes()

    def end(self):
        self.process.terminate()
        assert self.process.wait(20) == 0, self.err.read_text()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def transitions_due(lines):
    """Of one upstream: the places behind which a transition has to be, after the rule of active_health."""
    due, healthy, streak = {}, True, 0
    for place, line in enumerate(lines):
        if line["type"] != "probe":
            continue
        streak = streak + 1 if line["ok"] != healthy else 0
        if streak == (FAILURES if healthy else SUCCESSES):
            due[place + 1] = "endpoint_ejected" if healthy else "endpoint_recovered"
            healthy, streak = not healthy, 0
    return due


def test_watch_ejects_and_recovers_a_peer_at_the_thresholds_and_a_reload_costs_no_probe(binary, tmp_path, peer):
    peer.start()
    with Watch(binary, tmp_path, gateway_file(tmp_path, peer.port)) as watch:
        assert {line["end"] for line in watch.until_each("ok", 1)} == {"ok"}

        started = len(watch.lines())
        for _ in range(10):
            peer.reload()
        watch.until_each("ok", 1)
        through_the_reloads = [line for line in watch.lines()[started:] if line["type"] == "probe"]
        assert len(through_the_reloads) >= len(UPSTREAMS)
        assert {(line["end"], line["status"]) for line in through_the_reloads} == {("ok", 200)}

        peer.answer(503)
        peer.reload()
        sick = watch.until_each("status", FAILURES + 1)
        assert {(line["end"], line["status"]) for line in sick} <= {("status", 503), ("ok", 200)}
        peer.answer(200)
        peer.reload()
        watch.until_each("ok", SUCCESSES + 1)

        peer.stop()
        watch.until_each("refused", FAILURES + 1)
        peer.start()
        watch.until_each("ok", SUCCESSES + 1)
        watch.end()
        lines = watch.lines()

    for name in UPSTREAMS:
        mine = [line for line in lines if line.get("upstream") == name]
        transitions = {place: line for place, line in enumerate(mine) if line["type"] != "probe"}
        assert {place: line["type"] for place, line in transitions.items()} == transitions_due(mine)
        sick, well, dead, alive = transitions.values()
        for ejected in (sick, dead):
            assert (ejected["type"], ejected["rule"]) == ("endpoint_ejected", "consecutive_failures")
            assert (ejected["because"]["streak"], ejected["because"]["threshold"]) == (FAILURES, FAILURES)
        assert (sick["last_probe"]["end"], sick["last_probe"]["status"]) == ("status", 503)
        assert dead["last_probe"]["end"] == "refused"
        for recovered in (well, alive):
            assert (recovered["type"], recovered["via"]) == ("endpoint_recovered", "active_probe")
            assert recovered["because"]["successes"] == SUCCESSES
            assert recovered["last_probe"]["status"] == 200

    summary = lines[-1]
    assert (summary["type"], summary["dropped_lines"]) == ("summary", 0)
    assert [(endpoint["upstream"], endpoint["ejections"], endpoint["recoveries"], endpoint["state"])
            for endpoint in summary["endpoints"]] == [(name, 2, 2, "healthy") for name in UPSTREAMS]
