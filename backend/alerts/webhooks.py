"""Webhooks: one signed POST request per try."""

import hashlib
import hmac
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from urllib.parse import urlsplit

import certifi
import httpx

from backend.alerts.addresses import BlockedError, resolve
from backend.alerts.attempts import Attempted

SIGNATURE_HEADER, DELIVERY_HEADER, TRY_HEADER = "Arcadia-Signature", "Arcadia-Delivery", "Arcadia-Try"
TIMEOUT_SECONDS = 10.0
# Maximum number of bytes of a response that are kept.
MAX_RESPONSE_BYTES = 1_000


@dataclass(frozen=True)
class Webhook:
    """The address of a webhook, and the secret that signs its requests."""

    url: str
    secret: str
    allow_private: bool


def sign(secret: str, seconds: int, body: bytes) -> str:
    """Return the value of the signature header."""
    digest = hmac.new(secret.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={seconds},v1={digest}"


def post(webhook: Webhook, key: str, number: int, body: bytes, clock: Callable[[], float] = time.time) -> Attempted:
    """Send a body, and return the outcome. Redirects count as failures."""
    headers = {
        "Content-Type": "application/json",
        "Accept-Encoding": "identity",
        "User-Agent": f"Arcadia/{version('arcadia')}",
        SIGNATURE_HEADER: sign(webhook.secret, int(clock()), body),
        DELIVERY_HEADER: key,
        TRY_HEADER: str(number),
    }
    try:
        return _post(webhook, headers, body)
    except BlockedError as error:
        return Attempted(error=str(error), is_final=True)
    except httpx.TimeoutException:
        return Attempted(error=f"No response within {TIMEOUT_SECONDS:g} seconds.")
    except (OSError, httpx.HTTPError, UnicodeError) as error:
        return Attempted(error=f"The address could not be reached: {error}")


def _post(webhook: Webhook, headers: dict[str, str], body: bytes) -> Attempted:
    parts = urlsplit(webhook.url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    addresses = resolve(host, port, allow_private=webhook.allow_private)
    with httpx.Client(verify=_certificates(), trust_env=False, timeout=TIMEOUT_SECONDS) as client:
        for address in addresses:
            # Connect to the checked address. The certificate is still that of the host name.
            url = httpx.URL(webhook.url).copy_with(host=address)
            request = client.build_request(
                "POST",
                url,
                headers={"Host": parts.netloc, **headers},
                content=body,
                extensions={"sni_hostname": host},
            )
            try:
                response = client.send(request, stream=True)
            except httpx.ConnectError:
                if address == addresses[-1]:
                    raise
                continue
            return _read(response)
    raise OSError(f"{host} has no address")


def _read(response: httpx.Response) -> Attempted:
    """Read the beginning of a response, in limited time."""
    content, ends = b"", time.monotonic() + TIMEOUT_SECONDS
    try:
        for block in response.iter_raw():
            content += block
            if len(content) >= MAX_RESPONSE_BYTES or time.monotonic() > ends:
                break
    finally:
        response.close()
    text = content[:MAX_RESPONSE_BYTES].decode("utf-8", "replace").replace("\0", "\ufffd")
    error = None
    if response.has_redirect_location:
        error = f"The response was a redirect ({response.status_code}), which is not followed. Use its final address."
    elif not response.is_success:
        error = f"The response had status {response.status_code}."
    return Attempted(status=response.status_code, response=text, error=error)


@cache
def _certificates() -> ssl.SSLContext:
    """Return a context with the certificate authorities of this host and those of certifi."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context
