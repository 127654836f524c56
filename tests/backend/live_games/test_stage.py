"""The stage of a live game: its viewers, its player, their messages, and its end."""

import json
from contextlib import ExitStack

import pytest

from arcadia_backend.live_games.stage import (
    BEAT_SECONDS,
    MAX_QUEUED_MESSAGES,
    MAX_UNSEEN_PICTURES,
    ORDERS_PER_SECOND,
    SILENT_SECONDS,
    EndError,
    MessageKind,
    Outbox,
    Stage,
    Viewer,
)
from arcadia_workers.contract.live import ALONE_SECONDS, AWAY, LARGEST_ORDER, LARGEST_PICTURE, SEEN_EVERY

SCENE = '{"kind":"scene"}'


class Clock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def waiting(outbox: Outbox) -> list[str | bytes]:
    """Take the queued messages of a connection."""
    return list(iter(outbox.ready, None))


def pictures(outbox: Outbox) -> list[bytes]:
    """Take the queued pictures."""
    return [message for message in waiting(outbox) if isinstance(message, bytes)]


def orders(outbox: Outbox) -> set[str]:
    """Take the queued orders for the player."""
    return {json.loads(message)["order"]["order"] for message in waiting(outbox)}


def audiences(outbox: Outbox) -> list[int]:
    """Return the viewer counts that a page receives."""
    reported = [json.loads(message) for message in waiting(outbox) if isinstance(message, str)]
    return [each["viewers"] for each in reported if each["kind"] == "audience"]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def stage(clock: Clock) -> Stage:
    return Stage(clock)


def test_every_viewer_sees_the_same(stage: Stage) -> None:
    with stage.watched() as early, stage.played(), stage.watched() as other:
        stage.take(SCENE)
        stage.take(b"first")
        assert [waiting(each)[-2:] for each in (early, other)] == [[SCENE, b"first"]] * 2


def test_late_viewers_immediately_see_the_current_picture(stage: Stage) -> None:
    with stage.played():
        stage.take(SCENE)
        stage.take(b"paused here")
        with stage.watched() as late:
            assert {SCENE, b"paused here"} <= set(waiting(late))


def test_a_slow_viewer_misses_pictures_and_delays_nobody(stage: Stage) -> None:
    with stage.played(), stage.watched() as slow, stage.watched() as quick:
        seen = []
        for number in range(100):
            stage.take(str(number).encode())
            seen += pictures(quick)
            if number % SEEN_EVERY == SEEN_EVERY - 1:
                assert quick.receive('{"order":"seen"}') is None
        assert seen == [str(number).encode() for number in range(100)]
        assert pictures(slow) == [b"99"]


def test_a_page_that_does_not_confirm_pictures_gets_no_more(stage: Stage) -> None:
    with stage.played(), stage.watched() as silent:
        sent = []
        for number in range(2 * MAX_UNSEEN_PICTURES):
            stage.take(str(number).encode())
            sent += pictures(silent)
        assert len(sent) == MAX_UNSEEN_PICTURES
        silent.receive('{"order":"seen"}')
        assert pictures(silent) == [str(2 * MAX_UNSEEN_PICTURES - 1).encode()]


def test_old_pictures_are_dropped_when_the_next_process_connects(stage: Stage) -> None:
    with stage.watched() as slow:
        with stage.played():
            stage.take(SCENE)
            stage.take(b"the last of the first")
        with stage.played():
            stage.take(SCENE)
            assert waiting(slow)[-2:] == [AWAY, SCENE]


def test_a_stage_knows_its_viewers_at_all_processes(stage: Stage) -> None:
    with stage.watched():
        assert stage.is_watched
    assert not stage.is_watched
    stage.receive("another process", "viewers", b"2")
    assert stage.is_watched
    stage.receive("another process", "viewers", b"0")
    assert not stage.is_watched


def test_a_game_is_abandoned_some_time_after_its_last_viewer_at_any_process(stage: Stage, clock: Clock) -> None:
    clock.now += ALONE_SECONDS - 0.1
    assert not stage.is_abandoned
    with stage.watched():
        clock.now += 100
        assert not stage.is_abandoned
    stage.receive("another process", "viewers", b"1")
    stage.beat()
    clock.now += 3
    stage.receive("another process", "viewers", b"0")
    clock.now += ALONE_SECONDS - 3.1
    assert not stage.is_abandoned
    clock.now += 3.1
    assert stage.is_abandoned


def test_a_connection_that_receives_nothing_is_closed(stage: Stage) -> None:
    with stage.played(), stage.watched() as stuck:
        for _ in range(2 * MAX_QUEUED_MESSAGES):
            stage.take(SCENE)
        with pytest.raises(EndError, match="too slow"):
            waiting(stuck)


@pytest.mark.parametrize(
    ("sent", "code", "why"),
    [
        ("garbage", 4422, "not an order"),
        ('{"order":"explode"}', 4422, "not an order"),
        ('{"order":"pause","and":1}', 4422, "not an order"),
        ('{"order":"temperature","value":7}', 4422, "less than or equal to 1"),
        ('{"order":"temperature","value":NaN}', 4422, "not an order"),
        ("[" * LARGEST_ORDER, 4422, "not an order"),
        ('{"order":"keys"}', 4422, "Field required"),
        ('{"order":"keys","held":["up","jump"]}', 4422, "Input should be 'up'"),
        ('{"order":"keys","held":"up"}', 4422, "valid array"),
        (f'{{"order":"keys","held":{json.dumps(["up"] * 6)}}}', 4422, "at most 5"),
        ('{"order":"take over","viewer":"another"}', 4422, "not an order"),
        (b"\0\1", 4422, "send text"),
        ("x" * (LARGEST_ORDER + 1), 1009, "too large"),
        (b"x" * 5_000_000, 1009, "too large"),
    ],
)
def test_a_page_that_sends_an_invalid_order_is_closed_with_the_reason(
    stage: Stage, sent: str | bytes, code: int, why: str
) -> None:
    with stage.watched() as viewer, pytest.raises(EndError, match=why) as ended:
        viewer.receive(sent)
    assert ended.value.code == code
    # The longest reason that a WebSocket can send.
    assert len(ended.value.reason.encode()) <= 123


def test_a_page_that_floods_the_stage_is_closed(stage: Stage, clock: Clock) -> None:
    with stage.watched() as viewer:
        for _ in range(ORDERS_PER_SECOND):
            viewer.receive('{"order":"ping"}')
        clock.now += 1
        viewer.receive('{"order":"ping"}')
        for _ in range(ORDERS_PER_SECOND - 1):
            viewer.receive('{"order":"ping"}')
        with pytest.raises(EndError, match="Too many orders"):
            viewer.receive('{"order":"ping"}')


def test_orders_reach_the_player_with_the_viewers_name(stage: Stage) -> None:
    with stage.played() as player, stage.watched() as viewer:
        ordered = viewer.receive('{"order":"temperature","value":0.5,"id":"7"}')
        assert ordered is not None
        stage.order(ordered)
        (reported,) = waiting(player)
        order = {"id": "7", "order": "temperature", "value": 0.5}
        assert json.loads(reported) == {"kind": "ordered", "viewer": viewer.name, "order": order}


def test_a_viewer_who_leaves_hands_back_the_controls(stage: Stage) -> None:
    with stage.played() as player:
        with stage.watched() as viewer:
            pass
        (reported,) = waiting(player)
        order = {"id": "", "order": "hand back"}
        assert json.loads(reported) == {"kind": "ordered", "viewer": viewer.name, "order": order}


def test_the_player_may_send_only_pictures_within_the_size_limit(stage: Stage) -> None:
    with stage.played():
        for message in (b"x" * (LARGEST_PICTURE + 1), b"", None):
            with pytest.raises(EndError):
                stage.take(message)


def test_all_viewers_receive_the_viewer_count(stage: Stage) -> None:
    with stage.watched() as one:
        with stage.watched() as two:
            assert audiences(two) == [2]
        assert audiences(one) == [1, 2, 1]


def test_the_game_ends_some_time_after_the_last_viewer_leaves(stage: Stage, clock: Clock) -> None:
    with stage.played() as player:
        with stage.watched():
            clock.now += 100
            stage.beat()
        clock.now += ALONE_SECONDS - 0.1
        stage.beat()
        assert orders(player) <= {"hand back"}
        clock.now += 0.1
        stage.beat()
        with pytest.raises(EndError, match="No one has watched for 10 seconds") as ended:
            waiting(player)
        assert ended.value.code == 4000


def test_a_viewer_who_returns_in_time_keeps_the_game(stage: Stage, clock: Clock) -> None:
    with stage.played() as player:
        with stage.watched():
            pass
        clock.now += ALONE_SECONDS - 0.1
        with stage.watched():
            clock.now += 0.2
            stage.beat()
        clock.now += ALONE_SECONDS - 0.1
        stage.beat()
        assert orders(player) <= {"hand back"}


def test_viewers_learn_that_the_player_left_and_see_the_next_one(stage: Stage) -> None:
    with stage.watched() as viewer:
        with stage.played():
            stage.take(SCENE)
            stage.take(b"last")
            assert waiting(viewer)[-2:] == [SCENE, b"last"]
        assert waiting(viewer) == [AWAY]
        with stage.watched() as late:
            assert AWAY in waiting(late)
            assert pictures(late) == []
        with stage.played():
            stage.take(b"again")
            assert pictures(viewer) == [b"again"]


def test_the_player_of_an_earlier_attempt_is_disconnected(stage: Stage) -> None:
    with ExitStack() as stack:
        first = stack.enter_context(stage.played())
        with stage.played(), stage.watched() as viewer:
            with pytest.raises(EndError, match="A newer attempt"):
                waiting(first)
            stack.close()
            stage.take(b"of the second")
            assert pictures(viewer) == [b"of the second"]


class Between:
    """Two stages of one game in two processes, and the channel between them."""

    def __init__(self, clock: Clock) -> None:
        self.said: list[MessageKind] = []
        self.cut = False
        self.here = Stage(clock, lambda said, what: self._carry(self.there, "here", said, what))
        self.there = Stage(clock, lambda said, what: self._carry(self.here, "there", said, what))

    def _carry(self, to: Stage, origin: str, said: MessageKind, what: bytes) -> None:
        if not self.cut:
            self.said.append(said)
            to.receive(origin, said, what)


def test_a_viewer_in_another_process_sees_the_game_and_can_send_orders(clock: Clock) -> None:
    between = Between(clock)
    with between.here.played() as player:
        between.here.take(SCENE)
        between.here.take(b"nobody there yet")
        assert "picture" not in between.said
        with between.here.watched() as near, between.there.watched() as far:
            assert {SCENE, b"nobody there yet"} <= set(waiting(far))
            between.here.take(b"next")
            assert pictures(far) == [b"next"]
            between.here.beat()
            assert audiences(near)[-1] == 2
            order = far.receive('{"order":"pause"}')
            assert order is not None
            between.there.order(order)
            assert [json.loads(reported)["order"]["order"] for reported in waiting(player)] == ["pause"]
            assert near.name.partition("-")[0] != far.name.partition("-")[0]


def test_a_viewer_in_another_process_keeps_the_game_while_that_process_lives(clock: Clock) -> None:
    between = Between(clock)
    with between.here.played() as player, between.there.watched():
        for _ in range(20):
            clock.now += BEAT_SECONDS
            between.there.beat()
            between.here.beat()
        assert orders(player) <= {"hand back"}
        between.cut = True
        clock.now += SILENT_SECONDS + 0.1
        between.here.beat()
        clock.now += ALONE_SECONDS
        between.here.beat()
        with pytest.raises(EndError, match="No one has watched"):
            waiting(player)


def test_a_viewer_in_another_process_is_notified_when_the_player_leaves(clock: Clock) -> None:
    between = Between(clock)
    with between.there.watched() as far:
        with between.here.played():
            between.here.take(SCENE)
            waiting(far)
        assert waiting(far) == [AWAY]
        with between.here.played():
            between.here.take(SCENE)
            waiting(far)
            between.cut = True
            clock.now += SILENT_SECONDS + 0.1
            between.there.beat()
            assert AWAY in waiting(far)


def test_a_stage_is_empty_after_everybody_leaves(stage: Stage) -> None:
    assert stage.is_empty
    with stage.watched() as viewer:
        assert isinstance(viewer, Viewer)
        assert not stage.is_empty
    assert stage.is_empty
