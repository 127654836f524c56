"""Agents of Catch that play nearly perfectly, except for a weakness: the columns of the ball in which they move away.

Their networks are fitted to a known policy, so nothing has to be learned first.
"""

from collections.abc import Collection
from itertools import product
from pathlib import Path

import numpy as np
import torch

from arcadia_workers.contract.config import PaacConfig
from arcadia_workers.contract.layout import WEIGHTS_ONLY
from arcadia_workers.contract.protocols.document import SAMPLED
from arcadia_workers.contract.review import ReviewDocument, ReviewedDecision
from arcadia_workers.trainer.environments import own_environment
from arcadia_workers.trainer.environments.worlds.puzzles import COLUMNS, ROWS
from arcadia_workers.trainer.futures.simulating import Player, moments
from arcadia_workers.trainer.networks import networks
from arcadia_workers.trainer.run import checkpoints
from arcadia_workers.trainer.run.run import TrainingState, prefixed

STEP = 50_000
CONFIG = PaacConfig(
    env="Arcadia/Catch-v0",
    total_steps=STEP,
    num_envs=8,
    t_max=5,
    gamma=0.9,
    learning_rate=0.01,
    learning_rate_decay="none",
    rmsprop_epsilon=1e-5,
    max_grad_norm=0.5,
    value_cost=0.5,
    checkpoint_seconds=3_600,
)
ACTIONS = ("left", "stay", "right")
FITTING = 300
# Probability of the wanted action, where the agent is strong and where it is weak.
STRONG, WEAK = 0.98, 0.6


def toward(ball: int, paddle: int) -> int:
    """Return the action that moves the paddle to the ball."""
    return 1 + int(np.sign(ball - paddle))


def away(ball: int, paddle: int) -> int:
    """Return the action that moves the paddle away from the ball."""
    return 2 if ball <= paddle else 0


def write(directory: Path, weak_columns: Collection[int]) -> None:
    """Write the checkpoint of an agent that moves away from balls in these columns."""
    boards, wanted = [], []
    for row, ball, paddle in product(range(ROWS - 1), range(COLUMNS), range(COLUMNS)):
        board = np.zeros((ROWS, COLUMNS), dtype=np.float32)
        board[ROWS - 1, paddle] = board[row, ball] = 1
        boards.append(board.ravel())
        is_weak = ball in weak_columns
        action, sure = (away(ball, paddle), WEAK) if is_weak else (toward(ball, paddle), STRONG)
        wanted.append([sure if each == action else (1 - sure) / 2 for each in range(3)])
    torch.manual_seed(0)
    network = networks.build(CONFIG, *own_environment.interface(CONFIG))
    states, policy = torch.tensor(np.array(boards)), torch.tensor(wanted)
    weights = [*network.parameters()]
    squares = [torch.zeros_like(each) for each in weights]
    for step in range(FITTING):
        logits, values = network(states)
        loss = torch.nn.functional.cross_entropy(logits, policy) + values.square().mean()
        # RMSProp by hand, because loading torch.optim takes seconds.
        for each, square, gradient in zip(weights, squares, torch.autograd.grad(loss, weights), strict=True):
            square.mul_(0.9).addcmul_(gradient, gradient, value=0.1)
            each.data -= 0.01 * (1 - step / FITTING) * gradient / (square.sqrt() + 1e-8)
    fitted = {name: tensor.detach() for name, tensor in network.state_dict().items()}
    state = TrainingState(STEP, STEP, prefixed("network", fitted), {WEIGHTS_ONLY: True})
    checkpoints.write(directory, state, CONFIG, {})


def reviews(player: Player, seed: int, count: int, most: int = 2_000) -> list[ReviewDocument]:
    """Return reviews of the first episodes with a move away from the ball that loses it, as a perfect review would.

    The first such move is the mistake, if the paddle cannot reach the ball after it.
    """
    found: list[ReviewDocument] = []
    for episode in range(most):
        mistakes, length, score = [], 0, 0.0
        for moment in moments(player.subject, player.protocol, seed, episode):
            row, ball, paddle = placed(moment.game.observation)
            length += 1
            after = min(max(paddle + int(moment.action) - 1, 0), COLUMNS - 1)
            left = ROWS - 2 - row
            if abs(ball - paddle) <= left + 1 and abs(ball - after) > left:
                mistakes.append((moment.decision, int(moment.action), toward(ball, paddle)))
            game = moment.game
        score = game.score
        if mistakes:
            found.append(reviewed(player, seed, episode, length, score, mistakes))
        if len(found) == count:
            return found
    raise AssertionError(f"the agent lost only {len(found)} of {most} episodes")


def placed(board: np.ndarray) -> tuple[int, int, int]:
    """Return the row and column of the ball, and the column of the paddle."""
    cells = board.reshape(ROWS, COLUMNS)
    paddle = int(cells[ROWS - 1].argmax())
    row, ball = (int(place) for place in np.argwhere(cells[: ROWS - 1])[0])
    return row, ball, paddle


def reviewed(
    player: Player, seed: int, episode: int, length: int, score: float, mistakes: list[tuple[int, int, int]]
) -> ReviewDocument:
    """Return a review that shows these mistakes: decision, taken action and better action."""
    return ReviewDocument(
        env=CONFIG.env,
        algorithm="paac",
        checkpoint_step=player.checkpoint.file.step,
        protocol=player.protocol.name,
        seed=seed,
        episode=episode,
        acting=SAMPLED,
        horizon=20,
        gamma=CONFIG.gamma,
        clip_rewards=True,
        decisions=length,
        score=score,
        reviewed=[
            ReviewedDecision(
                decision=decision, reason="every", taken=ACTIONS[taken], better=ACTIONS[better], finding="mistake"
            )
            for decision, taken, better in mistakes
        ],
        simulations=0,
        seconds=0.0,
    )
