"""Tests for games in which a person continues a replay from one of its decisions."""

import time
from contextlib import closing
from pathlib import Path

import pytest

from arcadia_workers.contract.config import A3cConfig, PaacConfig, RunConfig
from arcadia_workers.contract.jobs import FilmParameters
from arcadia_workers.contract.live import ReplayOrigin
from arcadia_workers.trainer.evaluation.report import KeptPlay
from arcadia_workers.trainer.futures.simulating import moments
from arcadia_workers.trainer.games import subjects
from arcadia_workers.trainer.games.games import PlayableGame
from arcadia_workers.trainer.live import live_agent
from arcadia_workers.trainer.live.live_agent import LiveAgent, Staging
from arcadia_workers.trainer.live.show import Show
from arcadia_workers.trainer.recording import replays
from arcadia_workers.trainer.recording.retracing import OtherEpisodeError
from tests.workers.trainer.evaluation import made_checkpoint
from tests.workers.trainer.live.fake_line import FakeLine, at, keys
from tests.workers.trainer.recording.test_recording import protocol_of

DECISION, LATER = 4, 7
CASES: dict[str, RunConfig] = {
    "Pong with memory": A3cConfig(env="ALE/Pong-v5", lstm_units=8),
    "CartPole": PaacConfig(env="CartPole-v1"),
    "Labyrinth with memory": A3cConfig(env="Arcadia/Labyrinth-v0", lstm_units=8),
}


@pytest.fixture(autouse=True)
def _headless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


class Recorded:
    """The first decisions of an episode, in the form of a replay."""

    def __init__(self, directory: Path, config: RunConfig) -> None:
        subject = made_checkpoint.subject(directory, config, protocol_of(config))
        self.actions: list[int] = []
        self.values: list[float] = []
        self.states: list[tuple[object, ...]] = []
        self.scores: list[float] = []
        self.directory, self.config = directory, config
        with closing(moments(subject, protocol_of(config), 3, 1)) as episode:
            for moment in episode:
                self.actions.append(int(moment.action))
                self.values.append(float(moment.output.values[0]))
                self.states.append(state(moment.game))
                self.scores.append(moment.game.score)
                if moment.decision == LATER:
                    break

    def staging(self, decision: int = DECISION, score: float | None = None) -> Staging:
        """Return the setup of a game that continues the replay."""
        origin = ReplayOrigin(
            replay_id=1,
            decision=decision,
            protocol=protocol_of(self.config).name,
            seed=3,
            episode=1,
            actions=self.actions[:decision],
            score=self.scores[decision] if score is None else score,
        )
        return live_agent.of_replay(*subjects.read(self.directory, None), origin)


def state(game: PlayableGame) -> tuple[object, ...]:
    """Return the parts of a game's state that must be equal."""
    return game.observation.tobytes(), game.score, game.lives, game.frames, game.over


def agent_of(staging: Staging) -> LiveAgent:
    """Return the agent of a game setup."""
    assert staging.agent is not None
    return staging.agent


@pytest.mark.parametrize("case", CASES)
def test_a_game_and_its_restart_begin_in_the_recorded_state(case: str, tmp_path: Path) -> None:
    recorded = Recorded(tmp_path, CASES[case])
    staging = recorded.staging()
    for number in (1, 2):
        staging.open(number)
        assert state(staging.game) == recorded.states[DECISION]
        value = agent_of(staging).watch(staging.game)["value"]
        assert value == pytest.approx(recorded.values[DECISION], abs=2e-4)
        staging.game.step(recorded.actions[DECISION])


@pytest.mark.parametrize("case", CASES)
def test_an_agent_that_watched_a_person_makes_the_recorded_decisions(case: str, tmp_path: Path) -> None:
    recorded = Recorded(tmp_path, CASES[case])
    staging = recorded.staging()
    staging.open(1)
    for action in recorded.actions[DECISION:LATER]:
        agent_of(staging).watch(staging.game)
        staging.game.play(lambda action=action: staging.game.action_names[action])  # type: ignore[misc]
    assert state(staging.game) == recorded.states[LATER]
    assert agent_of(staging).decide(staging.game)[1]["value"] == pytest.approx(recorded.values[LATER], abs=2e-4)


def test_a_game_waits_for_a_key_or_permission_for_the_agent_to_play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = FakeLine(60, at({20: ["hand back"]}))
    waits: list[int] = []

    def wait(_: float) -> None:
        waits.append(len(line.heads))
        assert line.scenes[-1].waiting
        line.say({1: "take over", 2: keys("up"), 3: "let agent play"}[len(waits)])

    monkeypatch.setattr(time, "sleep", wait)
    recorded = Recorded(tmp_path, CASES["Pong with memory"])
    Show(line, recorded.staging(), tmp_path).play(lambda: False)  # type: ignore[arg-type]
    # A page that disconnects hands back control. The current decision is completed first.
    assert waits == [1, 1, 21]
    assert [(scene.hands, scene.waiting) for scene in line.scenes] == [
        (None, True),
        ("v1", True),
        ("v1", False),
        (None, True),
        (None, False),
    ]
    origin = line.scenes[0].origin
    assert origin is not None
    assert (origin.decision, origin.frames) == (DECISION, line.heads[0].frames)


def test_a_waiting_game_is_shown_again_on_a_new_connection(tmp_path: Path) -> None:
    line = FakeLine(2, lambda _: [])
    line.heard.put(None)
    Show(line, Recorded(tmp_path, CASES["CartPole"]).staging(), tmp_path).play(lambda: False)  # type: ignore[arg-type]
    assert [head.frames for head in line.heads] == [DECISION, DECISION]
    assert line.pictures[0] == line.pictures[1]


@pytest.mark.parametrize("case", ["Pong with memory", "CartPole"])
def test_a_kept_game_lists_the_agents_actions_and_is_recorded_from_the_decision(case: str, tmp_path: Path) -> None:
    orders: dict[int, list[object]] = {1: ["take over", keys("right")], 9: ["let agent play"], 13: ["pause", "keep"]}
    line = FakeLine(14, at(orders))
    kept: list[KeptPlay] = []
    recorded = Recorded(tmp_path, CASES[case])

    def end() -> bool:
        line.over = "enough was seen" if kept else None
        return False

    Show(line, recorded.staging(), tmp_path, kept.append).play(end)  # type: ignore[arg-type]
    (game,) = kept
    assert game.continued is not None
    assert game.continued.frames == recorded.states[DECISION][3]
    assert game.continued.score == game.score - recorded.scores[DECISION]
    assert 0 < game.continued.agent_frames < game.played - game.continued.frames
    assert game.screens == []
    which = FilmParameters(
        env=recorded.config.env,
        seed=game.seed,
        actions=[*game.actions],
        played=game.played,
        score=game.score,
        skipped=game.continued.frames,
    )
    shown: list[int] = []
    replays.film(which, tmp_path, shown.append, lambda: False)
    assert (shown[0], shown[-1]) == (game.continued.frames, game.played)


def test_an_ended_game_can_be_kept_and_restarted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = FakeLine(400, at({1: ["take over", keys("left")]}))
    kept: list[KeptPlay] = []
    ends: list[int] = []

    def wait(_: float) -> None:
        if line.scenes[-1].over:
            ends.append(line.heads[-1].frames)
            line.say("keep" if not kept else "new game")
        else:
            line.over = "enough was seen"

    monkeypatch.setattr(time, "sleep", wait)
    recorded = Recorded(tmp_path, CASES["CartPole"])
    Show(line, recorded.staging(), tmp_path, kept.append).play(lambda: False)  # type: ignore[arg-type]
    assert [game.ended for game in kept] == ["over"]
    assert (line.heads[-1].game, line.heads[-1].frames) == (2, DECISION)
    assert line.scenes[-1].waiting


def test_another_score_before_the_decision_is_an_error(tmp_path: Path) -> None:
    recorded = Recorded(tmp_path, CASES["CartPole"])
    with pytest.raises(OtherEpisodeError, match="led to 4 points here before the decision, not 6"):
        recorded.staging(score=6)
