"""Differences between a protocol and the training. The agent may never have seen such episodes."""

import ale_py

from workers.contract.config import RunConfig
from workers.contract.protocols import EvaluationProtocol
from workers.trainer.games.emulator import AtariGame, game_of
from workers.trainer.games.openings import NO_ACTION

NO_NOOPS = (0, 0)
FIRE = ale_py.Action.FIRE.value
# After this time a game shows whether FIRE was pressed.
FRAMES_AFTER_FIRE = 30


def differences(config: RunConfig, protocol: EvaluationProtocol) -> tuple[str, ...]:
    """Return each difference as a sentence."""
    if protocol.opening == "plain":
        return ()
    found = []
    begins_alone = protocol.opening == "no-ops"
    if begins_alone and config.fire_at_reset and fire_opens(config.env):
        found.append(
            "In training FIRE was pressed in the first frame of every episode. In this protocol the agent has to "
            "press it, and may never have seen how a game continues without it. To train for it, turn off Fire at "
            "reset."
        )
    # With a maximum of 1 no-op, training always has 1 or always none.
    if begins_alone and config.max_noops <= 1 and protocol.noops != NO_NOOPS:
        found.append(
            "In training every episode began in the same frame. In this protocol it begins after a random number of "
            "frames without action. To train for it, set Maximum no-ops to 30."
        )
    if config.repeat_action_probability != protocol.repeat_action_probability:
        found.append(
            f"In training the emulator {_repeats(config.repeat_action_probability)}. In this protocol it "
            f"{_repeats(protocol.repeat_action_probability)}. To train for it, set Repeat-action probability to "
            f"{protocol.repeat_action_probability:g}."
        )
    if protocol.full_action_set and config.action_set != "full":
        found.append(
            "In training the agent chose among the actions that have an effect in its game, and it still does. In "
            "this protocol agents choose among all 18 actions. To train for it, set Action set to full."
        )
    if protocol.full_action_set and config.life_loss_ends_episode:
        found.append(
            "In training a lost life ended the episode. In this protocol agents get no signal of lost lives. To train "
            "for it, turn off Life loss ends episode."
        )
    return tuple(found)


def _repeats(probability: float) -> str:
    if not probability:
        return "never repeats an action by chance"
    return f"repeats the previous frame's action with a probability of {probability:g}"


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
