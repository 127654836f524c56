"""The Python client against a real server."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arcadia import (
    ArcadiaError,
    AsyncClient,
    Client,
    ConflictError,
    InvalidRequestError,
    JobFailedError,
    NotFoundError,
    Run,
    UnauthorizedError,
    WaitTimeoutError,
)

from tests.client.conftest import TOKEN, WAIT_SECONDS
from tests.installation import Installation
from tests.workers.waiting import wait_until


def test_a_finished_run_has_its_results(finished: Run) -> None:
    assert finished.state == "finished", finished.traceback
    assert (finished.progress, finished.seed, finished.tags) == (1.0, 3, ["short"])
    assert finished.config["total_steps"] == 4_000
    assert finished.last_return is not None
    assert finished.finished_at is not None
    assert f"<b>finished</b>, step {finished.step:,}" in finished._repr_html_()
    assert "<svg" in finished._repr_html_()
    assert finished.provenance()["attempt"] == finished.attempt == 1
    assert finished.provenance()["provenance"] is not None


def test_all_points_of_a_run_are_read(finished: Run) -> None:
    assert "episode/return" in finished.metric_names()
    metrics = finished.metrics(["episode/return"])
    steps, returns = metrics.to_numpy()["episode/return"]
    assert not metrics.thinned
    assert len(returns) == finished.episodes
    assert np.all(np.diff(steps) >= 0)
    thinned = finished.metrics("episode/return", buckets=5)
    assert thinned.thinned
    assert thinned["episode/return"].total == finished.episodes
    assert set(finished.metrics().names) == set(finished.metric_names())


def test_the_log_of_a_run_is_read_and_followed(finished: Run) -> None:
    lines = [line.message for line in finished.log()]
    assert lines
    assert [line.message for line in finished.log(follow=True)] == lines
    assert [line.message for line in finished.log(search=lines[0])] == [line for line in lines if line == lines[0]]


def test_a_checkpoint_is_downloaded_loaded_and_pinned(finished: Run, tmp_path: Path) -> None:
    newest = finished.checkpoint("newest")
    assert newest.step == finished.step
    assert finished.checkpoint(newest.step).id == newest.id
    path = newest.download(tmp_path)
    assert path == tmp_path / f"run-{finished.id}-step-{newest.step}.safetensors"
    assert path.stat().st_size == newest.bytes
    arrays, tensors = newest.load(), newest.load("torch")
    assert arrays["network.policy.weight"].shape[0] == 2
    assert np.array_equal(arrays["network.policy.weight"], tensors["network.policy.weight"].numpy())
    assert newest.pin().is_pinned
    assert not newest.pin(False).is_pinned
    with pytest.raises(ArcadiaError, match="no checkpoint at step 1"):
        finished.checkpoint(1)


def test_references_find_runs(client: Client, finished: Run, queued: Run) -> None:
    assert client.run(finished.id).name == "a finished run"
    assert client.run("a finished run").id == finished.id
    assert client.run("@last").id == max(run.id for run in client.runs())
    assert client.runs(f"{finished.id}-{queued.id}")[0].id == finished.id
    assert [run.id for run in client.runs("a finished run", queued)] == [finished.id, queued.id]
    with pytest.raises(NotFoundError, match="no run named"):
        client.run("an unknown run")
    with pytest.raises(NotFoundError):
        client.run(10_000)


def test_runs_are_filtered(client: Client, finished: Run) -> None:
    assert [run.id for run in client.runs(state="finished", tag="short", env="CartPole-v1")] == [finished.id]
    assert client.runs(algorithm="gorila") == []
    assert len(client.runs(limit=1)) == 1
    doubled = {"doubled": "steps * 2"}
    expression = f"state = finished and id = {finished.id}"
    (found,) = client.runs(filter=expression, sort=["-best_return", "name"], compute=doubled)
    assert (found.id, found.computed) == (finished.id, {"doubled": 2.0 * finished.step})
    with pytest.raises(InvalidRequestError, match="did you mean finished"):
        client.runs(filter="state = finishd")


def test_runs_are_grouped(client: Client, finished: Run) -> None:
    (group,) = client.group_runs(["method", "env"], filter=f"id = {finished.id}", values=["steps"])
    assert (group.label, group.runs, group.states) == ("PAAC · CartPole", 1, {"finished": 1})
    assert group.statistics["steps"] == {"mean": float(finished.step), "std": None, "n": 1}
    assert [run.id for run in client.runs(filter=group.filter)] == [finished.id]


def test_an_action_on_many_runs_skips_those_that_do_not_allow_it(client: Client, finished: Run, queued: Run) -> None:
    paused = client.act("pause", queued.id, finished.id)
    assert (paused.state, paused.total, paused.done) == ("done", 2, 1)
    assert paused.skipped == {finished.id: f"Run {finished.id} has already finished."}
    assert queued.refresh().state == "paused"
    assert client.act("resume", queued.id, wait=False).total == 1


def test_a_queued_run_is_controlled_and_edited(client: Client, queued: Run) -> None:
    with pytest.raises(WaitTimeoutError, match="still queued"):
        queued.wait(timeout=0.2)
    assert queued.pause().wait(WAIT_SECONDS).state == "paused"
    assert queued.resume().state == "queued"
    assert queued.edit(name="edited", notes="why", priority=5).refresh().priority == 5
    assert (queued.name, queued.notes) == ("edited", "why")
    assert queued.tag("a", "b").untag("a").tags == ["b"]
    assert queued.stop().wait(WAIT_SECONDS).state == "stopped"
    with pytest.raises(ConflictError):
        queued.resume()
    assert queued.archive().is_archived
    assert queued.id in [run.id for run in client.runs(archived=True)]
    assert [run.id for run in client.runs(f"{queued.id}-{queued.id}")] == [queued.id]
    assert not queued.restore().is_archived
    queued.purge()
    with pytest.raises(NotFoundError):
        queued.refresh()


def test_copies_have_the_changed_fields(finished: Run, queued: Run) -> None:
    clone = queued.clone(name="copy", learning_rate=0.002)
    assert (clone.name, clone.config["learning_rate"]) == ("copy", 0.002)
    clone.stop()
    fork = finished.fork("newest", total_steps=10**9)
    assert (fork.parent_id, fork.config["total_steps"]) == (finished.id, 10**9)
    fork.stop().wait(WAIT_SECONDS)


def test_a_run_is_forecast_without_a_launch(client: Client, finished: Run) -> None:
    before = len(client.runs())
    forecast = client.forecast("paac-cartpole", seed=3, total_steps=4_000)
    assert (forecast.queue, forecast.measured_runs > 0) == ("cpu", True)
    assert forecast.seconds is not None
    assert forecast.runs_ahead >= 0
    with pytest.raises(InvalidRequestError, match="gamma"):
        client.forecast("paac-cartpole", gamma=2)
    assert len(client.runs()) == before
    assert finished.has_ended


def test_settings_of_a_run_change(queued: Run) -> None:
    total = queued.total_steps or 0
    change = queued.change(more_steps=100, learning_rate=0.5)
    assert (change.number, change.is_applied, change.applied_step) == (1, False, None)
    assert change.fields == {"learning_rate": 0.5, "total_steps": total + 100}
    assert change.previous["total_steps"] == total
    assert repr(queued.changes()) == f"[<Change 1: learning_rate=0.5, total_steps={total + 100}, waiting>]"
    with pytest.raises(InvalidRequestError, match="fork the run"):
        queued.change(gamma=0.5)


def test_a_wrong_field_is_named(client: Client) -> None:
    with pytest.raises(InvalidRequestError, match="learning_rte"):
        client.launch("paac-cartpole", learning_rte=0.1)


def test_figures_are_read_and_saved(client: Client, finished: Run, tmp_path: Path) -> None:
    figure = finished.figure("curves", smoothing=0.5)
    assert figure.to_plotly().data
    assert figure.save(tmp_path / "curves.csv").read_text().startswith("trace,x,y\n")
    assert figure.save(tmp_path / "curves.png").stat().st_size > 1_000
    assert client.figure("profile", [finished.id]).name == "profile"


def test_runs_are_compared(client: Client, finished: Run, queued: Run) -> None:
    alone = client.compare(finished)
    assert (alone.verdict, alone.table) == ("There is nothing to compare: these runs differ only in their seed.", [])
    early = client.compare([finished, queued], group_by="total_steps")
    assert early.verdict == "At least one group has no run with a finished episode yet."
    assert early.differences["total_steps"] == {run.id: run.config["total_steps"] for run in (finished, queued)}
    scored = client.compare([finished, queued], group_by="total_steps", at=1_000)
    assert [(row["runs"], row["n"], row["failed"]) for row in scored.table] == [
        ([finished.id], 1, 0),
        ([queued.id], 0, 0),
    ]
    assert scored.table[0]["mean"] > 0
    queued.stop()


def test_a_study_is_previewed_started_and_steered(client: Client) -> None:
    axes = {"learning_rate": [0.001, 0.002]}
    fixed: dict[str, Any] = {"changes": {"total_steps": 2_000}, "max_concurrent_runs": 1}
    assert client.preview_study("rates", preset="paac-cartpole", axes=axes, seeds=2, **fixed).runs == 4
    study = client.launch_study("rates", preset="paac-cartpole", axes=axes, seeds=2, confirm=True, **fixed)
    assert study.pause().wait(WAIT_SECONDS).state == "paused"
    assert client.study("rates").id == study.id
    assert study.id in [each.id for each in client.studies()]
    assert [point.values["learning_rate"] for point in study.points()] == [0.001, 0.002]
    assert study.edit(question="Which?").question == "Which?"
    assert study.extend(seeds=1).refresh().run_counts["planned"] > 0
    assert study.resume().state == "running"
    assert study.runs()[0].study_id == study.id
    assert study.stop().state == "stopped"
    assert study.figure("scatter").name == "scatter"
    study.delete()
    with pytest.raises(NotFoundError):
        study.refresh()


def test_a_study_until_certain_has_decisions(client: Client) -> None:
    axes = {"learning_rate": [0.001, 0.002]}
    until: dict[str, Any] = {"until": "certain", "max_seeds": 5}
    assert client.preview_study("rates", preset="paac-cartpole", axes=axes, seeds=1, **until).runs == 10
    study = client.launch_study("rates", preset="paac-cartpole", axes=axes, seeds=1, confirm=True, **until).pause()
    assert study.verdict == "Undecided: Learning rate 0.001 and Learning rate 0.002."
    assert [(point.decision, point.beaten_by, point.failed) for point in study.points()] == [("undecided", None, 0)] * 2
    study.stop().delete()


def test_saved_views_are_read_and_list_their_runs(client: Client, finished: Run) -> None:
    client.transport.post("/views", {"name": "Best", "query": "sort=-best_return"})
    assert [(view.name, view.project, view.query) for view in client.views()] == [("Best", "Main", "sort=-best_return")]
    assert client.views(project="none") == []
    assert client.view("best").run_query == {"sort": "-best_return"}
    assert finished.id in [run.id for run in client.runs(**client.view("Best").run_query)]
    with pytest.raises(NotFoundError, match="no view named"):
        client.view("worst")


def test_a_report_is_written_shared_and_saved(client: Client, tmp_path: Path) -> None:
    report = client.create_report("Results", [{"kind": "text", "markdown": "# First"}])
    assert report.edit(title="Final", blocks=[{"kind": "text", "markdown": "# Second"}]).title == "Final"
    assert [each.title for each in client.reports()] == ["Final"]
    assert client.reports()[0].edit(title="Last").title == "Last"
    with pytest.raises(ConflictError):
        report.edit(title="Outdated")
    assert report.refresh().share().shared_url is not None
    assert report.unshare().shared_url is None
    assert "Second" in client.report(report.id).save(tmp_path / "report.html").read_text()
    report.delete()
    assert client.reports() == []


def test_forecasts_of_starts_are_compared_with_what_happened(client: Client) -> None:
    found = client.start_forecasts(days=7)
    assert (found.days, found.all["forecasts"], found.undisturbed["share"], found.waits) == (7, 0, None, [])
    with pytest.raises(InvalidRequestError, match="days"):
        client.start_forecasts(days=0)


def test_usage_is_read_by_group(client: Client, finished: Run) -> None:
    rows = {row.kind: row for row in client.usage("kind", project=finished.project)}
    assert rows["training"].core_hours > 0
    assert (rows["training"].gpu_hours, rows["training"].month) == (0.0, None)
    assert client.usage("kind", until="2020-01-01T00:00:00Z") == []
    with pytest.raises(InvalidRequestError, match="person"):
        client.usage("planet")


def test_the_server_describes_itself(client: Client) -> None:
    # Redis or a heartbeat may be late on a busy machine.
    wait_until(lambda: client.health().is_ok)
    wait_until(lambda: [(worker.name, worker.queue) for worker in client.workers()] == [("one", "cpu")])
    assert "paac-cartpole" in [preset.name for preset in client.presets()]


@pytest.fixture
def _no_worker(installation: Installation, finished: Run) -> Iterator[None]:
    """Stop the worker during a test, so that jobs stay queued."""
    assert finished.has_ended
    installation.dismiss_workers()
    yield
    installation.worker("one", niceness=0)


@pytest.mark.usefixtures("_no_worker")
def test_jobs_are_requested_and_cancelled(finished: Run) -> None:
    evaluation = finished.evaluate(episodes=2, checkpoint=finished.step, wait=False)
    assert evaluation.cancel().state == "cancelled"
    assert evaluation.id in [each.id for each in finished.evaluations()]
    evaluation.delete()
    assert evaluation.id not in [each.id for each in finished.evaluations()]
    calibration = finished.calibrate(episodes=2, futures=8, wait=False)
    assert calibration.cancel().bias is None
    assert calibration.id in [each.id for each in finished.calibrations()]
    calibration.delete()
    recording = finished.record(wait=False)
    with pytest.raises(JobFailedError, match="is cancelled"):
        recording.cancel().wait(progress=False)
    assert recording.id in [each.id for each in finished.recordings()]
    recording.delete()


@pytest.mark.nightly
def test_a_checkpoint_is_evaluated_and_recorded(client: Client, finished: Run, tmp_path: Path) -> None:
    evaluation = finished.evaluate(episodes=3, timeout=WAIT_SECONDS)
    assert len(evaluation.scores) == 3
    assert evaluation.mean == pytest.approx(np.mean([score for score in evaluation.scores if score is not None]))
    calibration = finished.calibrate(episodes=1, futures=8, horizon=20, timeout=WAIT_SECONDS)
    assert len(calibration.moments) == calibration.moments_total
    assert calibration.bias == pytest.approx(np.mean([each["value"] - each["mean"] for each in calibration.moments]))
    replay = finished.record(timeout=WAIT_SECONDS).replay()
    assert replay.download(tmp_path / "a.mp4").read_bytes()[4:8] == b"ftyp"
    assert len(replay.track()["value"]) == replay.length
    futures = client.futures(replay, 2, futures=8, horizon=20, each_action=True, timeout=WAIT_SECONDS)
    assert futures.mean == pytest.approx(np.mean([each for each in futures.returns if each is not None]))
    assert (len(futures.actions), futures.agent_run_id) == (2, finished.id)
    review = client.review(replay, decisions=3, horizon=20, timeout=WAIT_SECONDS)
    assert (review.state, len(review.reviewed)) == ("done", 3)
    assert {each["decision"] for each in review.mistakes} <= {each["decision"] for each in review.reviewed}
    assert replay.pin().is_pinned
    assert "data:image/png" in replay._repr_html_()
    assert replay.id in [each.id for each in finished.replays()]


def test_the_asynchronous_client_does_the_same(client: Client, finished: Run, tmp_path: Path) -> None:
    async def use() -> None:
        async with AsyncClient(client.url, TOKEN) as api:
            run = await api.run(finished.id)
            assert (await run.wait(WAIT_SECONDS)).state == "finished"
            assert (await run.metrics("episode/return"))["episode/return"].total == run.episodes
            assert [line.message async for line in run.log()] == [line.message for line in finished.log()]
            newest = await run.checkpoint()
            assert (await newest.download(tmp_path)).stat().st_size == newest.bytes
            queued = await api.launch("paac-cartpole", queue="gpu")
            waiting = asyncio.create_task(queued.wait())
            await queued.stop()
            assert (await asyncio.wait_for(waiting, WAIT_SECONDS)).state == "stopped"

    asyncio.run(use())


def test_a_wrong_token_is_rejected(client: Client) -> None:
    with Client(client.url, "wrong") as stranger, pytest.raises(UnauthorizedError):
        stranger.runs()
