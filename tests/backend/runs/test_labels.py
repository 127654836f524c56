"""Names of runs beside one another."""

from typing import Any

from backend.database.tables import Run
from backend.runs.labels import labels, name_by, name_of_copy, written

SAME: dict[str, Any] = {"algorithm": "paac", "env": "CartPole-v1", "seed": 1, "learning_rate": 0.01, "num_envs": 4}


def run(number: int, name: str = "PAAC on CartPole", **config: Any) -> Run:
    """A run of this configuration."""
    config = SAME | config
    return Run(id=number, name=name, algorithm=config["algorithm"], env=config["env"], config=config)


def test_runs_that_nobody_named_are_told_apart_by_what_differs() -> None:
    named = labels([run(17, seed=3, learning_rate=0.001, gamma=0.9), run(4, clip_rewards=True)])
    assert named == {17: "PAAC · CartPole · seed 3 · lr 0.001 #17", 4: "PAAC · CartPole · seed 1 · lr 0.01 #4"}


def test_a_name_that_somebody_gave_comes_first() -> None:
    named = labels([run(1, "baseline"), run(2, "other game", env="ALE/Pong-v5", num_envs=8)])
    assert named == {1: "baseline · CartPole · environments 4 #1", 2: "other game · Pong · environments 8 #2"}


def test_no_more_than_three_fields_are_told_and_seed_and_rate_first() -> None:
    fields: dict[str, Any] = {"t_max": 5, "gamma": 0.9, "entropy_cost": 0.02, "seed": 2, "learning_rate": 0.5}
    named = labels([run(1, t_max=9, gamma=1.0, entropy_cost=0.01), run(2, **fields)])
    assert named[2] == "PAAC · CartPole · seed 2 · lr 0.5 · rollout length 5 #2"


def test_runs_that_agree_are_told_apart_by_their_numbers_and_one_alone_keeps_its_name() -> None:
    assert labels([run(1), run(2)]) == {1: "PAAC · CartPole #1", 2: "PAAC · CartPole #2"}
    assert labels([run(1)]) == {1: "PAAC on CartPole"}


def test_values_are_written_in_few_letters() -> None:
    values = [0.001, 0.00025, 0.000025, 0.99, 1.0, 0.0, None, False, 16, [64, 32], [], "relu"]
    texts = ["0.001", "0.00025", "2.5e-5", "0.99", "1", "0", "none", "off", "16", "64/32", "none", "relu"]
    assert [written(value) for value in values] == texts


def test_how_checkpoints_are_kept_tells_no_runs_apart() -> None:
    named = labels([run(1, checkpoint_seconds=5, checkpoints_kept=9), run(2, checkpoint_seconds=10, seed=4)])
    assert named == {1: "PAAC · CartPole · seed 1 #1", 2: "PAAC · CartPole · seed 4 #2"}


def test_a_run_of_a_study_is_named_by_what_the_study_varies() -> None:
    fields = ["seed", "gamma", "learning_rate", "checkpoint_seconds", "preset"]
    assert name_by(SAME | {"gamma": 0.9}, fields) == "PAAC · CartPole · seed 1 · lr 0.01 · discount 0.9"


def test_such_a_name_is_not_told_twice_beside_others() -> None:
    runs = [run(number, f"PAAC · CartPole · seed {number}", seed=number) for number in (1, 2)]
    assert labels(runs) == {1: "PAAC · CartPole · seed 1 #1", 2: "PAAC · CartPole · seed 2 #2"}


def test_a_copy_is_named_by_its_own_values_unless_a_user_named_the_run() -> None:
    assert name_of_copy(run(1, "PAAC · CartPole · seed 1"), SAME | {"seed": 9}) == "PAAC · CartPole · seed 9"
    assert name_of_copy(run(1), SAME | {"seed": 9}) == "PAAC · CartPole · seed 9"
    assert name_of_copy(run(1), SAME) == "PAAC on CartPole"
    assert name_of_copy(run(1, "baseline"), SAME | {"seed": 9}) == "baseline"
