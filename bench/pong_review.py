"""Review games of Pong in which some actions are random: `python -m bench.pong_review --run-dir DIR --out DIR`.

It writes what the review says as JSON, for `bench/scripts/confirm_mistakes.py`, which simulates again without code of
Arcadia. Its decisions are the mistakes, and the random actions that were reviewed without a mistake.
"""

import argparse
import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from arcadia_workers.contract.review import ReviewDocument, ReviewedDecision, ReviewOptions
from arcadia_workers.trainer.futures.simulating import Player, load, moments
from arcadia_workers.trainer.games.emulator import AtariGame
from arcadia_workers.trainer.games.playing import draws
from arcadia_workers.trainer.methods.trainer import Action
from arcadia_workers.trainer.review import ReviewRequest
from arcadia_workers.trainer.review.reviewing import reviewed

INJECTED = 0.03
DECISIONS = 120


def play(player: Player, seed: int) -> tuple[list[Action], set[int]]:
    """Play an episode with random actions. Return all actions, and the decisions whose action is another than its own.

    The episode takes the actions of a list, which grows while it is played.
    """
    random = np.random.default_rng([seed, 3])
    taken: list[Action] = []
    injected: set[int] = set()
    with closing(moments(player.subject, player.protocol, seed, 0, actions=taken)) as episode:
        for moment in episode:
            if moment.decision == len(taken):
                taken.append(moment.action)
            if random.random() < INJECTED:
                injected.add(len(taken))
                taken.append(int(random.integers(len(moment.game.action_names))))
    return taken, {decision for decision in injected if decision < len(taken)}


def to_confirm(document: ReviewDocument, names: Sequence[str], injected: set[int]) -> list[dict[str, Any]]:
    """Return the mistakes, and the random actions without one whose screen had a challenger."""
    return [
        {
            "decision": each.decision,
            "kind": f"{_kind(each)}, {'random' if each.decision in injected else 'own'}",
            "taken": names.index(each.taken),
            "better": names.index(each.better),
        }
        for each in document.reviewed
        if each.better is not None and (each.finding == "mistake" or each.decision in injected)
    ]


def _kind(each: ReviewedDecision) -> str:
    return "mistake" if each.finding == "mistake" else "not shown"


def main() -> None:
    """Review each game, and write what is to be confirmed."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.pong_review", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run-dir", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--decisions", type=int, default=DECISIONS)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    player = load(options.run_dir, None, None)
    game = player.subject.open_game()
    if not isinstance(game, AtariGame):
        parser.error("--run-dir must be a run of an Atari game")
    for seed in options.seeds:
        actions, injected = play(player, seed)
        request = ReviewRequest(options.run_dir, None, None, seed, 0, ReviewOptions(decisions=options.decisions))
        document = reviewed(request, player, actions=actions)
        drawn = draws(player.protocol, seed, 0)
        written = {
            "seed": drawn.emulator_seed,
            "noops": drawn.noops,
            "actions": [int(action) for action in actions],
            "injected": sorted(injected),
            "decisions": to_confirm(document, game.action_names, injected),
        }
        (options.out / f"episode-{seed}.json").write_text(json.dumps(written))
        (options.out / f"review-{seed}.json").write_text(document.model_dump_json())
        shown = [each for each in document.reviewed if each.finding == "mistake"]
        print(
            f"seed {seed}: {len(actions)} decisions, {len(injected)} random, {len(document.reviewed)} reviewed, "
            f"{len(shown)} mistakes of which {sum(each.decision in injected for each in shown)} random, "
            f"{document.simulations:,} futures, {document.seconds:.0f} s, score {document.score:g}",
            flush=True,
        )


if __name__ == "__main__":
    main()
