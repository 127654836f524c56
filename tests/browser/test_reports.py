"""A report in a browser: written, read by its link without a sign-in, and exported as one file."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect

from tests.browser.reported import installation_without_workers, open_api
from tests.browser.synthetic_replay import report_replay
from tests.chromium import open_context
from tests.factories import PONG, checkpoint_path, metrics
from tests.installation import Installation

USER = "user-secret"
TEXT = """# Why
**Because** <img src=x onerror=alert(1)>

| run | return |
|-----|-------:|
| 1   |   3.25 |

$$\\frac{1}{n}\\sum_i x_i$$
"""


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation that requires a token, with a run that has a curve and a replay."""
    folder = tmp_path_factory.mktemp("reports")
    with (
        installation_without_workers(folder, users_token=USER) as installation,
        open_api(installation, users_token=USER) as api,
    ):
        run = api.running(config=PONG, name="Rally")
        api.save(*run, 2, 100, kept=[checkpoint_path(100)])
        report_replay(api, run, 3, 100, tmp_path_factory.mktemp("recorded"))
        points = [metrics(seq, 100 * seq, returns=[float(seq)]) for seq in range(4, 12)]
        api.send(*run, *points).raise_for_status()
        yield installation


def opened(browser: Browser, errors: list[str], *, offline: bool = False) -> tuple[BrowserContext, Page]:
    """Open a page in a new browser context that records its errors."""
    context = open_context(browser, offline=offline, viewport={"width": 1440, "height": 900})
    page = context.new_page()

    def note(message: ConsoleMessage) -> None:
        if message.type == "error":
            errors.append(message.text)

    page.on("console", note)
    page.on("pageerror", lambda error: errors.append(str(error)))
    return context, page


def expect_whole(page: Page) -> None:
    """Wait until all four blocks show their content."""
    expect(page.get_by_role("heading", name="Rates of Pong")).to_be_visible()
    expect(page.get_by_role("heading", name="Why")).to_be_visible()
    expect(page.locator("strong", has_text="Because")).to_be_visible()
    expect(page.get_by_role("cell", name="3.25", exact=True)).to_be_visible()
    expect(page.locator("math mfrac")).to_be_visible()
    expect(page.locator(".main-svg").first).to_be_visible()
    expect(page.get_by_role("cell", name="Rally")).to_be_visible()
    expect(page.locator("video")).to_be_visible()
    page.wait_for_function("document.querySelector('video')?.readyState >= 2")


def pick(page: Page, field: str, words: str, *, block: str = "") -> None:
    """Search for a run in a field and pick it with the keyboard."""
    place = page.get_by_role("region", name=block, exact=True) if block else page
    search = place.get_by_role("combobox", name=field)
    search.fill(words)
    expect(page.get_by_role("option", name=words)).to_have_count(1)
    search.press("ArrowDown")
    search.press("Enter")
    expect(place.get_by_role("button", name="Remove run 1").last).to_be_visible()


def write(page: Page) -> None:
    """Write a report with one block of each kind.

    Wait for each preview before adding the next block. A preview moves the fields below, and the choices of a field
    outside the window are hidden.
    """
    page.get_by_role("button", name="New report").click()
    page.get_by_label("Title").fill("Rates of Pong")
    page.get_by_role("button", name="Add text").click()
    page.get_by_label("Markdown").fill(TEXT)
    page.get_by_role("button", name="Add chart").click()
    pick(page, "Add a run", "Rally")
    expect(page.locator(".main-svg").first).to_be_visible()
    page.get_by_role("button", name="Add table").click()
    pick(page, "Add a run", "Rally", block="Table, block 3")
    expect(page.get_by_role("cell", name="Rally")).to_be_visible()
    page.get_by_role("button", name="Add replay").click()
    pick(page, "Pick a run", "Rally")
    page.get_by_role("combobox", name="Replay").click()
    page.get_by_role("option", name="At 100 steps").click()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    page.get_by_role("button", name="Read", exact=True).click()


@pytest.mark.nightly
def test_a_report_is_written_shared_and_exported(browser: Browser, installation: Installation, tmp_path: Path) -> None:
    here, errors = f"http://127.0.0.1:{installation.port}", list[str]()
    writer, page = opened(browser, errors)
    assert writer.request.post(f"{here}/api/v1/session", data={"token": USER}).ok
    page.goto(f"{here}/reports")
    write(page)
    expect_whole(page)
    page.get_by_role("button", name="Share link").click()
    link = page.get_by_label("Read-only link").input_value()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export HTML").click()
    download.value.save_as(tmp_path / "report.html")
    writer.close()

    reader, page = opened(browser, errors)
    page.goto(link)
    expect_whole(page)
    expect(page.get_by_role("link")).to_have_count(0)
    assert reader.request.get(f"{here}/api/v1/runs").status == 401
    reader.close()

    offline, page = opened(browser, errors, offline=True)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "report.html").as_uri())
    expect_whole(page)
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    offline.close()
    assert errors == []
