"""Tests that the table of the papers' and programs' settings is complete and agrees with the presets."""

import json

import pytest

from arcadia_workers.contract.config.fields import MLP_FIELDS, TrainingConfig
from arcadia_workers.contract.presets import PRESETS
from arcadia_workers.contract.presets.preset import stated_for, written

# Fields that no paper specifies.
HOUSE = {
    "algorithm",
    "env",
    "seed",
    "device",
    "precision",
    "checkpoint_seconds",
    "checkpoints_kept",
    "replays_megabytes",
    "evaluate_every_steps",
    "calibrate_every_steps",
    "evaluation_protocol",
    "ceiling_seconds",
}
ONLY_ATARI = {
    "max_noops",
    "min_noops",
    "fire_at_reset",
    "repeat_action_probability",
    "action_set",
    "cap_frames",
    "life_loss_ends_episode",
}
# Fields that another field disables. Presets of papers leave them at their defaults.
UNREAD = {
    "momentum": ("optimizer", "shared_rmsprop"),
    "num_replays": ("mode", "bundled"),
    "priority_exponent": ("prioritized_replay", False),
    "importance_exponent": ("prioritized_replay", False),
    "adagrad_epsilon": ("optimizer", "centered_rmsprop"),
    "rmsprop_decay": ("optimizer", "adagrad"),
    "rmsprop_epsilon": ("optimizer", "adagrad"),
}
TUNED_HERE = {name for name, preset in PRESETS.items() if preset.origin == "tuned"}
# OpenAI Baselines' A2C, which has no paper.
OF_PROGRAMS = {"a2c-robust"}
IN_THE_TABLE = sorted(PRESETS.keys() - TUNED_HERE)
OF_PAPERS = [name for name in IN_THE_TABLE if name not in OF_PROGRAMS]


def decided(config: TrainingConfig) -> set[str]:
    """Return the fields of a configuration that its paper could specify."""
    values = config.model_dump(mode="json")
    fields = values.keys() - HOUSE - {field for field, (switch, off) in UNREAD.items() if values.get(switch) == off}
    if not config.environment.family.has_action_sets:
        fields -= ONLY_ATARI
    return fields if config.resolved_network == "mlp" else fields - set(MLP_FIELDS)


@pytest.mark.parametrize("name", IN_THE_TABLE)
def test_each_field_of_a_papers_or_programs_preset_is_in_the_table_once(name: str) -> None:
    assert sorted(row.field for row in stated_for(name)) == sorted(decided(PRESETS[name].config))


@pytest.mark.parametrize("name", IN_THE_TABLE)
def test_values_in_the_table_equal_those_of_the_presets(name: str) -> None:
    values = PRESETS[name].config.model_dump(mode="json")
    assert {row.field: row.ours for row in stated_for(name)} == {
        row.field: written(values[row.field]) for row in stated_for(name)
    }


@pytest.mark.parametrize("name", OF_PAPERS)
def test_presets_of_papers_are_evaluated_5_to_200_times_during_training(name: str) -> None:
    config = PRESETS[name].config
    assert 5 <= config.total_steps // (config.evaluate_every_steps or config.total_steps + 1) <= 200


def test_presets_that_are_tuned_here_have_no_rows() -> None:
    assert {name for name in PRESETS if stated_for(name)} == set(IN_THE_TABLE)


def test_values_are_formatted_for_readers() -> None:
    given = json.loads('[true, 0.0000625, 0.25, 5.0, 115000000, [0.1, 0.5], "nips", 0.0]')
    assert [written(value) for value in given] == "yes|0.0000625|0.25|5|115,000,000|0.1, 0.5|nips|0".split("|")


def test_paacs_presets_show_where_paper_and_code_differ() -> None:
    rows = {row.field: (row.paper, row.code, row.ours) for row in stated_for("paac-paper-nips") if row.differs}
    assert rows["entropy_cost"] == ("0.01", "0.02", "0.01")
    assert rows["loss_scale"] == ("1", "5", "5")
    assert rows["min_noops"] == ("1", "0", "1")
    assert rows["cap_frames"] == ("", "none", "108,000")
    assert "t_max" not in rows


def test_a2cs_preset_shows_where_it_differs_from_baselines() -> None:
    rows = {row.field: row for row in stated_for("a2c-robust")}
    assert {row.paper for row in rows.values()} == {""}
    assert {field: (row.code, row.ours) for field, row in rows.items() if row.differs} == {
        "total_steps": ("80,000,000", "10,000,000"),
        "num_workers": ("16", "8"),
        "min_noops": ("1", "0"),
        "fire_at_reset": ("yes, and after each lost life", "yes"),
        "cap_frames": ("400,000", "108,000"),
    }


def test_a3cs_continuous_preset_shows_how_the_papers_pixel_network_differs() -> None:
    row = next(row for row in stated_for("a3c-continuous") if row.field == "network")
    assert "two convolutions without non-linearity" in row.paper
    assert "relu" in row.why


def test_ga3cs_table_shows_settings_that_only_the_code_has() -> None:
    """Check settings that only Config.py has: the paper omits γ, β, RMSProp, rewards, lives and no-ops."""
    rows = {row.field: (row.paper, row.code, row.ours) for row in stated_for("ga3c-paper")}
    assert {field: rows[field] for field in ("gamma", "entropy_cost", "rmsprop_decay", "rmsprop_epsilon")} == {
        "gamma": ("", "0.99", "0.99"),
        "entropy_cost": ("", "0.01", "0.01"),
        "rmsprop_decay": ("", "0.99", "0.99"),
        "rmsprop_epsilon": ("", "0.1", "0.1"),
    }
    assert rows["clip_rewards"] == ("", "yes", "yes")
    assert rows["life_loss_ends_episode"] == ("", "no", "no")
    assert rows["max_noops"] == ("", "0", "30")
    assert rows["adjustment_seconds"] == ("60", "20", "60")


def test_gorilas_table_attributes_dqns_settings_to_dqn() -> None:
    rows = {row.field: (row.paper, row.why) for row in stated_for("gorila-paper")}
    for field in ("gamma", "batch_size", "clip_errors", "clip_rewards", "max_noops"):
        assert rows[field] == ("", "as DQN")


def test_tables_of_dqn_variants_have_the_settings_of_dqn_zoo() -> None:
    """Check that double_q and prioritized use the tuned Double DQN, like Schaul et al. (2016), section 4."""
    codes = {
        name: {row.field: row.code for row in stated_for(name)}
        for name in ("dqn-nature", "double-dqn", "prioritized-dqn")
    }
    assert [codes[name]["final_epsilon"] for name in codes] == ["0.1", "0.01", "0.01"]
    assert [codes[name]["target_update_interval"] for name in codes] == [
        "40,000 frames",
        "120,000 frames",
        "120,000 frames",
    ]
    assert [codes[name]["rmsprop_epsilon"] for name in codes] == [
        written(0.01 / 32**2),
        written(0.01 / 32**2),
        written(0.01 / 32**2 / 4**2),
    ]
    papers = {row.field: row.paper for row in stated_for("prioritized-dqn")}
    assert (papers["final_epsilon"], papers["target_update_interval"]) == ("0.01", "30,000 frames")


def test_tables_of_the_a3c_papers_methods_cite_pfrls_a3c_which_has_no_lstm() -> None:
    ff, lstm = ({row.field: row for row in stated_for(f"a3c-paper-{kind}")} for kind in ("ff", "lstm"))
    assert (ff["lstm_units"].code, lstm["lstm_units"].code) == ("0", "")
    for name in ("a3c-paper-ff", "n-step-q"):
        rate = next(row for row in stated_for(name) if row.field == "learning_rate")
        assert rate.why == "the code is PFRL's A3C"
