"""`arcadia watch` on a terminal, with a real server and a real worker."""

import re

import pytest
from arcadia import Client

from tests.client.conftest import TOKEN
from tests.client.terminal import BRAILLE, Terminal


# Nightly, because tests/client/cli/test_terminal.py tests the same with a test in place of the worker.
@pytest.mark.nightly
def test_watch_shows_a_training_from_the_queue_to_its_end(client: Client) -> None:
    run = client.launch("paac-cartpole", name="watched", total_steps=8_000)
    environment = {"ARCADIA_URL": client.url, "ARCADIA_TOKEN": TOKEN}
    with Terminal("watch", run.id, "--interval", "0.2", environment=environment) as terminal:
        assert terminal.wait() == 0, terminal.shown
        shown = terminal.shown
    states = re.findall(rf"Run {run.id} watched  (\w+)", shown)
    assert "running" in states
    assert states[-1] == "finished"
    shares = [int(share) for share in re.findall(r"(\d+) %", shown)]
    assert shares == sorted(shares)
    assert shares[-1] == 100
    last = shown.rpartition(f"Run {run.id} watched")[2]
    assert f"return {run.refresh().last_return:.4g}  best" in last
    assert BRAILLE.search(last)
    assert list(run.log())[-1].message[:60] in last
