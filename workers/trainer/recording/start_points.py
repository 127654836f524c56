"""Start points at decisions of a recorded episode, which is repeated from its actions."""

from collections.abc import Callable

from workers.contract.jobs import StartPointsParameters
from workers.contract.protocols import PROTOCOLS
from workers.contract.protocols.starts import StartSetFile, starts_at
from workers.trainer.evaluation.report import SavedPoints
from workers.trainer.evaluation.starts import StartsError
from workers.trainer.games import openings
from workers.trainer.games.subjects import opener
from workers.trainer.recording.recording import StoppedError
from workers.trainer.recording.repeating import OtherEpisodeError, begin, check_score


def points(
    which: StartPointsParameters, advance: Callable[[int], None], should_stop: Callable[[], bool] = lambda: False
) -> SavedPoints:
    """Return the start points of a recorded episode. `advance` receives the number of finished points.

    The agent is not needed, since its actions are known. So the checkpoint may have been deleted.
    """
    protocol = PROTOCOLS[which.protocol]
    game = openings.emulated(opener(which.env, protocol, which.frames_per_action, which.action_set)())
    begin(game, protocol, which.seed, which.episode)
    screens: list[tuple[int, str]] = []
    taken = 0
    for decision in which.decisions:
        for action in which.actions[taken:decision]:
            if should_stop():
                raise StoppedError("saving the start points was stopped")
            game.step(action)
        taken = decision
        if game.over:
            raise OtherEpisodeError(f"the episode ended here before decision {decision + 1} of the replay")
        if not game.frames:
            raise StartsError("the episode begins with its first decision: choose a later one as a start point")
        screens.append((game.frames, game.screen_hash()))
        advance(len(screens))
    check_score(game, which.score, when=" before the last start point")
    found = SavedPoints(game.seed, game.trail, game.emulator, screens)
    _check_size(which, found)
    return found


def _check_size(which: StartPointsParameters, found: SavedPoints) -> None:
    starts = starts_at(found.seed, found.actions, found.screens)
    stored = StartSetFile(env=which.env, player="agent", source=which.source, emulator=found.emulator, starts=starts)
    if (size := len(stored.content)) > which.max_bytes:
        raise StartsError(
            f"the start points take {size:,} bytes, more than the limit of {which.max_bytes:,} "
            "(ARCADIA_MAX_BODY_BYTES): save fewer points, or an earlier decision"
        )
