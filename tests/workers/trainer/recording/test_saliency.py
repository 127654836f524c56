"""Tests for saliency: a literal transcription of the paper, a trained agent, and a recorded episode."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from arcadia_workers.contract import tracks as contract
from arcadia_workers.contract.config import RunConfig
from arcadia_workers.contract.jobs import SaliencyParameters
from arcadia_workers.contract.protocols.document import GREEDY
from arcadia_workers.contract.tracks import SaliencyError, Track
from arcadia_workers.trainer.games import playing, subjects
from arcadia_workers.trainer.games.video import Frame
from arcadia_workers.trainer.methods.trainer import TrainedNetwork
from arcadia_workers.trainer.networks.agents import Memory
from arcadia_workers.trainer.recording import retracing
from arcadia_workers.trainer.recording.recording import StoppedError
from arcadia_workers.trainer.recording.retracing import OtherEpisodeError, masks, places, saliency, salient
from tests.workers.trainer.evaluation import made_checkpoint
from tests.workers.trainer.recording.test_recording import KINDS, SHORT, protocol_of, recorded

PONG = Path(__file__).parents[3] / "fixtures" / "pong-paac"
SIDE = 84
Picture = NDArray[np.float64]


def literal(network: TrainedNetwork, state: Picture, memory: Memory, i: int, j: int) -> tuple[float, float]:
    """Return S_π and S_V of one place by section 3 of the paper, pixel by pixel."""
    changed = state.copy()
    for channel, picture in enumerate(state):
        for y in range(SIDE):
            for x in range(SIDE):
                mask = np.exp(-((y - i) ** 2 + (x - j) ** 2) / (2 * 25))
                if mask > 1e-9:
                    changed[channel, y, x] = picture[y, x] * (1 - mask) + blurred_at(picture, y, x) * mask
    before, _ = network.predict(torch.from_numpy(state[None]).float(), memory)
    after, _ = network.predict(torch.from_numpy(changed[None]).float(), memory)
    policy = 0.5 * float(((before.numbers - after.numbers) ** 2).sum())
    return policy, 0.5 * float(((before.values - after.values) ** 2).sum())


def blurred_at(picture: Picture, y: int, x: int) -> float:
    """Return one pixel of the blurred picture: the mean of all pixels weighted by a Gaussian with σ = 3."""
    rows, columns = np.mgrid[0:SIDE, 0:SIDE]
    weights = np.exp(-((rows - y) ** 2 + (columns - x) ** 2) / (2 * 3**2))
    return float((weights * picture).sum() / weights.sum())


def network_of(directory: Path, config: RunConfig) -> TrainedNetwork:
    """Return the network of a new run."""
    made_checkpoint.write(directory, config)
    return subjects.agent_subject(*subjects.read(directory, None), protocol_of(config), None).network


@pytest.mark.required_cases(1)
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("emulator", marks=pytest.mark.nightly),
        "values",
        "colors",
        pytest.param("physics seen", marks=pytest.mark.nightly),
    ],
)
def test_saliency_equals_the_papers_definition(kind: str, tmp_path: Path) -> None:
    config = KINDS[kind]
    network = network_of(tmp_path, config)
    random = np.random.default_rng(1)
    observation = random.integers(0, 256, size=made_checkpoint.shape(config), dtype=np.uint8)
    memory = tuple((torch.randn_like(h), torch.randn_like(c)) for h, c in network.initial_memory(1))
    assert bool(memory) == (kind == "colors")
    policy, value = saliency(network, torch.from_numpy(observation), memory)
    for row, column in ((0, 16), (7, 9)):
        at = places(SIDE)[row], places(SIDE)[column]
        of_policy, of_value = literal(network, observation.astype(np.float64), memory, *at)
        assert of_policy > 0
        assert float(policy[row, column]) == pytest.approx(of_policy, rel=1e-3)
        assert float(value[row, column]) == pytest.approx(of_value, rel=1e-3, abs=1e-7)


def test_the_grid_covers_the_picture() -> None:
    assert (places(SIDE)[0], places(SIDE)[-1], len(places(SIDE))) == (2, 82, 17)
    bells = masks(SIDE)
    assert bells.shape == (17 * 17, SIDE, SIDE)
    assert bells[17 + 3].argmax() == 7 * SIDE + 17, "row 1, column 3"
    assert float(bells.amax(dim=0).min()) > 0.7, "every pixel is near a place"


# Pong


@dataclass(frozen=True)
class Scene:
    """Mean saliency of the grid places within five pixels of each thing."""

    policy: dict[str, float]
    value: dict[str, float]


COLORS = {"ball": (236, 236, 236), "own paddle": (92, 186, 92), "other paddle": (213, 130, 74)}
# Rows of the field between the white borders. The network sees 84 rows instead of 210.
FIELD = slice(34, 194)
GRID = np.array([(y, x) for y in places(SIDE) for x in places(SIDE)])
FIELD_PLACES = (GRID[:, 0] > FIELD.start * SIDE / 210 + 2) & (GRID[:, 0] < FIELD.stop * SIDE / 210 - 2)


def seen_at(picture: Frame, color: tuple[int, int, int]) -> NDArray[np.float64]:
    """Return the rows and columns of a color's pixels on the field, scaled to the network's picture."""
    rows, columns = np.nonzero((picture[FIELD] == color).all(axis=-1))
    return np.stack([(rows + FIELD.start) * SIDE / 210, columns * SIDE / 160], axis=1)


def near(points: NDArray[np.float64], pixels: float) -> NDArray[np.bool_]:
    """Return a mask of the grid places within this number of pixels of one of the points."""
    found: NDArray[np.bool_] = np.sqrt(((GRID[:, None] - points) ** 2).sum(axis=2)).min(axis=1) <= pixels
    return found


def scenes(decisions: int, every: int) -> list[Scene]:
    """Play the trained agent. Compute the saliency whenever the ball and both paddles are visible."""
    checkpoint, config = subjects.read(PONG, None)
    subject = subjects.agent_subject(checkpoint, config, SHORT, GREEDY, filmed=True)
    game = subject.open_game()
    begin = playing.opening(SHORT, None)
    begin(game, 0, playing.draws(SHORT, 1, 0))
    shown: list[Frame] = []
    game.show(shown.append)
    found = []
    for decision in range(decisions):
        observation = torch.from_numpy(game.observation)
        where = {name: seen_at(shown[-1], color) for name, color in COLORS.items()}
        if decision % every == 0 and all(len(points) for points in where.values()):
            policy, value = (maps.flatten().numpy() for maps in saliency(subject.network, observation, ()))
            parts = {name: near(points, 5) for name, points in where.items()}
            parts["rest"] = FIELD_PLACES & ~near(np.concatenate(list(where.values())), 12)
            means = [{name: float(maps[at].mean()) for name, at in parts.items()} for maps in (policy, value)]
            found.append(Scene(*means))
        output, _ = subject.network.predict(observation[None], ())
        game.step(int(output.numbers.argmax()))
        del shown[:-1]
    game.close()
    return found


@pytest.mark.nightly
def test_a_trained_pong_agent_looks_at_ball_and_paddles() -> None:
    found = scenes(decisions=240, every=4)
    assert len(found) >= 20

    def times(of: str, *things: str) -> float:
        """Return the mean saliency of some things over all scenes, relative to the rest of the field."""
        by = [getattr(scene, of) for scene in found]
        return float(np.mean([each[thing] for each in by for thing in things]) / np.mean([each["rest"] for each in by]))

    # The policy depends most on the ball, then on the agent's paddle, then on the opponent's.
    assert times("policy", "ball") > 10
    assert times("policy", "own paddle") > 5
    assert times("policy", "other paddle") > 2
    # The value depends on the ball and on the opponent, who must miss it. It depends little on the agent's paddle.
    assert times("value", "ball") > 2
    assert times("value", *COLORS) > 1.3


# A recorded episode


def asked_of(track: Track) -> SaliencyParameters:
    """Return a request for the saliency of a recording."""
    head = track.head
    actions = track.columns["action"].tolist()
    return SaliencyParameters(
        protocol=head.protocol, seed=head.seed, episode=head.episode, actions=actions, score=head.score
    )


@pytest.mark.parametrize("kind", ["emulator", "sticky", "colors", "physics seen"])
def test_the_saliency_of_a_recording_comes_from_the_same_episode(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    made_checkpoint.write(tmp_path, KINDS[kind])
    track = recorded(tmp_path, tmp_path / "out", episode=1, seconds=0.3)
    done: list[int] = []
    reported: list[float] = []

    def listening(
        network: TrainedNetwork, observation: torch.Tensor, memory: Memory
    ) -> tuple[torch.Tensor, torch.Tensor]:
        reported.append(float(network.predict(observation[None], memory)[0].values[0]))
        return saliency(network, observation, memory)

    monkeypatch.setattr(retracing, "saliency", listening)
    found = salient(*subjects.read(tmp_path, None), asked_of(track), done.append)
    assert done == list(range(1, len(track) + 1))
    # The recording ran the network on several states at once, which rounds differently than a single state.
    assert reported == pytest.approx(track.columns["value"].tolist(), rel=1e-4, abs=1e-5), (
        "the network must see the recorded states"
    )
    assert found.columns["policy"].shape == (len(track), 17, 17)
    assert (found.columns["policy"].max(axis=(1, 2)) == 255).all()
    assert (found.columns["value_peak"] > 0).all()
    assert found.head.numbers_kind == track.head.numbers_kind
    file = tmp_path / "saliency.npz"
    file.write_bytes(contract.packed_saliency(found))
    again = contract.read_saliency(file)
    assert again.head == found.head
    assert all((again.columns[name] == found.columns[name]).all() for name in found.columns)


def test_actions_with_another_score_are_refused(tmp_path: Path) -> None:
    made_checkpoint.write(tmp_path, KINDS["emulator"])
    asked = asked_of(recorded(tmp_path, tmp_path / "out", seconds=0.1))
    run = subjects.read(tmp_path, None)
    with pytest.raises(OtherEpisodeError, match="not 7"):
        salient(*run, asked.model_copy(update={"score": 7.0}), lambda _: None)


@pytest.mark.nightly
def test_more_actions_than_the_episode_has_are_refused(tmp_path: Path) -> None:
    made_checkpoint.write(tmp_path, KINDS["physics seen"])
    track = recorded(tmp_path, tmp_path / "out", seconds=60)
    assert track.head.ended == "cut off"
    asked = asked_of(track)
    longer = asked.model_copy(update={"actions": [*asked.actions, asked.actions[0]]})
    with pytest.raises(OtherEpisodeError, match=f"ended here after {len(track)} of"):
        salient(*subjects.read(tmp_path, None), longer, lambda _: None)


def test_saliency_stops_on_request(tmp_path: Path) -> None:
    made_checkpoint.write(tmp_path, KINDS["emulator"])
    asked = asked_of(recorded(tmp_path, tmp_path / "out", seconds=0.1))
    with pytest.raises(StoppedError):
        salient(*subjects.read(tmp_path, None), asked, lambda _: None, should_stop=lambda: True)


def test_a_file_of_another_kind_is_explained(tmp_path: Path) -> None:
    file = tmp_path / "saliency.npz"
    for content in (b"no archive", b"PK\x03\x04 cut off"):
        file.write_bytes(content)
        with pytest.raises(SaliencyError, match="not a saliency file"):
            contract.read_saliency(file)


def test_a_diverged_network_is_an_error() -> None:
    columns = retracing._column("policy", np.full((1, 2, 2), np.nan, dtype=np.float32))
    assert np.isnan(columns["policy_peak"]).all()
    assert columns["policy"].tolist() == [[[0, 0], [0, 0]]]
