"""Tests for the trainer's command line and its messages about mistakes."""

import json
from pathlib import Path

import pytest

from arcadia_workers.contract.config import CONFIGURATIONS, PaacConfig
from arcadia_workers.contract.events import changes_adapter
from arcadia_workers.contract.presets import PRESETS
from arcadia_workers.trainer import launching
from arcadia_workers.trainer.launching import Launch, LaunchError, take_directory


def launch(*arguments: str) -> Launch:
    """Parse a command line and take the directory like a trainer that ends at once."""
    found = launching.read(launching.parser().parse_args(arguments))
    launching.take_directory(found).close()
    return found


def problems(*arguments: str) -> list[str]:
    """Parse a wrong command line and return the reported problems."""
    with pytest.raises(LaunchError) as refused:
        launch(*arguments)
    return refused.value.problems


def test_a_preset_with_changes(tmp_path: Path) -> None:
    config = launch(
        "--preset", "paac-cartpole", "--set", "seed=7", "--set", "device=cpu", "--dir", str(tmp_path)
    ).config
    assert config == PRESETS["paac-cartpole"].config.model_copy(update={"seed": 7, "device": "cpu"})


def test_the_configuration_is_kept_in_the_directory(tmp_path: Path) -> None:
    config = launch("--preset", "paac-cartpole", "--dir", str(tmp_path / "new" / "run")).config
    assert json.loads((tmp_path / "new" / "run" / "config.json").read_text()) == config.model_dump(mode="json")


def test_a_configuration_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text('{"algorithm": "paac", "env": "CartPole-v1", "num_envs": 4}')
    config = launch(str(path), "--dir", str(tmp_path / "run")).config
    assert config == PaacConfig(env="CartPole-v1", num_envs=4)


def test_resuming_needs_no_configuration_again(tmp_path: Path) -> None:
    launch("--preset", "paac-cartpole", "--set", "seed=7", "--dir", str(tmp_path))
    resumed = launch("--dir", str(tmp_path), "--resume", "--no-progress-bar")
    assert (resumed.config.seed, resumed.resume, resumed.progress_bar) == (7, True, False)


@pytest.mark.parametrize(
    ("change", "field", "kept"),
    [
        (("--set", "hidden_units=32"), "hidden_units", "64"),
        (("--set", "activation=relu"), "activation", "tanh"),
        (("--set", "env=Acrobot-v1"), "env", "CartPole-v1"),
        (("--preset", "a3c-cartpole"), "algorithm", "paac"),
    ],
)
def test_a_resume_cannot_change_fields_that_define_the_weights(
    tmp_path: Path, change: tuple[str, ...], field: str, kept: str
) -> None:
    launch("--preset", "paac-cartpole", "--dir", str(tmp_path))
    before = (tmp_path / "config.json").read_bytes()
    assert launch("--dir", str(tmp_path), "--resume", "--set", "hidden_units=32"), "there is no checkpoint yet"
    (tmp_path / "config.json").write_bytes(before)
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "step-000000001000.json").write_text("{}")

    (refused,) = problems("--dir", str(tmp_path), "--resume", *change)[:1]

    assert refused.startswith(f"{field}: the checkpoints here were trained with {kept},")
    assert (tmp_path / "config.json").read_bytes() == before
    assert launch("--dir", str(tmp_path), "--resume", "--set", "learning_rate=0.1").config.learning_rate == 0.1


def test_a_resume_may_change_fields(tmp_path: Path) -> None:
    launch("--preset", "paac-cartpole", "--dir", str(tmp_path))
    assert launch("--dir", str(tmp_path), "--resume", "--set", "total_steps=5").config.total_steps == 5


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("num_envs=5000", "num_envs: input should be less than or equal to 1024, not 5000"),
        ("device=gpu", "device: input should be 'auto', 'cpu' or 'cuda', not \"gpu\""),
        ("num_env=8", "num_env: PAAC has no such field: did you mean num_envs?"),
        ("color=red", "color: PAAC has no such field"),
        ("lr=0.1", "lr: PAAC has no such field: did you mean learning_rate?"),
        ("ent_coef=0", "ent_coef: PAAC has no such field: did you mean entropy_cost?"),
        ("env=ALE/Pongg-v5", "env: unknown environment 'ALE/Pongg-v5': did you mean ALE/Pong-v5?"),
        ("network=nips", "network: nips reads pixels, but CartPole-v1 gives a vector: choose auto or mlp"),
        (
            "env=Arcadia/Target-v0",
            "env: paac cannot learn Arcadia/Target-v0, because its actions are continuous: choose a3c "
            "or ppo, or another environment",
        ),
        ("algorithm=dqn", f'algorithm: no method is called "dqn": choose {", ".join(CONFIGURATIONS)}'),
        ("seed", "--set seed: write it as field=value, as in --set seed=3"),
    ],
)
def test_a_wrong_field_is_explained(tmp_path: Path, change: str, sentence: str) -> None:
    assert problems("--preset", "paac-cartpole", "--dir", str(tmp_path), "--set", change) == [sentence]


def test_a_preset_cannot_be_switched_to_another_method(tmp_path: Path) -> None:
    said = problems("--preset", "paac-cartpole", "--set", "algorithm=a3c", "--dir", str(tmp_path))
    assert said == [
        "algorithm: PAAC and A3C have different fields: start from "
        + " or ".join(name for name, preset in PRESETS.items() if preset.config.algorithm == "a3c")
    ]


def test_a_configuration_without_a_method_is_refused_with_the_list_of_methods(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text('{"env": "CartPole-v1"}')
    assert problems(str(path), "--dir", str(tmp_path)) == [f"algorithm: name the method: {', '.join(CONFIGURATIONS)}"]


def test_every_problem_is_reported(tmp_path: Path) -> None:
    assert len(problems("--preset", "paac-pong", "--dir", str(tmp_path), "--set", "seed=-1", "--set", "t_max=0")) == 2


def test_nothing_is_written_for_a_wrong_configuration(tmp_path: Path) -> None:
    problems("--preset", "paac-pong", "--dir", str(tmp_path / "run"), "--set", "seed=-1")
    assert not (tmp_path / "run").exists()


def test_a_configuration_must_be_given(tmp_path: Path) -> None:
    assert "--preset NAME" in problems("--dir", str(tmp_path))[0]
    assert "--preset NAME" in problems("--dir", str(tmp_path), "--resume")[0]


def test_a_directory_must_be_given() -> None:
    assert "--dir RUN_DIR" in problems("--preset", "paac-pong")[0]


def test_an_unknown_preset_suggests_similar_ones(tmp_path: Path) -> None:
    said = problems("--preset", "pac-pong", "--dir", str(tmp_path))[0]
    assert said.startswith("there is no preset 'pac-pong'; did you mean paac-pong or ")
    assert len(said) < 120


def test_a_file_and_a_preset_exclude_each_other(tmp_path: Path) -> None:
    assert "not both" in problems("config.json", "--preset", "paac-pong", "--dir", str(tmp_path))[0]


@pytest.mark.parametrize(
    ("content", "sentence"), [(None, "cannot be read: No such file"), ("{", "is not JSON"), ("[]", "one JSON object")]
)
def test_an_unreadable_configuration_file(tmp_path: Path, content: str | None, sentence: str) -> None:
    path = tmp_path / "config.json"
    if content is not None:
        path.write_text(content)
    assert sentence in problems(str(path), "--dir", str(tmp_path / "run"))[0]


def test_a_directory_with_a_run_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text("")
    assert not launch("--preset", "paac-pong", "--dir", str(tmp_path)).resume
    (tmp_path / "events.jsonl").write_text('{"seq": 1}\n')
    assert "add --resume" in problems("--preset", "paac-pong", "--dir", str(tmp_path))[0]
    assert launch("--preset", "paac-pong", "--dir", str(tmp_path), "--resume").resume


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "cannot be used as a run directory" in problems("--preset", "paac-pong", "--dir", str(tmp_path / "file"))[0]


def test_presets_are_listed_with_their_titles() -> None:
    listed = launching.presets().splitlines()
    assert len(listed) == len(PRESETS)
    assert listed[0].startswith("paac-cartpole")
    assert "PAAC learns CartPole in a minute" in listed[0]


def test_scheduled_changes_are_requested_once_per_step(tmp_path: Path) -> None:
    steps = ("--change", "900:learning_rate=1e-4", "--change", "500:total_steps=2000", "--change", "900:value_cost=0.5")
    read = launch("--preset", "paac-cartpole", "--dir", str(tmp_path), *steps)
    take_directory(read).close()
    again = launch(
        "--preset", "paac-cartpole", "--dir", str(tmp_path), "--resume", *steps, "--change", "7:value_cost=1"
    )
    take_directory(again).close()
    requested = changes_adapter.validate_json((tmp_path / "changes.json").read_bytes())
    assert [(change.number, change.step, change.fields) for change in requested] == [
        (1, 500, {"total_steps": 2000}),
        (2, 900, {"learning_rate": 1e-4, "value_cost": 0.5}),
        (3, 7, {"value_cost": 1}),
    ]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            "learning_rate=1",
            "--change learning_rate=1: write it as step:field=value, as in --change 1200000:learning_rate=1e-4",
        ),
        ("5:learning_rate=-1", "--change 5:learning_rate: input should be greater than 0, not -1"),
        (
            "5:gamma=1",
            "--change 5:gamma: a run cannot change this while it trains: fork the run from a checkpoint to change it",
        ),
    ],
)
def test_a_change_that_is_not_possible_is_explained(tmp_path: Path, change: str, sentence: str) -> None:
    assert problems("--preset", "paac-cartpole", "--dir", str(tmp_path), "--change", change) == [sentence]
