"""Embeds in frames of pages at other origins, with and without a user token."""

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.reported import installation_without_workers, open_api
from tests.chromium import open_context
from tests.factories import Api, metrics
from tests.server_process import free_port

USERS_TOKEN = "token-of-the-users"


@contextlib.contextmanager
def framing(source: str, port: int) -> Iterator[None]:
    """Serve a page with a frame at all addresses of this host."""
    page = f'<link rel="icon" href="data:,"><iframe src="{source}" width="720" height="420"></iframe>'

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_request(self, *_: object) -> None:
            """Write no log."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass(frozen=True)
class Embedding:
    """A run, a browser page, and the ports of pages with its curve: one of a listed origin and one of another."""

    api: Api
    page: Page
    run_id: int
    attempt: int
    listed: int
    unlisted: int


@contextlib.contextmanager
def embedding(directory: Path, browser: Browser, token: str = "") -> Iterator[Embedding]:
    """Yield an embedded curve of a run that trains."""
    listed, unlisted = free_port(), free_port()
    origins = f"http://127.0.0.1:{listed},http://localhost:{listed}"
    with (
        installation_without_workers(directory, users_token=token, embed_origins=origins) as installation,
        open_api(installation, users_token=token) as api,
    ):
        run_id, attempt = api.running()
        sent = [metrics(seq, 100 * seq, {"train/loss": 0.5}, returns=[float(seq)]) for seq in (2, 3)]
        api.send(run_id, attempt, *sent).raise_for_status()
        address = f"http://127.0.0.1:{installation.port}"
        source = f"{address}/embed?figure=%2Fapi%2Fv1%2Ffigures%2Fcurves%3Fruns%3D{run_id}"
        context = open_context(browser, base_url=address)
        with framing(source, listed), framing(source, unlisted):
            yield Embedding(api, context.new_page(), run_id, attempt, listed, unlisted)
        context.close()


@pytest.mark.nightly
def test_an_embed_is_live_in_a_page_of_another_site(tmp_path: Path, browser: Browser) -> None:
    with embedding(tmp_path, browser) as embedded:
        page = embedded.page
        page.goto(f"http://localhost:{embedded.listed}/")
        axis = page.frame_locator("iframe").locator(".xaxislayer-above")
        expect(axis).to_be_visible()
        before = axis.text_content() or ""
        sent = [metrics(seq, 1_000 * seq, {"train/loss": 0.5}, returns=[float(seq)]) for seq in (4, 5)]
        embedded.api.send(embedded.run_id, embedded.attempt, *sent).raise_for_status()
        expect(axis).not_to_have_text(before)

        with page.expect_console_message(lambda message: "frame-ancestors" in message.text):
            page.goto(f"http://localhost:{embedded.unlisted}/")
        assert page.frame_locator("iframe").locator("main").count() == 0


@pytest.mark.nightly
def test_an_embed_with_a_token_needs_a_session_of_the_same_site(tmp_path: Path, browser: Browser) -> None:
    with embedding(tmp_path, browser, USERS_TOKEN) as embedded:
        page, frame = embedded.page, embedded.page.frame_locator("iframe")
        words = frame.get_by_text("Only people who are signed in to Arcadia see this chart.")
        page.goto(f"http://127.0.0.1:{embedded.listed}/")
        expect(words).to_be_visible()
        with page.expect_popup() as opened:
            frame.get_by_role("link", name="Sign in").click()
        opened.value.get_by_label("Token").fill(USERS_TOKEN)
        opened.value.get_by_role("button", name="Sign in").click()
        expect(opened.value.get_by_role("button", name="Sign in")).to_have_count(0)

        # Another port of the same host is another origin of the same site.
        page.reload()
        expect(frame.locator(".scatterlayer .trace").first).to_be_visible()

        # Browsers send no session to a frame in a page of another site.
        page.goto(f"http://localhost:{embedded.listed}/")
        expect(words).to_be_visible()
        with page.expect_popup() as opened:
            frame.get_by_role("link", name="open the chart in Arcadia").click()
        expect(opened.value.locator(".scatterlayer .trace").first).to_be_visible()
