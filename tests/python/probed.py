"""What test_probe.py probes: small servers on loopback, each in a thread of its own, and their certificates."""

import contextlib
import socket
import ssl
import subprocess
import threading

import pytest

OK = b"HTTP/1.1 200 OK\r\n\r\n"
UNAVAILABLE = b"HTTP/1.1 503 Service Unavailable\r\n\r\n"


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
        return True
    except OSError:
        return False


class Server:
    """Takes connections one after the other, each handled by the next handler, the last one for ever."""

    def __init__(self, *handlers, host="127.0.0.1", tls=None):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.listener = socket.socket(family)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((host, 0))
        self.listener.listen(64)
        self.host, self.port, self.tls = host, self.listener.getsockname()[1], tls
        self.handlers, self.requests, self.accepted = list(handlers), [], 0
        self.over = threading.Event()
        self.came = threading.Event()  # the first connection
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            handler = self.handlers[min(self.accepted, len(self.handlers) - 1)]
            self.accepted += 1
            self.came.set()
            with connection, contextlib.suppress(OSError):
                connection.settimeout(20)
                if self.tls:
                    with self.tls.wrap_socket(connection, server_side=True) as secured:
                        handler(self, secured)
                else:
                    handler(self, connection)

    def close(self):
        self.over.set()
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(30)
        assert not self.thread.is_alive()


def request_of(connection):
    text = b""
    while not text.endswith(b"\r\n\r\n"):
        piece = connection.recv(4096)
        if not piece:
            break
        text += piece
    return text


def answer(text):
    """Reads the whole request, answers these bytes and closes."""
    def handle(server, connection):
        server.requests.append(request_of(connection))
        connection.sendall(text)
    return handle


def hang(server, connection):
    """Takes the request and never answers."""
    server.requests.append(request_of(connection))
    server.over.wait(20)


def take(server, connection):
    """Takes the connection and waits for the other side to leave."""
    connection.recv(1)


def closed_port(host="127.0.0.1"):
    """A port on which nobody listens: it was bound a moment ago, and is not given out again so soon."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as holder:
        holder.bind((host, 0))
        return holder.getsockname()[1]


@contextlib.contextmanager
def full_listener():
    """A port that takes no further connection: nobody accepts, and its queue is full. A SYN gets no answer."""
    with contextlib.ExitStack() as held:
        listener = held.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(8):
            filler = held.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]


def openssl(*words):
    try:
        subprocess.run(["openssl", *words], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("There is no `openssl` command here to make certificates with.")


def certificate(folder, name, san, *, expired=False):
    """A self-signed certificate, which is its own CA: (certificate file, server context)."""
    cert, key = folder / f"{name}.pem", folder / f"{name}.key"
    made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}"]
    if not expired:
        openssl("req", "-x509", *made, "-keyout", key, "-out", cert, "-days", "2", "-addext", f"subjectAltName={san}")
    else:
        # `req -x509` of OpenSSL 3.0 can't make one that ended in the past; `ca` can.
        request, config, index = folder / "x.csr", folder / "ca.cnf", folder / "index"
        index.write_text("")
        (folder / "serial").write_text("01\n")
        config.write_text(f"[ca]\ndefault_ca=d\n[d]\ndatabase={index}\nserial={folder / 'serial'}\nnew_certs_dir={folder}\n"
                          f"default_md=sha256\npolicy=p\nx509_extensions=e\n[p]\ncommonName=supplied\n"
                          f"[e]\nsubjectAltName={san}\nbasicConstraints=critical,CA:TRUE\n")
        openssl("req", "-new", *made, "-keyout", key, "-out", request)
        openssl("ca", "-batch", "-selfsign", "-config", config, "-keyfile", key, "-in", request, "-out", cert,
                "-notext", "-startdate", "200101000000Z", "-enddate", "200102000000Z")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    context.set_alpn_protocols(["http/1.1"])
    return cert, context
