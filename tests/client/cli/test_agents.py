"""`arcadia agent` and `arcadia alias`."""

import json
from pathlib import Path

from tests.client.cli.conftest import Arcadia, finish
from tests.factories import Api, checkpoint, checkpoint_path
from tests.workers.trainer.agents.made_agents import STEP, TITLES, config_of, save_checkpoint


def train(api: Api, folder: Path) -> int:
    """Return a finished run with a checkpoint of fresh weights."""
    content = save_checkpoint(folder, config_of("cartpole")).read_bytes()
    run, attempt = api.running(config={**TITLES["cartpole"], "total_steps": 1_000})
    api.upload(run, attempt, checkpoint_path(STEP), content)
    api.send(run, attempt, checkpoint(2, STEP, content, best=True, return_mean=1.0)).raise_for_status()
    finish(api, run, attempt, 3)
    return run


def test_an_agent_is_exported_by_its_alias_and_imported(arcadia: Arcadia, api: Api, tmp_path: Path) -> None:
    run = train(api, tmp_path / "made")
    named = arcadia("alias", "set", "pole/champion", run, "--why", "It stands.")
    assert (named.status, named.out.strip()) == (0, f"pole/champion: run {run} at step 1,000"), named.err
    file = tmp_path / "pole.agent.zip"
    exported = arcadia("agent", "export", "pole/champion", file)
    assert (exported.status, exported.out.strip()) == (0, str(file)), exported.err
    assert "exists" in arcadia("agent", "export", run, file).err
    assert arcadia("agent", "export", run, file, "--checkpoint", "pole/champion", "--overwrite").status == 0
    imported = json.loads(arcadia("agent", "import", file, "--name", "Visitor", "--json").out)
    assert (imported["name"], imported["origin"]) == ("Visitor", "agent")
    assert f"run {imported['id']}" in arcadia("agent", "import", file).out


def test_an_alias_is_listed_moved_and_removed(arcadia: Arcadia, api: Api, tmp_path: Path) -> None:
    run = train(api, tmp_path / "made")
    arcadia("alias", "set", "pole/best", run)
    (listed,) = [each for each in json.loads(arcadia("alias", "list", "--json").out) if each["name"] == "pole/best"]
    assert (listed["run_id"], listed["step"]) == (run, STEP)
    assert arcadia("alias", "remove", "pole/best", "--why", "Old.").status == 0
    history = json.loads(arcadia("alias", "history", "pole/best", "--json").out)
    assert [each["why"] for each in history] == ["Old.", ""]
    assert all(each["who"] for each in history)
    assert "removed" in arcadia("alias", "history", "pole/best").out
    assert "There is no alias" in arcadia("alias", "remove", "pole/best").err


def test_a_file_that_is_not_an_agent_is_rejected(arcadia: Arcadia, tmp_path: Path) -> None:
    file = tmp_path / "wrong.zip"
    file.write_bytes(b"nothing")
    refused = arcadia("agent", "import", file)
    assert (refused.status, "it is not a zip file" in refused.err) == (1, True)


def test_a_checkpoint_without_a_name_is_refused(arcadia: Arcadia, trained: int) -> None:
    refused = arcadia("evaluate", trained, "--checkpoint", "nobody/known")
    assert (refused.status, "there is no alias 'nobody/known'" in refused.err) == (1, True)
