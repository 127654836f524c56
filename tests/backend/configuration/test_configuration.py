"""What the launch form is drawn from."""

import pytest

from tests.factories import Api


@pytest.fixture
def database_url(migrated_sqlite: object, tmp_path: object) -> str:  # noqa: ARG001
    """None of this reads the database: one is enough."""
    return f"sqlite:///{tmp_path}/arcadia.db"


def test_every_field_has_a_title_and_one_sentence_of_help(api: Api) -> None:
    schema = api.user.get("/api/v1/config-schema").json()
    for variant in schema.get("oneOf", [schema]):
        for name, field in variant["properties"].items():
            assert field["title"], name
            assert field["description"].strip().endswith("."), name
            assert field["group"], name


def test_presets_are_complete_and_can_be_launched(api: Api) -> None:
    presets = api.user.get("/api/v1/presets").json()
    assert {"paac-cartpole", "paac-paper-nips"} <= {preset["name"] for preset in presets}
    for preset in presets:
        assert preset["shows"]
        assert preset["source"]
        run = api.launch(config=preset["config"])
        assert run["config"] == preset["config"], "nothing was left to a default"


def test_games_are_listed_with_their_frames_per_step(api: Api) -> None:
    games = {game["id"]: game for game in api.user.get("/api/v1/environments").json()}
    assert games["ALE/Pong-v5"] == {"id": "ALE/Pong-v5", "title": "Pong", "kind": "atari", "frames_per_step": 4}
    assert games["CartPole-v1"]["frames_per_step"] == 1
