"""Fixtures with a server, one worker and a run that it trained."""

from collections.abc import Iterator

import pytest
from arcadia import Client, Run

from tests.installation import Installation, PreparedBackend

TOKEN = "secret"
WAIT_SECONDS = 500.0


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Start a server with a worker for the queue `cpu`."""
    with Installation(tmp_path_factory.mktemp("installation"), PreparedBackend, token=TOKEN) as installation:
        # Every test waits for this training, so nothing competes with it.
        installation.worker("one", niceness=0)
        yield installation


@pytest.fixture(scope="module")
def client(installation: Installation) -> Iterator[Client]:
    """Connect to the server."""
    with Client(f"http://127.0.0.1:{installation.port}", TOKEN) as client:
        yield client


@pytest.fixture(scope="module")
def finished(client: Client) -> Run:
    """Train a run."""
    run = client.launch("paac-cartpole", name="a finished run", seed=3, tags=["short"], total_steps=4_000)
    return run.wait(WAIT_SECONDS)


@pytest.fixture
def queued(client: Client) -> Run:
    """Launch a run that no worker takes, because none has a GPU."""
    return client.launch("paac-cartpole", queue="gpu", seed=3)
