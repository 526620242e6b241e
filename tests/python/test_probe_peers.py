"""`halfopen probe` and `halfopen watch` against what people really run: Debian's nginx and HAProxy, started here."""

import json
import subprocess

import pytest

from peers import Haproxy, Nginx, held_port

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
