"""Tests of `arcadia review`, from the command line to the document."""

from pathlib import Path

import pytest

from arcadia_workers.contract.config import A3cConfig, GorilaConfig, PaacConfig, RunConfig
from arcadia_workers.contract.live import KeptActions
from arcadia_workers.contract.protocols.starts import HeldAction
from arcadia_workers.contract.review import ReviewDocument, ReviewOptions, Situation
from arcadia_workers.trainer.evaluation.request import RequestError
from arcadia_workers.trainer.futures.simulating import load
from arcadia_workers.trainer.games.emulator import AtariGame
from arcadia_workers.trainer.recording.replays import OtherGameError
from arcadia_workers.trainer.review import ReviewRequest, reviewing, table
from arcadia_workers.trainer.review.reviewing import keep, reviewed, watch
from tests.workers.trainer.evaluation import made_checkpoint
from tests.workers.trainer.programs import review as main

PONG = Path(__file__).parents[3] / "fixtures" / "pong-paac"
CATCH = PaacConfig(env="Arcadia/Catch-v0", gamma=0.9)
CASES: dict[str, RunConfig] = {
    "Catch": CATCH,
    "a maze with memory": A3cConfig(env="Arcadia/Labyrinth-v0", lstm_units=8),
    "action values": GorilaConfig(env="CartPole-v1"),
}


def request_of(directory: Path, **options: int) -> ReviewRequest:
    return ReviewRequest(directory, None, None, 3, 0, ReviewOptions(**{"horizon": 20, **options}))


def written(tmp_path: Path, config: RunConfig) -> Path:
    made_checkpoint.write(tmp_path / "run", config)
    return tmp_path / "run"


@pytest.mark.parametrize("case", CASES)
def test_decisions_of_an_episode_are_reviewed(case: str, tmp_path: Path) -> None:
    found = reviewing.review(request_of(written(tmp_path, CASES[case]), decisions=3))
    assert len(found.reviewed) == min(3, found.decisions)
    assert {each.finding for each in found.reviewed} <= {"no challenger", "not shown", "mistake"}
    assert all(each.screened == 16 for each in found.reviewed)
    assert "no mistake shown" in table(found)


def test_the_review_of_catch_finds_the_move_that_loses_the_ball(tmp_path: Path) -> None:
    directory = written(tmp_path, CATCH)
    player = load(directory, None, None)
    # Above the ball's column, only the last moves of an episode decide, and each has one right action.
    lost = None
    for seed in range(20):
        request = ReviewRequest(directory, None, None, seed, 0, ReviewOptions(every=1, horizon=20))
        document = reviewed(request, player)
        mistakes = [each for each in document.reviewed if each.finding == "mistake"]
        if document.score < 0 and mistakes:
            lost = mistakes
            break
    assert lost is not None
    grouped = [decision for situation in document.situations for decision in situation.decisions]
    assert sorted(grouped) == sorted(each.decision for each in lost)
    assert all(situation.shown in situation.decisions for situation in document.situations)
    assert all(each.loss and each.loss.mean and each.loss.mean > 0.02 for each in lost)
    assert all(each.taken != each.better for each in lost)


def test_a_stopped_review_continues_where_it_was(tmp_path: Path) -> None:
    directory = written(tmp_path, CATCH)
    player, request = load(directory, None, None), request_of(directory, every=1)
    whole = reviewed(request, player)
    known, steps = None, 0
    while known is None or any(each.finding in ("waiting", "testing") for each in known.reviewed):
        # Playing the episode asks too, so each attempt gets a few steps more.
        steps += 1
        asked = iter([False] * (3 * whole.decisions + steps))
        known = reviewed(request, player, known=known, should_stop=lambda asked=asked: next(asked, True))  # type: ignore[misc]
    assert known.reviewed == whole.reviewed
    assert known.simulations == whole.simulations


def test_progress_tells_what_is_known_so_far(tmp_path: Path) -> None:
    directory = written(tmp_path, CATCH)
    seen: list[tuple[ReviewDocument, int, int]] = []
    document = reviewed(
        request_of(directory, every=2),
        load(directory, None, None),
        advance=lambda known, done, total: seen.append((known.model_copy(deep=True), done, total)),
    )
    done = [each for _, each, _ in seen]
    assert done[-1] == len(document.reviewed)
    assert {total for _, _, total in seen} == {len(document.reviewed)}
    first = seen[0][0]
    assert sum(each.screened > 0 for each in first.reviewed) == 1


def test_kept_decisions_continue_as_the_episode_does(tmp_path: Path) -> None:
    directory = written(tmp_path, CATCH)
    player, request = load(directory, None, None), request_of(directory)
    episode = watch(player, request, [], lambda: False)
    kept = keep(player, request, episode, {0, 3}, lambda: False)
    assert set(kept) == {0, 3}
    [branch] = kept[3].game.branch([1])
    for action in episode.taken[3:]:
        branch.step(action)
    assert branch.over
    assert branch.score == episode.scores[-1]


def test_the_command_prints_the_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = written(tmp_path, CATCH)
    arguments = ["--run-dir", str(directory), "--decisions", "2", "--horizon", "20"]
    assert main([*arguments, "--json"]) == 0
    found = ReviewDocument.model_validate_json(capsys.readouterr().out)
    assert (found.env, found.seed, found.episode, len(found.reviewed)) == (CATCH.env, 1, 0, 2)
    assert main(arguments) == 0
    assert "not finished          0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--decisions", "0"], "--decisions 0: give a number from 1 to 2,000"),
        (["--every", "0"], "--every 0: give a number from 1 to 1,000,000"),
        (["--protocol", "none"], "there is no protocol 'none'"),
    ],
)
def test_wrong_options_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["--run-dir", str(written(tmp_path, CATCH)), *arguments]) == 2
    assert message in capsys.readouterr().err


def test_the_text_lists_situations(tmp_path: Path) -> None:
    found = reviewing.review(request_of(written(tmp_path, CATCH), decisions=1))
    groups = [Situation(decisions=[3, 7], shown=3), Situation(decisions=[5], shown=5)]
    text = table(found.model_copy(update={"situations": groups}))
    assert text.endswith("similar situations, the most costly first\n  decisions 3, 7\n  decisions 5")


def test_continuous_actions_are_refused(tmp_path: Path) -> None:
    directory = written(tmp_path, A3cConfig(env="Pendulum-v1"))
    with pytest.raises(RequestError, match="only discrete actions"):
        reviewing.review(request_of(directory))


# The keys of a person change in the middle of a decision. NOOP is 0, RIGHT 3, LEFT 4, and UPFIRE 10 is not in the set.
TRAIL = [(0, 61), (3, 5), (4, 3), (10, 9), (0, 24)]


def kept_game(trail: list[HeldAction]) -> KeptActions:
    game = AtariGame("ALE/Pong-v5", cap_frames=None, frames_per_step=1)
    game.begin(7)
    game.hold(trail)
    return KeptActions(env="ALE/Pong-v5", seed=7, actions=game.trail, played=game.frames, score=game.score)


def test_decisions_of_a_person_lead_to_the_same_screen() -> None:
    kept, game = kept_game(TRAIL), AtariGame("ALE/Pong-v5", cap_frames=None, frames_per_step=4)
    game.begin(kept.seed)
    decisions = game.decisions(kept.actions)
    for action in decisions:
        game.step(action)
    expected = AtariGame("ALE/Pong-v5", cap_frames=None, frames_per_step=4)
    expected.begin(kept.seed)
    expected.hold([*kept.actions, (0, game.frames - kept.played)])
    assert (game.screen_hash(), game.score) == (expected.screen_hash(), expected.score)
    names = [game.name_of(action) for action in decisions[15:20]]
    assert names == ["NOOP 1, RIGHT 3", "RIGHT 2, LEFT 2", "LEFT 1, UPFIRE 3", "UPFIRE 4", "UPFIRE 2, NOOP 2"]


def test_a_kept_game_is_reviewed_by_an_agent() -> None:
    request = ReviewRequest(PONG, None, None, 1, 0, ReviewOptions(every=18, horizon=20), kept_game(TRAIL))
    found = reviewing.review(request)
    assert (found.protocol, found.seed, found.decisions) == ("kept-game", 7, 26)
    held = next(each for each in found.reviewed if each.decision == 18)
    assert held.taken == "UPFIRE 4"
    assert held.finding != "waiting"
    assert "Pong" in table(found)


def test_a_kept_game_of_another_game_or_with_another_score_is_refused(tmp_path: Path) -> None:
    kept = kept_game(TRAIL)
    request = ReviewRequest(written(tmp_path, CATCH), None, None, 1, 0, ReviewOptions(), kept)
    with pytest.raises(RequestError, match="the kept game is of Pong"):
        reviewing.review(request)
    other = kept.model_copy(update={"score": 5.0})
    with pytest.raises(OtherGameError, match="not 5 in 102"):
        reviewing.review(ReviewRequest(PONG, None, None, 1, 0, ReviewOptions(), other))


def test_the_command_reviews_a_kept_game(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "game.json"
    file.write_text(kept_game(TRAIL).model_dump_json())
    command = ["--run-dir", str(PONG), "--kept-game", str(file), "--decisions", "1", "--horizon", "20", "--json"]
    assert main(command) == 0
    assert ReviewDocument.model_validate_json(capsys.readouterr().out).protocol == "kept-game"
    file.write_text('{"env": "ALE/Pong-v5"}')
    assert main(command) == 2
    assert "is no kept game: seed: Field required" in capsys.readouterr().err
