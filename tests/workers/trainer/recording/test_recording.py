"""Tests that a recording is the episode of an evaluation, with the agent's inputs and outputs in its track."""

from dataclasses import replace
from pathlib import Path

import av
import numpy as np
import pytest
import torch

from arcadia_workers.contract.config import A3cConfig, GorilaConfig, PaacConfig, RunConfig
from arcadia_workers.contract.protocols import PROTOCOLS, EvaluationProtocol
from arcadia_workers.contract.tracks import Track, read
from arcadia_workers.trainer.games import playing, subjects
from arcadia_workers.trainer.games.playing import play
from arcadia_workers.trainer.recording import recording
from arcadia_workers.trainer.recording.recording import (
    RecordedEpisode,
    StoppedError,
    discounted,
    files_in,
    seen_picture,
)
from tests.workers.trainer.evaluation import made_checkpoint

SHORT = replace(PROTOCOLS["no-op-5min"], cap_frames=400)
STICKY = replace(PROTOCOLS["sticky-30min"], cap_frames=400)
BREAKOUT = PaacConfig(env="ALE/Breakout-v5", life_loss_ends_episode=True)

# All kinds: emulator with and without sticky actions, gray and color pictures, readings, discrete and continuous
# actions, policy, values, memory.
KINDS: dict[str, RunConfig] = {
    "emulator": BREAKOUT,
    "sticky": PaacConfig(env="ALE/Breakout-v5", repeat_action_probability=0.25, action_set="full"),
    "values": GorilaConfig(env="ALE/Pong-v5"),
    "readings": PaacConfig(env="CartPole-v1"),
    "numbers": A3cConfig(env="Pendulum-v1", gamma=0.9),
    "colors": A3cConfig(env="Arcadia/Labyrinth-v0", lstm_units=8),
    "driving": PaacConfig(env="Arcadia/CarRacing-v0"),
    "physics": A3cConfig(env="Hopper-v5"),
    "physics seen": A3cConfig(env="Arcadia/ReacherPixels-v0"),
}


@pytest.fixture(autouse=True)
def _headless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def protocol_of(config: RunConfig) -> EvaluationProtocol:
    """Return a protocol that fits a configuration, with short episodes of Atari games."""
    if config.repeat_action_probability:
        return STICKY
    return SHORT if config.environment.family.has_start_points else PROTOCOLS["episodes"]


def recorded(run: Path, into: Path, episode: int = 0, seconds: float = 2.0) -> Track:
    """Record an episode of the checkpoint in a run's directory."""
    checkpoint, config = subjects.read(run, None)
    wanted = RecordedEpisode(protocol_of(config), seed=3, episode=episode, longest_seconds=seconds)
    recording.record(checkpoint, config, wanted, files_in(into))
    return read(into / "track.npz")


def pictures(video: Path) -> list[np.ndarray]:
    """Decode a video."""
    with av.open(str(video)) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


@pytest.mark.required_cases(2)
@pytest.mark.parametrize("kind", KINDS)
def test_videos_and_track_are_in_sync(kind: str, tmp_path: Path) -> None:
    config = KINDS[kind]
    made_checkpoint.write(tmp_path, config)
    track = recorded(tmp_path, tmp_path / "out")
    head, columns = track.head, track.columns
    shown = pictures(tmp_path / "out" / "recording.mp4")
    assert len(shown) == head.pictures
    assert {len(column) for column in columns.values()} == {len(track)}
    assert columns["picture"][0] == 0
    films_each = not config.environment.group.startswith("MuJoCo")
    assert (np.diff(columns["picture"]) >= films_each).all()
    assert columns["picture"][-1] < head.pictures
    assert (head.env, head.algorithm) == (config.env, config.algorithm)
    assert columns["score"][-1] + columns["reward"][-1] == pytest.approx(head.score)
    seen = tmp_path / "out" / "seen.mp4"
    assert seen.exists() == config.environment.shows_pixels
    if seen.exists():
        assert len(pictures(seen)) == head.pictures
        assert "observation" not in columns
    else:
        assert columns["observation"].shape[1:] == made_checkpoint.shape(config)


@pytest.mark.required_cases(3)
@pytest.mark.parametrize("kind", KINDS)
def test_numbers_are_formatted_for_readers(kind: str, tmp_path: Path) -> None:
    made_checkpoint.write(tmp_path, KINDS[kind])
    track = recorded(tmp_path, tmp_path / "out", seconds=0.5)
    numbers, value = track.columns["numbers"], track.columns["value"]
    if track.head.numbers_kind == "policy":
        assert numbers.sum(axis=1) == pytest.approx(1, abs=1e-5)
        assert numbers.shape[1] == len(track.head.action_names)
    elif track.head.numbers_kind == "values":
        assert (numbers.max(axis=1) == value).all()
    else:
        assert numbers.shape[1] == len(track.head.action_names) + 1
        assert (numbers[:, -1] > 0).all()
    assert np.isfinite(value).all()


@pytest.mark.parametrize("kind", [pytest.param("emulator", marks=pytest.mark.nightly), "readings"])
def test_a_recording_is_the_episode_that_an_evaluation_plays(kind: str, tmp_path: Path) -> None:
    config = KINDS[kind]
    made_checkpoint.write(tmp_path, config)
    checkpoint, _ = subjects.read(tmp_path, None)
    protocol = protocol_of(config)
    subject = subjects.agent_subject(checkpoint, config, protocol, None)
    numbers = [0, 9, 10]
    for one in play(subject, protocol, 3, numbers, playing.opening(protocol, None)):
        number = one.episode.number
        track = recorded(tmp_path, tmp_path / str(number), episode=number, seconds=60)
        assert (track.head.score, len(track), track.head.ended) == (
            one.episode.score,
            one.episode.length,
            one.episode.ended,
        )
        numbers.remove(number)
    assert numbers == []


@pytest.mark.parametrize("kind", [pytest.param("emulator", marks=pytest.mark.nightly), "colors"])
def test_the_same_checkpoint_and_seed_give_the_same_bytes(kind: str, tmp_path: Path) -> None:
    made_checkpoint.write(tmp_path, KINDS[kind])
    for out in "ab":
        recorded(tmp_path, tmp_path / out, seconds=1)
    assert (tmp_path / "a" / "track.npz").read_bytes() == (tmp_path / "b" / "track.npz").read_bytes()
    assert recorded(tmp_path, tmp_path / "c", episode=1, seconds=1).columns["numbers"].tolist() != (
        read(tmp_path / "a" / "track.npz").columns["numbers"].tolist()
    )


def test_reported_values_are_the_networks_outputs_for_its_inputs(tmp_path: Path) -> None:
    config = PaacConfig(env="CartPole-v1")
    made_checkpoint.write(tmp_path, config)
    track = recorded(tmp_path, tmp_path / "out")
    checkpoint, _ = subjects.read(tmp_path, None)
    network = subjects.agent_subject(checkpoint, config, PROTOCOLS["episodes"], None).network
    output, _ = network.predict(torch.from_numpy(track.columns["observation"]), ())
    assert track.columns["value"] == pytest.approx(output.values.numpy(), rel=1e-4)
    assert track.columns["numbers"] == pytest.approx(torch.softmax(output.numbers, -1).numpy(), rel=1e-4)


def test_the_networks_input_is_the_picture_shown_at_its_decision(tmp_path: Path) -> None:
    made_checkpoint.write(tmp_path, PaacConfig(env="ALE/MsPacman-v5"))
    track = recorded(tmp_path, tmp_path / "out")
    shown, seen = pictures(tmp_path / "out" / "recording.mp4"), pictures(tmp_path / "out" / "seen.mp4")

    def unlike(decision: int, shift: int) -> float:
        """Return the difference between the agent's picture at a decision and the one shown `shift` pictures later."""
        picture = track.columns["picture"][decision]
        gray = shown[picture + shift].mean(axis=2)[::5, ::4][:84, :80]  # 420 × 320 to 84 × 80
        narrow = seen[picture].mean(axis=2)[:, np.linspace(0, 83, 80).round().astype(int)]
        return float(np.abs(gray - narrow).mean())

    inner = range(4, len(track) - 4)
    at_once = np.mean([unlike(decision, 0) for decision in inner])
    assert at_once < np.mean([unlike(decision, 4) for decision in inner])
    assert at_once < np.mean([unlike(decision, -4) for decision in inner])


@pytest.mark.nightly
def test_returns_are_summed_as_in_training(tmp_path: Path) -> None:
    made_checkpoint.write(tmp_path, BREAKOUT)
    track = recorded(tmp_path, tmp_path / "out", seconds=60)
    assert track.head.ended == "cut off"
    rewards, lost = np.sign(track.columns["reward"]), track.columns["life_lost"]
    for t in range(0, len(track), 7):
        # The definition: discounted rewards until a life is lost, which ends an episode in this training.
        literal, factor = 0.0, 1.0
        for later in range(t, len(track)):
            literal, factor = literal + factor * rewards[later], factor * 0.99
            if lost[later]:
                break
        else:
            continue  # it ends after the recording
        assert track.columns["obtained"][t] == pytest.approx(literal, abs=1e-5)
    assert lost.any()
    assert (np.diff(track.columns["lives"]) == -lost[:-1].astype(int)).all()


@pytest.mark.parametrize("bootstrap", [True, pytest.param(False, marks=pytest.mark.nightly)])
def test_a_return_continues_after_a_time_limit_if_training_bootstraps(bootstrap: bool, tmp_path: Path) -> None:
    made_checkpoint.write(tmp_path, A3cConfig(env="Pendulum-v1", bootstrap=bootstrap, clip_rewards=False))
    track = recorded(tmp_path, tmp_path / "out", seconds=60)
    assert track.head.ended == "cut off"
    goes_on = track.columns["obtained"][-1] != pytest.approx(track.columns["reward"][-1])
    assert goes_on == track.head.bootstraps == bootstrap


def test_a_return_continues_with_the_value_at_the_end_of_the_recording() -> None:
    assert discounted([1.0, 0.0, 2.0], [False, False, False], 0.5, after=4.0).tolist() == [2.0, 2.0, 4.0]
    assert discounted([1.0, 0.0, 2.0], [False, True, False], 0.5, after=4.0).tolist() == [1.0, 0.0, 4.0]


def test_a_long_episode_is_cut_and_marked_as_unfinished(tmp_path: Path) -> None:
    made_checkpoint.write(tmp_path, KINDS["values"])
    track = recorded(tmp_path, tmp_path / "out", seconds=1)
    assert track.head.ended == "unfinished"
    assert 60 <= track.head.pictures < 64


def test_a_recording_shorter_than_a_picture_has_one_decision(tmp_path: Path) -> None:
    made_checkpoint.write(tmp_path, KINDS["values"])
    assert len(recorded(tmp_path, tmp_path / "out", seconds=0.01)) == 1


def test_a_stopped_recording_leaves_nothing_behind(tmp_path: Path) -> None:
    made_checkpoint.write(tmp_path, KINDS["values"])
    checkpoint, config = subjects.read(tmp_path, None)
    wanted = RecordedEpisode(SHORT, seed=1, episode=0, longest_seconds=5)
    with pytest.raises(StoppedError, match="was stopped"):
        recording.record(checkpoint, config, wanted, files_in(tmp_path / "out"), should_stop=lambda: True)
    assert list((tmp_path / "out").iterdir()) == []


def test_the_newest_of_stacked_screens_is_shown_and_colors_are_kept() -> None:
    stacked = np.arange(4 * 84 * 84, dtype=np.uint64).reshape(4, 84, 84).astype(np.uint8)
    assert (seen_picture(stacked) == stacked[3][:, :, None]).all()
    colored = stacked[:3]
    assert (seen_picture(colored)[5, 6] == colored[:, 5, 6]).all()
