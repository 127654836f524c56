"""The API behind the launch form."""

from typing import Any

import pytest

from tests.factories import Api, video


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """Use one database, because little of this reads it."""
    return sqlite_url


def variants(api: Api) -> dict[str, Any]:
    """Return the schema of each method by its name in the document's discriminator."""
    schema = api.user.get("/api/v1/config-schema").json()
    mapping = schema["discriminator"]["mapping"]
    assert {branch["$ref"] for branch in schema["oneOf"]} == set(mapping.values())
    return {algorithm: schema["$defs"][place.removeprefix("#/$defs/")] for algorithm, place in mapping.items()}


def test_every_field_has_a_title_and_one_sentence_of_help(api: Api) -> None:
    for variant in variants(api).values():
        for name, field in variant["properties"].items():
            assert field["title"], name
            assert field["description"].strip().endswith("."), name
            assert field["group"], name


def test_every_method_marks_its_most_important_fields(api: Api) -> None:
    essential = {
        algorithm: {name for name, field in variant["properties"].items() if field.get("essential")}
        for algorithm, variant in variants(api).items()
    }
    always = {"env", "total_steps", "seed", "learning_rate"}
    assert essential["paac"] == always | {"num_envs", "device"}
    assert essential["a3c"] == always | {"num_actors"}
    assert essential["ga3c"] == always | {"num_agents", "device"}
    assert essential["gorila"] == always | {"num_actors"}


def test_every_method_offers_the_environments_that_it_can_learn(api: Api) -> None:
    known = api.user.get("/api/v1/environments").json()
    for algorithm, variant in variants(api).items():
        fitting = [environment["id"] for environment in known if algorithm in environment["algorithms"]]
        assert variant["properties"]["env"]["enum"] == fitting
        assert variant["properties"]["env"]["default"] in fitting


def test_every_method_names_the_fields_that_a_fork_keeps(api: Api) -> None:
    named = {algorithm: set(variant["shape_fields"]) for algorithm, variant in variants(api).items()}
    assert "lstm_units" in named["a3c"] - named["paac"]
    assert all({"algorithm", "env", "network"} <= fields for fields in named.values())
    assert all(fields <= set(variants(api)[algorithm]["properties"]) for algorithm, fields in named.items())


def test_environments_are_grouped_under_headings(api: Api) -> None:
    groups = {environment["id"]: environment["group"] for environment in api.user.get("/api/v1/environments").json()}
    assert groups["ALE/Pong-v5"] == "Atari, of the papers"
    assert groups["CartPole-v1"] == "Classic control"


def test_an_environment_says_why_a_method_cannot_use_it(api: Api) -> None:
    known = {environment["id"]: environment for environment in api.user.get("/api/v1/environments").json()}
    assert known["Arcadia/Target-v0"]["algorithms"] == ["a3c", "ppo"]
    assert known["Arcadia/Target-v0"]["unfit_because"] == "its actions are continuous"


def test_presets_are_complete_and_can_be_launched(api: Api) -> None:
    presets = api.user.get("/api/v1/presets").json()
    assert {"paac-cartpole", "paac-paper-nips"} <= {preset["name"] for preset in presets}
    for preset in presets:
        assert preset["shows"]
        assert preset["source"]
        assert preset["method"] == variants(api)[preset["config"]["algorithm"]]["title"]
        run = api.launch(config=preset["config"])
        assert run["config"] == preset["config"], "nothing relies on a default"


def test_presets_list_differences_from_the_paper_and_its_code(api: Api) -> None:
    presets = {preset["name"]: preset for preset in api.user.get("/api/v1/presets").json()}
    differences = {row["field"]: row for row in presets["paac-paper-nips"]["differences"]}
    assert differences["value_cost"] == {
        "field": "value_cost",
        "title": "Value loss weight",
        "paper": "1",
        "code": "0.25",
        "ours": "0.25",
        "why": "the code learns 0.25 · (R − V)²",
    }
    assert "t_max" not in differences, "all three use 5"
    assert presets["paac-pong"]["differences"] == []


def test_games_are_listed_with_their_frames_per_step(api: Api) -> None:
    games = {game["id"]: game for game in api.user.get("/api/v1/environments").json()}
    pong = {"id": "ALE/Pong-v5", "title": "Pong", "frames_per_step": 4}
    assert pong.items() <= games["ALE/Pong-v5"].items()
    assert games["CartPole-v1"]["frames_per_step"] == 1


def test_an_environment_has_its_family_and_capabilities(api: Api) -> None:
    families = {game["id"]: game["family"] for game in api.user.get("/api/v1/environments").json()}
    assert families["ALE/Pong-v5"]["title"] == "Atari"
    assert families["ALE/Pong-v5"]["openings"] == ["no-ops", "starts"]
    assert families["ALE/Pong-v5"]["is_pixel_art"]
    assert families["Ant-v5"] == families["Arcadia/AntPixels-v0"]
    assert not families["Ant-v5"]["is_pixel_art"]


def test_an_environment_has_the_latest_frame_of_its_newest_run(api: Api) -> None:
    def pictures() -> dict[str, int | None]:
        return {each["id"]: each["picture_file_id"] for each in api.user.get("/api/v1/environments").json()}

    assert pictures()["CartPole-v1"] is None
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100)
    api.upload(run_id, attempt, "replays/100.mp4", b"film", "video")
    png = api.upload(run_id, attempt, "replays/100.png", b"still", "poster")
    assert api.send(run_id, attempt, video(3, step=180, played=100)).status_code == 200
    found = pictures()
    assert (found["CartPole-v1"], found["Pendulum-v1"]) == (png, None)
