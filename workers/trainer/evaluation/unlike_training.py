"""Differences between a protocol and the training. The agent may never have seen such episodes."""

import ale_py

from workers.contract.config import RunConfig
from workers.contract.protocols import EvaluationProtocol
from workers.trainer.games.emulator import AtariGame, game_of
from workers.trainer.games.openings import NO_ACTION

FIRE = ale_py.Action.FIRE.value
# After this time a game shows whether FIRE was pressed.
FRAMES_AFTER_FIRE = 30


def differences(config: RunConfig, protocol: EvaluationProtocol) -> tuple[str, ...]:
    """Return each difference as a sentence."""
    if protocol.opening == "plain":
        return ()
    found = []
    after_noops = protocol.opening == "no-ops"
    if after_noops and config.fire_at_reset and fire_opens(config.env):
        found.append(
            "In training FIRE was pressed in the first frame of every episode; by this protocol the agent has to press "
            "it, and may never have seen how the game then continues. To train for it, turn Fire at reset off."
        )
    # With a maximum of 1 no-op, training always has 1 or always none.
    if after_noops and config.max_noops <= 1:
        found.append(
            "In training every episode began in the same frame; by this protocol it begins after a random number of "
            "frames without action. To train for it, set No-op starts to 30."
        )
    if config.repeat_action_probability:
        found.append(
            "In training the emulator repeated the action of the frame before with a probability of "
            f"{config.repeat_action_probability:g}; by this protocol it never does. To train for it, set "
            "Repeat-action probability to 0."
        )
    return tuple(found)


def fire_opens(env: str) -> bool:
    """Return True if training presses FIRE in the first frame of this game and it changes the game."""
    _, minimal = game_of(env)
    if ale_py.Action.FIRE not in minimal:
        return False
    game = AtariGame(env, cap_frames=None, frames_per_step=1, action_set="full")
    screens = []
    for first in (FIRE, NO_ACTION):
        game.begin(seed=0)
        game.hold([(first, 1), (NO_ACTION, FRAMES_AFTER_FIRE)])
        screens.append(game.screen_hash())
    game.close()
    return screens[0] != screens[1]
