"""Delivery of alerts in the background. Each due delivery gets one try, and another one later if it fails.

A delivery is a row, so a restart loses none. A try that was interrupted is repeated with the same key.
"""

import hashlib
import hmac
import json
import logging
import math
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from importlib.metadata import version
from typing import Any
from urllib.parse import urlsplit

import certifi
import httpx
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arcadia_backend.alerts import addresses
from arcadia_backend.alerts.addresses import BlockedError, DeliveryOutcome, resolve
from arcadia_backend.alerts.service import announce_alerts
from arcadia_backend.config import Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.database.scope import BACKEND, acting_as
from arcadia_backend.database.tables import Alert, AlertChannel, AlertDelivery
from arcadia_backend.failure_log import FailureLog
from arcadia_backend.live.background import BackgroundThread
from arcadia_workers.contract.values import storable

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


def post(
    webhook: Webhook, key: str, number: int, body: bytes, clock: Callable[[], float] = time.time
) -> DeliveryOutcome:
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
        return DeliveryOutcome(error=str(error), is_final=True)
    except httpx.TimeoutException:
        return DeliveryOutcome(error=f"No response within {TIMEOUT_SECONDS:g} seconds.")
    except (OSError, httpx.HTTPError, UnicodeError) as error:
        return DeliveryOutcome(error=f"The address could not be reached: {error}")


def _post(webhook: Webhook, headers: dict[str, str], body: bytes) -> DeliveryOutcome:
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


def _read(response: httpx.Response) -> DeliveryOutcome:
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
    return DeliveryOutcome(status=response.status_code, response=text, error=error)


@cache
def _certificates() -> ssl.SSLContext:
    """Return a context with the certificate authorities of this host and those of certifi."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


log = logging.getLogger(__name__)

# Delays of 10 s, 40 s, 160 s and so on up to 6 h: ten tries over about a day.
FIRST_DELAY_SECONDS, DELAY_FACTOR, MAX_DELAY_SECONDS = 10, 4, 6 * 3_600
MAX_TRIES = 10
# Longer than any try lasts. After this time, a try without an outcome was interrupted.
CLAIM = timedelta(minutes=2)
# Interval of the thread, as a share of the sweep interval.
SWEEP_SHARE = 1 / 4
# Concurrent tries, each of another channel, so that a slow receiver delays no other.
MAX_CONCURRENT = 8


class AlertDeliverer(BackgroundThread):
    """Thread that delivers alerts. Several backends may run one each, since each try is claimed."""

    def __init__(self, database: Database, settings: Settings, now: Callable[[], datetime] = utc_now) -> None:
        self._database, self._settings, self._now = database, settings, now
        super().__init__("alert-deliverer", SWEEP_SHARE * settings.sweep_seconds, self._work)
        # The current try of each channel that has one.
        self._tries: dict[int, threading.Thread] = {}
        self._failures = FailureLog(log)

    def list_due(self) -> list[tuple[int, int]]:
        """Return the ids of due deliveries and of their channels, oldest first."""
        due = (AlertDelivery.state == "waiting", AlertDelivery.next_try_at <= self._now())
        query = select(AlertDelivery.id, AlertDelivery.channel_id).where(*due).order_by(AlertDelivery.next_try_at)
        with self._database.read() as session:
            return [(row.id, row.channel_id) for row in session.execute(query.limit(1_000))]

    def deliver(self, delivery_id: int) -> None:
        """Try to deliver an alert now, and store the outcome."""
        claimed = self._claim(delivery_id)
        if claimed is not None:
            delivery, alert, channel = claimed
            self._store(delivery, self._send(delivery, alert, channel))

    def _claim(self, delivery_id: int) -> tuple[AlertDelivery, Alert, AlertChannel] | None:
        """Count a try, and reserve its time. Return None if another backend was faster."""
        with self._database.write() as session:
            delivery = session.get(AlertDelivery, delivery_id, with_for_update=True)
            now = self._now()
            if delivery is None or delivery.next_try_at is None or delivery.next_try_at > now:
                return None
            delivery.tries, delivery.next_try_at = delivery.tries + 1, now + CLAIM
            alert = session.get_one(Alert, delivery.alert_id)
            return delivery, alert, session.get_one(AlertChannel, delivery.channel_id)

    def _send(self, delivery: AlertDelivery, alert: Alert, channel: AlertChannel) -> DeliveryOutcome:
        private = self._settings.alerts_private
        if channel.kind == "apprise":
            text = "\n".join(part for part in (alert.text, link_to(alert, self._settings.public_url)) if part)
            return addresses.send(channel.url, alert.title, text, alert.level, allow_private=private)
        body = json.dumps(describe(delivery, alert, self._settings.public_url), ensure_ascii=False).encode()
        webhook = Webhook(channel.url, channel.secret or "", private)
        return post(webhook, delivery.key, delivery.tries, body, lambda: self._now().timestamp())

    def _store(self, claimed: AlertDelivery, tried: DeliveryOutcome) -> None:
        with self._database.write() as session:
            delivery = session.get(AlertDelivery, claimed.id, with_for_update=True)
            # A user may have removed it, switched its channel off, or requested it again.
            if delivery is not None and delivery.next_try_at == claimed.next_try_at:
                self._apply(session, delivery, tried)

    def _apply(self, session: Session, delivery: AlertDelivery, tried: DeliveryOutcome) -> None:
        now = self._now()
        delivery.status = tried.status
        delivery.response, delivery.error = (
            None if text is None else str(storable(text)) for text in (tried.response, tried.error)
        )
        if tried.error is None:
            delivery.state = "delivered"
        elif tried.is_final or delivery.tries >= MAX_TRIES:
            delivery.state = "failed"
        if delivery.state == "waiting":
            delivery.next_try_at = now + delay_after(delivery.tries)
        else:
            delivery.next_try_at, delivery.ended_at = None, now
        announce_alerts(session)

    def _work(self) -> float:
        """Start the due tries. Return the seconds until the next one is due."""
        with self._failures.guard("Delivering alerts"):
            self._start_tries()
            return self._seconds_until_due()
        return 0.0

    def _seconds_until_due(self) -> float:
        with self._database.read() as session:
            due = session.scalar(select(func.min(AlertDelivery.next_try_at)).where(AlertDelivery.state == "waiting"))
        return math.inf if due is None else (due - self._now()).total_seconds()

    def _start_tries(self) -> None:
        self._tries = {channel: thread for channel, thread in self._tries.items() if thread.is_alive()}
        for delivery_id, channel_id in self.list_due():
            if channel_id not in self._tries and len(self._tries) < MAX_CONCURRENT:
                # A daemon, so that a slow receiver does not delay the end of the backend.
                thread = threading.Thread(target=self._try, args=(delivery_id,), name="alert-delivery", daemon=True)
                self._tries[channel_id] = thread
                thread.start()

    def _try(self, delivery_id: int) -> None:
        with acting_as(BACKEND), self._failures.guard("Delivering an alert"):
            self.deliver(delivery_id)


def delay_after(tries: int) -> timedelta:
    """Return the time between a failed try and the next one."""
    return timedelta(seconds=min(FIRST_DELAY_SECONDS * DELAY_FACTOR ** (tries - 1), MAX_DELAY_SECONDS))


def describe(delivery: AlertDelivery, alert: Alert, public_url: str) -> dict[str, Any]:
    """Return the body of a webhook's request."""
    return {
        "delivery": delivery.key,
        "alert": {
            "id": alert.id,
            "kind": alert.kind,
            "level": alert.level,
            "title": alert.title,
            "text": alert.text,
            "run_id": alert.run_id,
            "study_id": alert.study_id,
            "created_at": alert.created_at.isoformat(),
            "url": link_to(alert, public_url),
        },
    }


def link_to(alert: Alert, public_url: str) -> str | None:
    """Return the address of the page that an alert is about, if the address of the server is known."""
    if not public_url:
        return None
    path = "alerts" if alert.study_id is None else f"studies/{alert.study_id}"
    return f"{public_url.rstrip('/')}/{path if alert.run_id is None else f'runs/{alert.run_id}'}"
