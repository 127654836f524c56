"""Tests for the timing of a live game's pictures."""

from arcadia_workers.trainer.live.connection import Pace


def test_pictures_come_in_real_time_and_a_late_game_does_not_catch_up() -> None:
    now, waits = [0.0], []

    def sleep(seconds: float) -> None:
        waits.append(round(seconds, 3))
        now[0] += seconds

    pace = Pace(50, clock=lambda: now[0], sleep=sleep)
    for spent in (0, 0.005, 0.03, 0, 5, 0, 0, 0, 0, 0, 0, 0):
        now[0] += spent
        pace.wait()
    assert waits[:3] == [0.02, 0.015, 0.01]
    # After the delay of five seconds, the game is at most 0.1 s behind, which is five pictures.
    assert len(waits) == 12 - 1 - 1 - 5
