"""A lab with 20 hosts and 500 waiting runs: what people see of the hosts, of their run, and of their caps."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.reported import installation_without_workers, open_api
from tests.browser.test_accessibility import AXE, AXE_SCRIPT, BEYOND_SCRIPT, RULES, SCHEMES, SIZES
from tests.factories import Api
from tests.installation import Installation

pytestmark = pytest.mark.nightly

HOSTS, GPU_HOSTS, WAITING = 20, 4, 500
GIGABYTE = 10**9


class Hosts:
    """The workers of the hosts, which send heartbeats until they are closed."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._held: dict[int, dict[str, Any]] = {}
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._repeat, daemon=True)
        self.beat()

    def beat(self) -> None:
        """Send one heartbeat of each worker."""
        for number in range(HOSTS):
            name = f"host-{number:02d}"
            more: dict[str, Any] = {"queue": "gpu" if number < GPU_HOSTS else "cpu", "host": name, "pid": number + 1}
            if number < GPU_HOSTS:
                foreign = 9 * GIGABYTE if number == 1 else 0
                gpu = {"index": 0, "name": "NVIDIA A100", "memory_bytes": 40 * GIGABYTE, "foreign_bytes": foreign}
                more |= {"device": "NVIDIA A100", "gpus": [gpu]}
            self._api.beat(name, self._held.get(number), cores=16, job_slots=1, **more).raise_for_status()

    def claim_all(self) -> None:
        """Let each worker for CPU runs claim one."""
        for number in range(GPU_HOSTS, HOSTS):
            claimed = self._api.claim(f"host-{number:02d}")
            self._held[number] = {"id": claimed["run_id"], "attempt": claimed["attempt"]}

    def start(self) -> None:
        """Send heartbeats from now on."""
        self._thread.start()

    def close(self) -> None:
        """Send no more heartbeats."""
        self._stopped.set()
        self._thread.join()

    def _repeat(self) -> None:
        while not self._stopped.wait(4):
            self.beat()


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation with connected hosts and waiting runs."""
    with (
        installation_without_workers(tmp_path_factory.mktemp("lab")) as installation,
        open_api(installation) as api,
    ):
        hosts = Hosts(api)
        hosts.start()
        for number in range(HOSTS - GPU_HOSTS + WAITING):
            needs = {"labels": ["a100"], "gpu_memory_gb": 12} if number == WAITING else {}
            api.launch(needs=needs, interruptible=number % 9 == 0)
        hosts.claim_all()
        api.user.put("/api/v1/caps/projects/1", json={"max_runs": 18, "gpu_hours": 50}).raise_for_status()
        try:
            yield installation
        finally:
            hosts.close()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("size", SIZES)
def test_the_pages_fit_and_are_accessible(installation: Installation, page: Page, scheme: Any, size: Any) -> None:
    page.context.add_init_script(path=AXE)
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=scheme)
    for path, shown in (
        ("/workers", "host-19"),
        ("/usage", "Project Main"),
        (f"/runs/{WAITING}", "runs are ahead"),
        ("/", "PAAC on CartPole"),
    ):
        page.goto(f"http://127.0.0.1:{installation.port}{path}")
        expect(page.get_by_text(shown).first).to_be_visible()
        assert page.evaluate(BEYOND_SCRIPT) <= 0, path
        assert page.evaluate(AXE_SCRIPT, [RULES, None]) == [], path


def test_a_host_gets_a_label_and_the_waiting_run_no_longer_misses_it(installation: Installation, page: Page) -> None:
    page.goto(f"http://127.0.0.1:{installation.port}/runs/{WAITING + 1}")
    expect(page.get_by_text("No CPU worker has the label a100. Add labels on the page Workers.")).to_be_visible()
    page.goto(f"http://127.0.0.1:{installation.port}/workers")
    expect(page.get_by_text("16 training, 4 idle")).to_be_visible()
    expect(page.get_by_text("Others use 8.4 GiB of it, so no run starts on it.")).to_be_visible()
    page.get_by_role("button", name="Actions for host-07").click()
    page.get_by_role("menuitem", name="Labels and name of host-07…").click()
    dialog = page.get_by_role("dialog", name="Labels and name of host-07")
    dialog.get_by_label("Labels").fill("a100")
    dialog.get_by_label("Labels").press("Enter")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_text("a100", exact=True)).to_be_visible()
    page.goto(f"http://127.0.0.1:{installation.port}/runs/{WAITING + 1}")
    expect(page.get_by_text("Waiting for a free CPU worker.")).to_be_visible()
