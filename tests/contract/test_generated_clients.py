"""Clients that usual generators make from the API's description work, and the generators report nothing."""

import json
import subprocess
import sys
import threading
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.contract.conftest import USER_TOKEN, Door
from tests.factories import Api
from tests.workers.waiting import PATIENCE_SECONDS, wait_until

ROOT = Path(__file__).parents[2]
DOCUMENT, MODULES = "openapi.json", ROOT / "frontend" / "node_modules"
PRESET = "paac-cartpole"

guarded = pytest.mark.parametrize(("database_url", "token"), [("sqlite", USER_TOKEN)], indirect=["database_url"])


def run(*command: object, folder: Path) -> str:
    """Run a command that must succeed, and return all that it prints."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def train(api: Api, run_id: int) -> None:
    """Claim, train and finish a run as a worker does."""
    claimed = api.claim()
    assert claimed["run_id"] == run_id
    api.save(run_id, claimed["attempt"], 1, 1_200)
    api.release(run_id, claimed["attempt"], "finished").raise_for_status()


@pytest.mark.nightly
@guarded
def test_a_generated_python_client_lists_launches_awaits_and_reads_a_run(
    door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No hooks: they would format the client with tools that may not be on the path.
    (tmp_path / DOCUMENT).write_text(json.dumps(door.document))
    (tmp_path / "settings.yaml").write_text("post_hooks: []\n")
    generator = (sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none", "--fail-on-warning")
    target = tmp_path / "generated_arcadia"
    options = ("--path", DOCUMENT, "--config", "settings.yaml", "--output-path", target)
    said = run(*generator, *options, folder=tmp_path)
    assert said.strip() == f"Generating {target}"
    assert run(sys.executable, "-W", "error", "-m", "compileall", "-q", target, folder=tmp_path) == ""
    monkeypatch.syspath_prepend(str(tmp_path))
    client = import_module("generated_arcadia").AuthenticatedClient(
        f"http://127.0.0.1:{door.port}", USER_TOKEN, raise_on_unexpected_status=True
    )
    calls = {
        name: import_module(f"generated_arcadia.api.runs.{name}") for name in ("list_runs", "create_run", "read_run")
    }
    finished = import_module("generated_arcadia.models").ListRunsStateItem.FINISHED
    body = import_module("generated_arcadia.models").CreateRun.from_dict(
        {"preset": PRESET, "overrides": {"seed": 7}, "tags": ["generated"]}
    )

    def read(run_id: int) -> Any:
        return calls["read_run"].sync(run_id, client=client)

    assert calls["list_runs"].sync(client=client, state=[finished]).items == []
    launched = calls["create_run"].sync(client=client, body=body)
    worker = threading.Thread(target=train, args=(door.api, launched.id))
    worker.start()
    wait_until(lambda: read(launched.id).state == "finished")
    worker.join()
    (listed,) = calls["list_runs"].sync(client=client, state=[finished]).items
    assert (listed.id, listed.tags, read(launched.id).step) == (launched.id, ["generated"], 1_200)


@guarded
@pytest.mark.nightly
def test_a_generated_typescript_client_lists_launches_awaits_and_reads_a_run(door: Door, tmp_path: Path) -> None:
    (tmp_path / "node_modules").symlink_to(MODULES)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "client.ts").write_text((Path(__file__).parent / "generated_client.ts").read_text())
    generator = ("node", MODULES / "openapi-typescript" / "bin" / "cli.js")
    (tmp_path / DOCUMENT).write_text(json.dumps(door.document))
    said = run(*generator, DOCUMENT, "--output", "schema.ts", "--default-non-nullable", "false", folder=tmp_path)
    assert "⚠" not in said
    assert "warn" not in said.lower()
    compiler = ("node", MODULES / "typescript" / "bin" / "tsc", "--strict", "--target", "es2022")
    libraries = ("--module", "nodenext", "--types", "node", "--skipLibCheck")
    assert run(*compiler, *libraries, "client.ts", folder=tmp_path) == ""
    command = ["node", "client.js", f"http://127.0.0.1:{door.port}", USER_TOKEN, PRESET]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None
        launched = int(client.stdout.readline())
        train(door.api, launched)
        reported = json.loads(client.communicate(timeout=PATIENCE_SECONDS)[0])
    assert client.returncode == 0
    assert reported == {"before": 0, "after": [launched], "step": 1_200, "tags": ["generated"]}
