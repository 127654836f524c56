"""Documents that pages show while runs train: their changes come over the stream, so that pages send no requests."""

import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, Request

from tests.browser.reported import installation_without_workers, open_api
from tests.factories import CARTPOLE, Api, metrics
from tests.installation import Installation

STEPS = 1000
# The progress of a run, in percent, is the number of its reports.
TOTAL_STEPS = 100 * STEPS
ROUNDS = 3
# Rounds until pages have loaded everything, such as marks and charts below.
MAX_LOADING_ROUNDS = 20
# True if a chart has reached a step, and the table of runs this progress.
HAS_PAINTED = """([path, step, progress]) => {
    const charts = [...document.querySelectorAll('.js-plotly-plot')];
    const inChart = charts.some(({ data }) => data?.some(({ x }) => Math.max(...x) >= step));
    const cells = [...document.querySelectorAll('tbody td')];
    const inTable = cells.some(({ innerText }) => innerText.replace(/\\D/g, '') === String(progress));
    return inChart && (path !== '/' || inTable);
}"""


# Eight hours of reports, one a second, in batches.
BATCHES, BATCH = 96, 300
# Batches after which pages hold what they show.
FIRST_BATCHES = 12
MAX_GROWTH_BYTES = 20_000_000


class Training:
    """Runs that report returns."""

    def __init__(self, api: Api, count: int) -> None:
        config = {**CARTPOLE, "total_steps": TOTAL_STEPS}
        self._api = api
        self._runs = [api.running(name=f"run {number}", config=config) for number in range(count)]
        self.ids = [run for run, _ in self._runs]
        self.step = self._reports = 0

    def report(self, count: int = 1) -> None:
        """Report this number of returns of all runs until their next step."""
        first, self.step = self.step, self.step + STEPS
        for run, attempt in self._runs:
            events = []
            for number in range(1, count + 1):
                step = first + STEPS * number // count
                events.append(metrics(1 + self._reports + number, step, returns=[step / 7 + run]))
            self._api.send(run, attempt, *events).raise_for_status()
        self._reports += count


class Pages:
    """A table, a run page and a comparison in tabs of one browser, and the requests that they send."""

    def __init__(self, context: BrowserContext, runs: list[int]) -> None:
        self.requests: list[str] = []
        self._tabs: dict[str, Page] = {}
        for path in ("/", f"/runs/{runs[0]}/curves", f"/compare?runs={','.join(map(str, runs))}"):
            self._tabs[path] = context.new_page()
            self._tabs[path].on("request", self._note)
            self._tabs[path].goto(path)

    def _note(self, request: Request) -> None:
        # No notice says that the broker is unreachable, so the table asks once a minute.
        is_expected = request.url.endswith(("/watches", "/events", "/health"))
        if not is_expected and request.resource_type != "image":
            self.requests.append(f"{request.method} {request.url}")

    def wait_for(self, step: int) -> None:
        """Wait until every page has painted a step."""
        for path, page in self._tabs.items():
            page.wait_for_function(HAS_PAINTED, arg=[path, step, step * 100 // TOTAL_STEPS])

    def heaps(self) -> dict[str, int]:
        """Return the size of each page's objects after garbage collection."""
        return {path: heap(page) for path, page in self._tabs.items()}


def heap(page: Page) -> int:
    """Return the size of a page's objects after garbage collection."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("HeapProfiler.collectGarbage")
    size = int(devtools.send("Runtime.getHeapUsage")["usedSize"])
    devtools.detach()
    return size


@pytest.fixture
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation without workers."""
    with installation_without_workers(tmp_path_factory.mktemp("documents")) as installation:
        yield installation


@pytest.mark.parametrize(
    ("runs", "seconds"), [(3, 0), pytest.param(20, 60, marks=pytest.mark.nightly)], ids=["few", "many"]
)
def test_pages_send_no_requests_while_runs_train(
    page: Page, installation: Installation, runs: int, seconds: float
) -> None:
    with open_api(installation) as api:
        training = Training(api, runs)
        training.report()
        pages = Pages(page.context, training.ids)

        def requests_of_round() -> list[str]:
            before = len(pages.requests)
            training.report()
            pages.wait_for(training.step)
            return pages.requests[before:]

        assert any(not requests_of_round() for _ in range(MAX_LOADING_ROUNDS))
        ends, rounds = time.monotonic() + seconds, 0
        while rounds < ROUNDS or time.monotonic() < ends:
            assert requests_of_round() == []
            rounds += 1


@pytest.mark.nightly
def test_pages_that_stay_open_do_not_grow(page: Page, installation: Installation) -> None:
    with open_api(installation) as api:
        training = Training(api, 3)
        training.report()
        pages = Pages(page.context, training.ids)
        early: dict[str, int] = {}
        for batch in range(1, BATCHES + 1):
            training.report(BATCH)
            pages.wait_for(training.step)
            if batch == FIRST_BATCHES:
                early = pages.heaps()
        assert {path: size for path, size in pages.heaps().items() if size - early[path] > MAX_GROWTH_BYTES} == {}
