"""Labels of runs in a comparison."""

from typing import Any

from arcadia_backend.comparisons.groups import group_names_over_games, run_labels
from arcadia_backend.database.tables import Run

SAME: dict[str, Any] = {"algorithm": "paac", "env": "CartPole-v1", "seed": 1, "learning_rate": 0.01, "num_envs": 4}


def run(number: int, name: str = "PAAC on CartPole", **config: Any) -> Run:
    """Return a run with this configuration."""
    config = SAME | config
    return Run(id=number, name=name, algorithm=config["algorithm"], env=config["env"], config=config)


def test_runs_with_automatic_names_are_labeled_by_differing_fields() -> None:
    labels = run_labels([run(17, seed=3, learning_rate=0.001, gamma=0.9), run(4, clip_rewards=True)])
    assert labels == {17: "PAAC · CartPole · seed 3 · lr 0.001 #17", 4: "PAAC · CartPole · seed 1 · lr 0.01 #4"}


def test_chosen_names_come_first() -> None:
    labels = run_labels([run(1, "baseline"), run(2, "more games", num_envs=8)])
    assert labels == {1: "baseline · environments 4 #1", 2: "more games · environments 8 #2"}


def test_method_and_environment_suffice_if_no_two_runs_share_both() -> None:
    runs = [
        run(1),
        run(2, "A3C on CartPole", algorithm="a3c", learning_rate=0.1),
        run(3, "tuned", env="ALE/Pong-v5", num_envs=8),
    ]
    assert run_labels(runs) == {1: "PAAC · CartPole #1", 2: "A3C · CartPole #2", 3: "tuned · PAAC · Pong #3"}


def test_methods_suffice_for_groups_over_games_if_no_two_groups_share_one() -> None:
    groups = [[run(1)], [run(2, algorithm="a3c", learning_rate=0.1)]]
    assert group_names_over_games(groups) == ["PAAC · CartPole", "A3C · CartPole"]


def test_labels_have_up_to_three_fields_seed_and_rate_first() -> None:
    fields: dict[str, Any] = {"t_max": 5, "gamma": 0.9, "entropy_cost": 0.02, "seed": 2, "learning_rate": 0.5}
    labels = run_labels([run(1, t_max=9, gamma=1.0, entropy_cost=0.01), run(2, **fields)])
    assert labels[2] == "PAAC · CartPole · seed 2 · lr 0.5 · rollout length 5 #2"


def test_identical_runs_are_labeled_by_id_and_a_single_run_keeps_its_name() -> None:
    assert run_labels([run(1), run(2)]) == {1: "PAAC · CartPole #1", 2: "PAAC · CartPole #2"}
    assert run_labels([run(1)]) == {1: "PAAC on CartPole"}


def test_checkpoint_settings_are_not_in_labels() -> None:
    labels = run_labels([run(1, checkpoint_seconds=5, checkpoints_kept=9), run(2, checkpoint_seconds=10, seed=4)])
    assert labels == {1: "PAAC · CartPole · seed 1 #1", 2: "PAAC · CartPole · seed 4 #2"}


def test_fields_in_the_name_are_not_repeated() -> None:
    runs = [run(number, f"PAAC · CartPole · seed {number}", seed=number) for number in (1, 2)]
    assert run_labels(runs) == {1: "PAAC · CartPole · seed 1 #1", 2: "PAAC · CartPole · seed 2 #2"}
