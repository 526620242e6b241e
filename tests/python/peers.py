"""A real nginx and a real HAProxy on loopback ports, each in a folder of its own, ended whatever happens."""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import time

import pytest

PATIENCE_S = 20


def program(name):
    """Its path, or the test is skipped: Debian has both outside an ordinary user's PATH."""
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if not found:
        pytest.skip(f"there is no {name} on this machine; on Debian: apt-get install {name}")
    return found


@contextlib.contextmanager
def held_port():
    """A port of ours for as long as this lasts: nobody is given it, nobody listens there until a peer does."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as every server does
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]


def wait_until(true, what):
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < deadline, f"after {PATIENCE_S} s still not: {what}"
        time.sleep(0.02)


class Peer:
    """A server that is started, stopped, started again. What it says goes to the file `said`."""

    def __init__(self, folder, port):
        self.folder, self.port, self.process = folder, port, None
        self.said = folder / "said"

    def start(self):
        with self.said.open("ab") as said:
            self.process = subprocess.Popen(self.command(), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=said,
                                            stderr=said, start_new_session=True)
        wait_until(self.listens, f"{self.command()[0]} listens on {self.port}")

    def listens(self):
        assert self.process.poll() is None, self.said.read_text()
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self):
        """When it returns, master and workers are gone and connections are refused."""
        if not self.process:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            pass
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Nginx(Peer):
    """One server that answers every request with one status; over TLS alone if `certificate`, (certificate, key), is given."""

    def __init__(self, folder, port, certificate=None):
        self.path, self.certificate = program("nginx"), certificate
        super().__init__(folder, port)
        self.answer(200)

    def answer(self, status):
        """From the next start or reload on."""
        user = f"user {pwd.getpwuid(0).pw_name};" if os.getuid() == 0 else ""  # or its worker could not read the folder
        temporary = "".join(f"{kind}_temp_path {self.folder}/{kind}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        listen, tls = f"127.0.0.1:{self.port}", ""
        if self.certificate:
            listen += " ssl http2"
            tls = "ssl_certificate {}; ssl_certificate_key {};".format(*self.certificate)
        (self.folder / "nginx.conf").write_text(f"""
daemon off; {user} worker_processes 1; pid {self.folder}/pid; error_log {self.folder}/errors notice;
events {{ worker_connections 64; }}
http {{
  access_log {self.folder}/access; {temporary}
  server {{ listen {listen}; {tls} location / {{ return {status}; }} }}
}}
""")

    def command(self, *words):
        return [self.path, "-p", str(self.folder), "-c", str(self.folder / "nginx.conf"), "-e", str(self.folder / "errors"),
                *words]

    def count_of(self, words):
        return (self.folder / "errors").read_text().count(words)

    def reload(self):
        """When it returns, the worker of the new configuration is there and that of the old one is gone."""
        started, gone = self.count_of("start worker process "), self.count_of("exited with code 0")
        done = subprocess.run(self.command("-s", "reload"), capture_output=True, text=True, check=False, timeout=PATIENCE_S)
        assert done.returncode == 0, done.stderr
        wait_until(lambda: self.count_of("start worker process ") > started, "nginx has another worker")
        wait_until(lambda: self.count_of("exited with code 0") > gone, "nginx's worker of before is gone")


class Haproxy(Peer):
    """A frontend that answers every request with one status; master and worker, as Debian's service runs it."""

    def __init__(self, folder, port):
        self.path = program("haproxy")
        super().__init__(folder, port)
        self.answer(200)

    def answer(self, status):
        """From the next start or reload on."""
        (self.folder / "haproxy.cfg").write_text(f"""
global
    maxconn 64
defaults
    mode http
    timeout connect 5s
    timeout client 5s
    timeout server 5s
frontend probed
    bind 127.0.0.1:{self.port}
    http-request return status {status}
""")

    def command(self):
        return [self.path, "-W", "-db", "-f", str(self.folder / "haproxy.cfg"), "-p", str(self.folder / "pid")]

    def count_of(self, words):
        return self.said.read_text().count(words)

    def reload(self):
        """When it returns, the worker of the new configuration is there and that of the old one is gone."""
        forked, gone = self.count_of("New worker"), self.count_of("Former worker")
        os.kill(self.process.pid, signal.SIGHUP)
        wait_until(lambda: self.count_of("New worker") > forked, "HAProxy has another worker")
        wait_until(lambda: self.count_of("Former worker") > gone, "HAProxy's worker of before is gone")
