"""Webhooks over TLS. They connect to the checked address and verify the certificate of the host name."""

import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from arcadia_backend.alerts import delivery
from arcadia_backend.alerts.addresses import DeliveryOutcome
from arcadia_backend.alerts.delivery import Webhook

HOST = "hooks.example.org"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with a self-signed certificate of the host and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "certificate.pem"
    file.write_bytes(
        signed.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return file


@pytest.fixture
def names(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, list[str | None]]]:
    """Yield the port of a TLS server on this host and the names that clients request. All names resolve to it."""
    asked: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.sni_callback = lambda _socket, name, _context: asked.append(name)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    trusted = ssl.create_default_context(cafile=certificate)
    monkeypatch.setattr(delivery, "_certificates", lambda: trusted)
    monkeypatch.setattr(delivery, "resolve", lambda *_, **__: ["127.0.0.1"])
    yield server.server_port, asked
    server.shutdown()
    thread.join()
    server.server_close()


def post(host: str, port: int) -> DeliveryOutcome:
    hook = Webhook(f"https://{host}:{port}/hook", "secret", allow_private=True)
    return delivery.post(hook, "key", 1, b"{}")


def test_the_certificate_is_verified_for_the_host_name(names: tuple[int, list[str | None]]) -> None:
    port, asked = names
    attempted = post(HOST, port)
    assert (attempted.status, attempted.error) == (200, None)
    assert asked == [HOST]


def test_a_certificate_of_another_host_is_refused(names: tuple[int, list[str | None]]) -> None:
    port, _asked = names
    attempted = post("other.example.org", port)
    assert attempted.status is None
    assert "certificate" in str(attempted.error)
