"""Tests for the files that a run in a directory writes, and for their timing."""

import json
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
import torch

from arcadia_workers.contract import events, layout
from arcadia_workers.contract.config import PaacConfig
from arcadia_workers.contract.events import RolePlace
from arcadia_workers.trainer.run import checkpoints, directory_run, durable_files
from arcadia_workers.trainer.run.checkpoints import CheckpointError
from arcadia_workers.trainer.run.directory_run import DirectoryRun, DivergedError
from arcadia_workers.trainer.run.journal import Journal
from arcadia_workers.trainer.run.provenance import ProvenanceReport
from arcadia_workers.trainer.run.recorder import Recorder
from arcadia_workers.trainer.run.run import NullRun, TrainingRun, TrainingState, snapshot
from tests.provenance import PROVENANCE
from tests.workers.trainer.trainers import assert_unbroken, of_kind, read_events
from tests.workers.waiting import wait_until

CONFIG = PaacConfig(env="CartPole-v1", total_steps=1000, checkpoint_seconds=3600, checkpoints_kept=4)
NO_REPLAY = (sys.executable, "-c", "raise SystemExit('no picture')")
RECORD_FOREVER = (sys.executable, "-c", "import signal; signal.pause()")
# Writes the same file as a real recorder, and describes it.
REPLAYS = (
    sys.executable,
    "-c",
    "import json, pathlib, sys; from arcadia_workers.contract import layout; step = int(sys.argv[2][-24:-12]);"
    "file = pathlib.Path(sys.argv[1]) / layout.replay_file(step); file.parent.mkdir(exist_ok=True); file.touch();"
    "print(json.dumps(dict(file=layout.replay_file(step), poster='none', seen=None, track='none', episode_return=1.0,"
    " length=1, seconds=1.0,"
    "complete=True)))",
)
PLACE = RolePlace(kind="bundle", number=0, host="sun (10.0.0.1)", times_lost=0)
OpenRun = Callable[..., DirectoryRun]


@pytest.fixture
def open_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenRun]:
    """Yield a function that begins the first or next attempt in tmp_path."""
    monkeypatch.setattr(directory_run, "FIRST_CHECKPOINT_SECONDS", 3600.0)
    opened: list[tuple[DirectoryRun, Journal]] = []

    def close() -> None:
        for run, journal in opened:
            run.close()
            journal.close()
        opened.clear()

    def open_next(recorder_command: Sequence[str] = NO_REPLAY) -> DirectoryRun:
        close()
        newest = checkpoints.newest(tmp_path, pytest.fail)
        journal = Journal(tmp_path)
        device = torch.device("cpu")
        restored = newest.state if newest else None
        recorder = Recorder(tmp_path, recorder_command)
        provenance = ProvenanceReport(tmp_path, journal, lambda: PROVENANCE)
        run = DirectoryRun(tmp_path, CONFIG, journal, device, {}, restored, bool, recorder, provenance, None)
        opened.append((run, journal))
        return run

    yield open_next
    close()


def state(step: int) -> TrainingState:
    """Return a small state."""
    return TrainingState(step, step, {"weights": torch.full((3,), float(step))}, {"count": step})


def save(run: DirectoryRun, step: int) -> None:
    """Save a step and wait until its checkpoint is announced."""
    run.save(state(step))
    wait_until(lambda: announced(run, step))


def announced(run: DirectoryRun, step: int) -> bool:
    """Let the run do its periodic work. Return True if the step's checkpoint has been announced."""
    run._next_tick = 0
    run.advance(step, step)
    return any(event.step == step for event in of_kind(run._directory, events.CheckpointEvent))


def block(directory: Path, step: int) -> None:
    """Prevent a step's checkpoint from being written."""
    durable_files.temporary(directory / layout.checkpoint_file(step)).mkdir(parents=True)


def files(directory: Path) -> list[int]:
    """Return the steps with checkpoint files."""
    return sorted(int(path.stem[5:]) for path in (directory / "checkpoints").glob("*.safetensors"))


def test_both_kinds_of_run_have_the_interface_that_methods_expect(open_run: OpenRun) -> None:
    runs: list[TrainingRun] = [open_run(), NullRun()]
    for run in runs:
        assert not run.should_stop()
        run.advance(5, 5)
        run.episode(5, 5, 1.0, 5)
        run.metrics({"train/entropy": 0.5})
        run.save(state(5))
        run.roles([PLACE])


def test_a_method_may_report_many_updates_at_once(tmp_path: Path, open_run: OpenRun) -> None:
    run = open_run()
    received: dict[str, float] = {}

    def rates_are_reported() -> bool:
        run.advance(run.step + 50, run.frames + 50, updates=10)
        run.metrics({})
        received.update(of_kind(tmp_path, events.Metrics)[-1].values)
        return "throughput/updates_per_second" in received

    wait_until(rates_are_reported)
    assert received["throughput/steps_per_second"] == pytest.approx(5 * received["throughput/updates_per_second"])


def test_metrics_include_every_episode_since_the_last_metrics(tmp_path: Path, open_run: OpenRun) -> None:
    run = open_run()
    for step in (10, 20):
        run.advance(step, 4 * step)
        run.episode(step - 1, 4 * step - 4, float(step), 7)
        run.episode(step, 4 * step, -1.0, 3)
        run.metrics({"train/entropy": torch.tensor(0.5).item()})
    first, second = of_kind(tmp_path, events.Metrics)
    assert (first.step, first.frames, second.step) == (10, 40, 20)
    assert [(e.step, e.frames, e.episode_return, e.length) for e in second.episodes] == [
        (19, 76, 20.0, 7),
        (20, 80, -1.0, 3),
    ]
    assert first.values["train/entropy"] == 0.5
    assert first.values["system/rss_bytes"] > 1e6


def test_many_episodes_are_split_over_several_events(tmp_path: Path, open_run: OpenRun) -> None:
    run = open_run()
    for step in range(2500):
        run.episode(step, step, 0.0, 1)
    run.metrics({"train/entropy": 0.5})
    reported = of_kind(tmp_path, events.Metrics)
    assert [len(event.episodes) for event in reported] == [1000, 1000, 500]
    assert [episode.step for event in reported for episode in event.episodes] == list(range(2500))
    assert [bool(event.values) for event in reported] == [True, False, False]


def test_the_places_of_all_roles_are_reported_in_one_event(tmp_path: Path, open_run: OpenRun) -> None:
    run = open_run()
    run.advance(10, 40)
    places = [PLACE, PLACE.model_copy(update={"number": 1, "times_lost": 2})]
    run.roles(places)
    (event,) = of_kind(tmp_path, events.Roles)
    assert (event.step, event.frames, event.roles) == (10, 40, places)


def test_a_dead_layer_is_warned_about_once(tmp_path: Path, open_run: OpenRun) -> None:
    run = open_run()
    for share in (0.5, 1.0, 1.0):
        run.metrics({"network/dead_convolution_1": share})
    (warning,) = (event for event in of_kind(tmp_path, events.Log) if event.level == "warning")
    assert "All units of convolution 1 are dead" in warning.message


def test_metrics_are_due_at_most_a_few_times_per_second(open_run: OpenRun) -> None:
    run = open_run()
    assert run.metrics_due()
    run.metrics({})
    assert not run.metrics_due()
    wait_until(run.metrics_due)


def test_progress_shows_the_rate_and_the_remaining_time(tmp_path: Path, open_run: OpenRun) -> None:
    run = open_run()
    step = 0

    def progressed() -> bool:
        nonlocal step
        step += 1
        run.advance(step, step)
        return bool(of_kind(tmp_path, events.Progress))

    wait_until(progressed)
    progress = of_kind(tmp_path, events.Progress)[0]
    assert progress.total_steps == 1000
    assert progress.steps_per_second > 0
    run.metrics({})
    assert of_kind(tmp_path, events.Metrics)[-1].values["throughput/steps_per_second"] > 0
    assert progress.seconds_left == pytest.approx(max(0, 1000 - progress.step) / progress.steps_per_second)


def test_episodes_are_reported_before_the_checkpoint_that_includes_them(tmp_path: Path, open_run: OpenRun) -> None:
    run = open_run()
    run.episode(9, 9, 5.0, 9)
    save(run, 10)
    kinds = [event.kind for event in read_events(tmp_path)]
    assert kinds.index("metrics") < kinds.index("checkpoint")
    checkpoint = of_kind(tmp_path, events.CheckpointEvent)[0]
    assert (checkpoint.step, checkpoint.return_mean, checkpoint.best) == (10, 5.0, True)
    manifest = json.loads((tmp_path / "checkpoints/step-000000000010.json").read_text())
    assert checkpoint.checkpoint.model_dump() == manifest


def replays(directory: Path) -> list[int]:
    """Return the steps with replays."""
    return sorted(int(path.stem[5:]) for path in (directory / "replays").glob("*.mp4"))


def test_the_first_the_best_the_last_and_an_intermediate_checkpoint_are_kept(tmp_path: Path, open_run: OpenRun) -> None:
    run = open_run()
    for step, mean in ((1, 1.0), (2, 9.0), (3, 3.0), (4, 4.0), (5, 5.0)):
        for _ in range(100):
            run.episode(step, step, mean, 1)
        save(run, step)
    last = of_kind(tmp_path, events.CheckpointEvent)[-1]
    assert [int(name[-15:-12]) for name in last.kept] == [1, 2, 4, 5]
    assert [event.best for event in of_kind(tmp_path, events.CheckpointEvent)] == [True, True, False, False, False]
    # A checkpoint that is being recorded is deleted after that.
    wait_until(lambda: announced(run, 5) and files(tmp_path) == [1, 2, 4, 5])


def test_exactly_the_kept_checkpoints_have_replays(tmp_path: Path, open_run: OpenRun) -> None:
    run = open_run(REPLAYS)
    for step in range(1, 8):
        save(run, step)
    wait_until(lambda: announced(run, 7) and not run._recorder.in_use)
    assert len(files(tmp_path)) == 4
    assert replays(tmp_path) == files(tmp_path)
    assert {event.step for event in of_kind(tmp_path, events.ReplayEvent)} >= set(files(tmp_path))


def test_a_recording_of_a_deleted_checkpoint_is_not_announced(tmp_path: Path, open_run: OpenRun) -> None:
    run = open_run(REPLAYS)
    save(run, 1)
    save(run, 2)
    wait_until(lambda: announced(run, 2) and run._recorder.in_use == [layout.checkpoint_file(2)])
    run._kept = [layout.checkpoint_file(1)]
    wait_until(lambda: announced(run, 2) and not run._recorder.in_use)
    assert replays(tmp_path) == [1]
    assert [event.step for event in of_kind(tmp_path, events.ReplayEvent)] == [1]


def test_a_resumed_run_records_missing_replays(tmp_path: Path, open_run: OpenRun) -> None:
    run = open_run(REPLAYS)
    save(run, 1)
    wait_until(lambda: announced(run, 1) and of_kind(tmp_path, events.ReplayEvent))
    run.save(state(2))
    run.complete("stopped by test")
    resumed = open_run(REPLAYS)
    wait_until(lambda: announced(resumed, 2) and replays(tmp_path) == [1, 2])
    wait_until(lambda: announced(resumed, 2) and len(of_kind(tmp_path, events.ReplayEvent)) == 2)
    assert [event.step for event in of_kind(tmp_path, events.ReplayEvent)] == [1, 2]


def test_a_resumed_run_continues_with_state_returns_and_kept_files(tmp_path: Path, open_run: OpenRun) -> None:
    run = open_run()
    for step, mean in ((1, 9.0), (2, 3.0), (3, 4.0)):
        for _ in range(100):
            run.episode(step, step, mean, 1)
        save(run, step)
    resumed = open_run()
    assert resumed.restored is not None
    assert (resumed.restored.step, resumed.restored.facts["count"]) == (3, 3)
    assert torch.equal(resumed.restored.tensors["weights"], torch.full((3,), 3.0))
    assert resumed.return_mean == 4.0
    for _ in range(50):
        resumed.episode(4, 4, 6.0, 1)
    save(resumed, 4)
    last = of_kind(tmp_path, events.CheckpointEvent)[-1]
    assert (last.return_mean, last.best) == (5.0, False)
    assert [int(name[-15:-12]) for name in last.kept] == [1, 2, 3, 4]
    assert_unbroken(tmp_path)


def test_an_unreported_checkpoint_is_not_deleted_at_the_end_of_a_recording(tmp_path: Path, open_run: OpenRun) -> None:
    run = open_run()
    save(run, 1)
    run.save(state(2))
    wait_until(lambda: files(tmp_path) == [1, 2] and run._writing is not None and run._writing.file.done())

    def recording_was_reported() -> bool:
        run._start_replays()
        return any("could not be recorded" in event.message for event in of_kind(tmp_path, events.Log))

    wait_until(recording_was_reported)
    assert files(tmp_path) == [1, 2]
    wait_until(lambda: announced(run, 2))
    assert [event.step for event in of_kind(tmp_path, events.CheckpointEvent)] == [1, 2]


def test_saving_the_same_step_twice_makes_one_checkpoint(tmp_path: Path, open_run: OpenRun) -> None:
    run = open_run()
    save(run, 10)
    run.save(state(10))
    run.complete("test")
    assert len(of_kind(tmp_path, events.CheckpointEvent)) == 1


def test_the_end_waits_for_the_last_checkpoint(tmp_path: Path, open_run: OpenRun) -> None:
    run = open_run()
    run.save(state(10))
    run.complete("stopped by test")
    assert [event.kind for event in read_events(tmp_path)] == ["provenance", "checkpoint", "stopped"]
    assert of_kind(tmp_path, events.Stopped)[0].reason == "stopped by test"


def test_a_failed_checkpoint_is_a_warning_and_the_next_one_is_written(tmp_path: Path, open_run: OpenRun) -> None:
    run = open_run()
    save(run, 1)
    block(tmp_path, 2)
    run.save(state(2))
    run.save(state(3))
    run.complete("test")
    warning = next(event for event in of_kind(tmp_path, events.Log) if event.level == "warning")
    assert "the checkpoint of step 2 could not be written" in warning.message
    assert [event.step for event in of_kind(tmp_path, events.CheckpointEvent)] == [1, 3]
    assert [int(name[-15:-12]) for name in of_kind(tmp_path, events.CheckpointEvent)[-1].kept] == [1, 3]


def test_a_failed_last_checkpoint_fails_the_run(tmp_path: Path, open_run: OpenRun) -> None:
    run = open_run()
    block(tmp_path, 2)
    run.save(state(2))
    with pytest.raises(CheckpointError, match="could not be written"):
        run.complete("test")


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_a_diverged_state_is_not_saved(tmp_path: Path, open_run: OpenRun, wrong: float) -> None:
    run = open_run()
    save(run, 10)
    diverged = TrainingState(20, 20, {"network.hidden.bias": torch.tensor([1.0, wrong])})
    with pytest.raises(DivergedError, match=r"step 20 .* fork it from the checkpoint of step 10, with"):
        run.save(diverged)
    assert files(tmp_path) == [10]


def test_weights_that_diverge_during_saving_are_not_saved(
    tmp_path: Path, open_run: OpenRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Simulate actor-learners that write shared weights while the main process saves them."""
    run = open_run()
    shared = TrainingState(20, 20, {"network.hidden.bias": torch.zeros(2)})

    def diverging(original: TrainingState) -> TrainingState:
        original.tensors["network.hidden.bias"].fill_(float("nan"))
        return snapshot(original)

    monkeypatch.setattr(directory_run, "snapshot", diverging)
    with pytest.raises(DivergedError):
        run.save(shared)
    assert files(tmp_path) == []


def test_a_nan_metric_makes_a_checkpoint_due_once(open_run: OpenRun) -> None:
    run = open_run()
    run.metrics({"train/policy_loss": 0.5})
    assert not run.checkpoint_due()
    run.metrics({"train/policy_loss": float("nan")})
    assert run.checkpoint_due()
    save(run, 10)
    run.metrics({"train/policy_loss": float("nan")})
    assert not run.checkpoint_due()


def test_a_replay_that_cannot_be_recorded_is_a_warning(tmp_path: Path, open_run: OpenRun) -> None:
    run = open_run()
    run.save(state(1000))
    run.complete("test")
    message = of_kind(tmp_path, events.Log)[-1].message
    assert message == "The replay of step 1,000 could not be recorded: no picture"
    assert read_events(tmp_path)[-1].kind == "finished"


def test_replays_that_take_too_long_after_the_last_step_are_left_out_without_a_warning(
    tmp_path: Path, open_run: OpenRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directory_run, "LAST_REPLAYS_SECONDS", 0.0)
    run = open_run(RECORD_FOREVER)
    run.save(state(1000))
    run.complete("test")
    said = of_kind(tmp_path, events.Log)[-1]
    assert (said.level, said.message) == ("info", "The training ended before the replay of step 1,000 was recorded")
    (progress,) = of_kind(tmp_path, events.RecordingReplays)
    assert (progress.left, progress.total) == (1, 1)
    assert read_events(tmp_path)[-1].kind == "finished"


def test_the_last_replays_are_counted_down(tmp_path: Path, open_run: OpenRun) -> None:
    run = open_run(REPLAYS)
    for step in (1000, 2000, 3000):
        run.save(state(step))
    run.complete("test")
    counted = [(each.left, each.total) for each in of_kind(tmp_path, events.RecordingReplays)]
    total = counted[0][1]
    assert counted == [(left, total) for left in range(total, -1, -1)]
    assert total >= 2


def test_the_first_solve_makes_a_checkpoint_due_and_its_replay_is_recorded_next(open_run: OpenRun) -> None:
    run = open_run(REPLAYS)
    for number in range(100):
        run.episode(number, number, 475.0, 475)
    assert not run.checkpoint_due()
    run._next_tick = 0
    run.advance(100, 100)
    assert run.checkpoint_due()
    save(run, 100)
    assert not run.checkpoint_due()
    assert run._recorder._milestone == layout.checkpoint_file(100)
    messages = [event.message for event in of_kind(run._directory, events.Log)]
    assert messages.count("Solved: the last 100 episodes have a mean return of 475.0, at least 475") == 1


def test_a_new_run_saves_its_first_checkpoint_early_and_a_resumed_one_on_schedule(
    open_run: OpenRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = open_run()
    assert not run.checkpoint_due()
    save(run, 100)
    monkeypatch.setattr(directory_run, "FIRST_CHECKPOINT_SECONDS", 0.0)
    assert not open_run().checkpoint_due()
    shutil.rmtree(run._directory / layout.CHECKPOINTS)
    assert open_run().checkpoint_due()
