"""Recipes of docs/extending.md, applied to a copy: they change few files, name each, and work."""

import re
from pathlib import Path
from textwrap import dedent

import pytest

from tests.contract.recipes import ROOT, Copy, recipe


def steps(title: str) -> dict[str, str]:
    """Return the files that a recipe changes, each with the code that it adds."""
    parts = re.findall(r"^\d\. \*\*`([^`]+)`\*\*(.*?)(?=^\d\. |\Z)", recipe(title), re.MULTILINE | re.DOTALL)
    codes = {file: re.findall(r"```python\n(.*?)```", part, re.DOTALL) for file, part in parts}
    return {file: dedent(code[0]) if code else "" for file, code in codes.items()}


def table_names(document: str) -> list[str]:
    """Return the names in the first column of the tables of a document."""
    return re.findall(r"^\| [^|]*?`(\w[\w-]*)`[^|]*\|", (ROOT / "docs" / document).read_text(), re.MULTILINE)


@pytest.mark.nightly
def test_a_chart_takes_four_files(tmp_path: Path) -> None:
    files = steps("Add a chart")
    module, routes = "backend/arcadia_backend/figures/step_counts.py", "backend/arcadia_backend/figures/routes.py"
    assert [*files] == [module, routes, "docs/reports.md", "tests/backend/figures/test_step_counts.py"]
    copy = Copy(tmp_path, "backend", "workers", "alembic", "alembic.ini")
    copy.write(module, files[module])
    copy.insert(routes, "router = APIRouter", "from arcadia_backend.figures.step_counts import draw_step_counts\n\n")
    copy.insert(routes, "def _refuse_time", f"{files[routes]}\n\n")
    copy.run_program("""
        from pathlib import Path
        from fastapi.testclient import TestClient
        from arcadia_backend.app import create_app
        from arcadia_backend.config import Settings

        address = "/api/v1/figures/step-counts"
        with TestClient(create_app(Settings(data_dir=Path("data"))), base_url="http://localhost:8000") as client:
            (kind,) = (each for each in client.get("/api/v1/figures").json() if each["name"] == "step-counts")
            assert (kind["label"], kind["parameters"], kind["streams"]) == ("Steps of runs", ["runs"], False)
            run = client.post("/api/v1/runs", json={"preset": "paac-cartpole"}).json()["id"]
            figure = client.get(address, params={"runs": run}).json()
            assert (figure["data"][0]["x"], figure["data"][0]["y"]) == ([run], [0])
            block = {"kind": "chart", "address": f"{address}?runs={run}", "caption": ""}
            drawn = client.post("/api/v1/reports/preview", json={"block": block}).json()
            assert drawn["figure"]["data"] == figure["data"]
            assert address in client.get("/api/v1/openapi.json").json()["paths"]
    """)


def test_every_figure_is_documented() -> None:
    from arcadia_backend.figures.routes import list_figures

    assert {kind.name for kind in list_figures()} <= {*table_names("reports.md")}


def test_a_setting_takes_two_files(tmp_path: Path) -> None:
    files = steps("Add a setting")
    settings = "workers/arcadia_workers/contract/settings.py"
    assert [*files] == [settings, "docs/settings.md"]
    copy = Copy(tmp_path, "backend", "workers")
    copy.insert(settings, "    public_url: str = Field(", f"    {files[settings]}")
    program = """
        import os
        from arcadia_backend.config import Settings
        from arcadia_workers.contract.settings import unknown_settings

        assert unknown_settings(os.environ) is None
        assert Settings().max_boards == 7
        assert "ARCADIA_MAX_BOARDS?" in unknown_settings({"ARCADIA_MAX_BOARD": "7"})
    """
    copy.run_program(program, ARCADIA_MAX_BOARDS="7")


METHOD_FILES = {
    "workers/arcadia_workers/contract/config/my_method.py": """
        from typing import Literal

        from pydantic import ConfigDict, Field

        from arcadia_workers.contract.config.fields import RUN
        from arcadia_workers.contract.config.shared import ActorCriticFields, RmsPropFields
        from arcadia_workers.contract.config.synchronous import SynchronousFields


        class MyMethodConfig(SynchronousFields, ActorCriticFields, RmsPropFields):
            model_config = ConfigDict(title="My method")

            algorithm: Literal["my_method"] = Field(
                default="my_method", title="Algorithm", description="The method that learns.", json_schema_extra=RUN
            )
    """,
    "workers/arcadia_workers/trainer/methods/my_method.py": """
        from arcadia_workers.contract.config.my_method import MyMethodConfig
        from arcadia_workers.trainer.methods.paac import needs
        from arcadia_workers.trainer.methods.paac.framework import Framework
        from arcadia_workers.trainer.methods.trainer import Trainer, load_policy
        from arcadia_workers.trainer.networks.networks import build
        from arcadia_workers.trainer.run.run import TrainingRun, prefixed


        def train(config: MyMethodConfig, run: TrainingRun) -> None:
            with Framework(config, run) as framework:
                actors = framework.actors
                network = build(config, actors.observation_shape, actors.actions)
                framework.begin(network)
                framework.save(prefixed("network", network.state_dict()))


        MY_METHOD = Trainer(config=MyMethodConfig, train=train, needs=needs, load_network=load_policy)
    """,
}


@pytest.fixture
def with_method(tmp_path: Path) -> Copy:
    """Return a copy with one more method, by the recipe."""
    registry, presets = (
        "workers/arcadia_workers/contract/config/methods.py",
        "workers/arcadia_workers/contract/presets/poles.py",
    )
    test = "tests/workers/trainer/methods/test_my_method.py"
    assert {*steps("Add a method")} == {*METHOD_FILES, registry, presets, "docs/methods.md", test}
    copy = Copy(tmp_path, "workers")
    for file, code in METHOD_FILES.items():
        copy.write(file, dedent(code))
    imported = "from arcadia_workers.contract.config.my_method import MyMethodConfig\n"
    copy.insert(registry, "from arcadia_workers.contract.config.synchronous import", imported)
    copy.insert(
        registry, "        Method(GorilaConfig", '        Method(MyMethodConfig, f"{_FOLDER}.my_method:MY_METHOD"),\n'
    )
    copy.insert(presets, "from arcadia_workers.contract.presets.preset import", imported)
    preset = """
    Preset(
        name="my-method-cartpole",
        title="My method",
        shows="How it learns.",
        source="Tuned here.",
        config=MyMethodConfig(env="CartPole-v1", num_envs=2),
    ),"""
    copy.insert(presets, '\n    Preset(\n        name="a3c-cartpole"', preset)
    return copy


def test_a_method_takes_six_files(with_method: Copy) -> None:
    with_method.run_program("""
        from arcadia_workers.contract.config import config_adapter
        from arcadia_workers.contract.presets import PRESETS

        config = PRESETS["my-method-cartpole"].config
        assert config_adapter.validate_python({"algorithm": "my_method", "num_envs": 2, "env": "CartPole-v1"}) == config
        assert "my_method" in config_adapter.json_schema()["discriminator"]["mapping"]
    """)


@pytest.mark.nightly
def test_a_method_of_the_recipe_trains(with_method: Copy) -> None:
    with_method.run_program("""
        from arcadia_workers.contract.presets import PRESETS
        from arcadia_workers.trainer.methods import TRAINERS
        from arcadia_workers.trainer.run.run import NullRun

        run = NullRun()
        TRAINERS["my_method"].train(PRESETS["my-method-cartpole"].config, run)
        assert run.saved[-1].component("network")
    """)


def test_every_method_is_documented() -> None:
    from arcadia_workers.contract.config import CONFIGURATIONS

    assert {*CONFIGURATIONS} <= {*table_names("methods.md")}
