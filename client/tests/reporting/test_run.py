"""Logging of a run: the content of the journal after each kind of end."""

from __future__ import annotations

import argparse
import json
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import arcadia
import numpy as np
import pytest
from arcadia.errors import ArcadiaError
from reporting import scripts
from reporting.scripts import events, metrics, of_kind


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Log offline to journals in a folder."""
    monkeypatch.setenv("ARCADIA_JOURNALS", str(tmp_path))
    monkeypatch.setenv("ARCADIA_MODE", "offline")
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Iterator[arcadia.ReportedRun]:
    """Start a run."""
    assert folder
    with arcadia.init("maze", "first", {"rate": 0.1}) as run:
        yield run


def test_steps_count_from_zero_and_continue_from_a_given_one(run: arcadia.ReportedRun, folder: Path) -> None:
    run.log({"loss": 0.5})
    run.log({"loss": 0.25})
    run.log({"loss": 3}, step=10)
    run.log({"loss": 1e-300})
    run.log({"loss": 0.0}, step=np.int64(5))
    assert metrics(folder) == [
        (0, {"loss": 0.5}),
        (1, {"loss": 0.25}),
        (10, {"loss": 3}),
        (11, {"loss": 1e-300}),
        (5, {"loss": 0.0}),
    ]
    assert run.step == 5


def test_every_kind_of_number_is_logged(run: arcadia.ReportedRun, folder: Path) -> None:
    values = {
        "nan": float("nan"),
        "high": float("inf"),
        "low": np.float32("-inf"),
        "float": np.float32(0.5),
        "int": np.int64(7),
        "huge": 10**400,
        "large": 2**70,
        "true": True,
        "array": np.array([[4.0]]),
        "decimal": Decimal("1.5"),
    }
    run.log(values)
    assert metrics(folder) == [
        (
            0,
            {
                "nan": "NaN",
                "high": "Infinity",
                "low": "-Infinity",
                "float": 0.5,
                "int": 7,
                "huge": "Infinity",
                "large": 2.0**70,
                "true": 1,
                "array": 4.0,
                "decimal": 1.5,
            },
        )
    ]


def test_nested_names_are_joined_and_odd_names_are_kept(run: arcadia.ReportedRun, folder: Path) -> None:
    values: dict[Any, Any] = {
        "train": {"loss": 1.0, "x": {"y": 2}},
        'quo"te\n': 3,
        4: 5,
        "half \ud800": 6,
        "nul\0": 7,
    }
    run.log(values)
    merged = {name: value for _, values in metrics(folder) for name, value in values.items()}
    assert merged == {"train/loss": 1.0, "train/x/y": 2, 'quo"te\n': 3, "4": 5, "half ?": 6, "nul�": 7}
    assert {step for step, _ in metrics(folder)} == {0}


def test_a_value_that_is_not_a_number_is_left_out_with_one_warning(
    run: arcadia.ReportedRun, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for _ in range(3):
        run.log({"text": "x", "loss": 1.0, "none": None, "array": np.zeros(3)})
    assert metrics(folder) == [(step, {"loss": 1.0}) for step in range(3)]
    warnings = [line["message"] for line in of_kind("log", events(folder))]
    assert len(warnings) == 3
    assert warnings[0].startswith("text was left out: a str is not a number.")
    assert capfd.readouterr().err.count("left out") == 3


def test_everything_else_in_a_run_is_an_event(run: arcadia.ReportedRun, folder: Path) -> None:
    run.write("hello", level="error")
    run.alert("Diverged", "The loss is NaN.")
    run.tag("a", "b")
    run.untag("a")
    run.note("Better.")
    run.set_total_steps(100)
    run.config.update(depth=3, rate=float("nan"))
    run.config["layers"] = (1, 2)
    found = [{name: value for name, value in event.items() if name != "time"} for event in events(folder)]
    assert found == [
        {"kind": "log", "level": "error", "message": "hello"},
        {"kind": "alert", "level": "warning", "title": "Diverged", "text": "The loss is NaN."},
        {"kind": "tags", "add": ["a", "b"], "remove": []},
        {"kind": "tags", "add": [], "remove": ["a"]},
        {"kind": "notes", "text": "Better."},
        {"kind": "progress", "total_steps": 100},
        {"kind": "config", "values": {"depth": 3, "rate": "NaN"}},
        {"kind": "config", "values": {"layers": [1, 2]}},
    ]
    assert dict(run.config) | {"rate": 0} == {"rate": 0, "depth": 3, "layers": (1, 2)}


def test_a_wrong_argument_in_the_middle_of_a_run_is_left_out_with_one_warning(
    run: arcadia.ReportedRun, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    odd: Any = run
    for _ in range(2):
        for wrong in ("x", None, [1]):
            odd.log(wrong)
        odd.log({"loss": 1.0}, step="x")
        odd.log({"loss": 2.0}, step=10**30)
        odd.set_total_steps("many")
        odd.set_total_steps(-1)
        odd.config.update(5)
    run.log({"loss": 3.0}, step=7)
    assert metrics(folder) == [*((step, {"loss": step % 2 + 1.0}) for step in range(4)), (7, {"loss": 3.0})]
    assert of_kind("progress", events(folder)) == of_kind("config", events(folder)) == []
    warnings = [line["message"] for line in of_kind("log", events(folder))]
    assert warnings == [
        "'x' was left out. Log numbers by their names: run.log({'loss': 0.5}).",
        "'x' cannot be a step, which is a whole number below 2^63. The next step is used instead.",
        "total_steps was left out: 'many' is not a whole number of 1 or more.",
        "Settings were left out. The configuration is a int. Use a mapping, a dataclass or a namespace of argparse.",
    ]
    assert capfd.readouterr().err.splitlines() == [f"arcadia: {warning}" for warning in warnings]


def test_nested_values_that_contain_themselves_do_not_end_the_script(run: arcadia.ReportedRun, folder: Path) -> None:
    values: dict[str, Any] = {"loss": 1.0}
    values["inner"] = values
    run.log(values)
    run.config.update(values)
    assert metrics(folder)[0] == (0, {"loss": 1.0})
    assert len(of_kind("config", events(folder))) == 1


def test_texts_with_an_unknown_level_are_kept(
    run: arcadia.ReportedRun, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    odd: Any = run
    odd.write("first", level="fatal")
    odd.write("second", level="WARN")
    odd.write("third", level="purple")
    odd.alert("fourth", level="critical")
    odd.alert("fifth", level=None)
    logged = [event for event in events(folder) if "left out" not in event.get("message", "")]
    found = [(event["level"], event.get("message") or event["title"]) for event in logged]
    warning = "The level 'purple' does not exist, so info is used. Use info, warning or error."
    assert found == [
        ("error", "first"),
        ("warning", "second"),
        ("warning", warning),
        ("info", "third"),
        ("error", "fourth"),
        ("warning", "fifth"),
    ]
    assert capfd.readouterr().err == f"arcadia: {warning}\n"


def test_lists_of_tags_and_other_types_are_texts(run: arcadia.ReportedRun, folder: Path) -> None:
    odd: Any = run
    odd.tag(["a", "b"], 3)
    odd.describe(name=5)
    odd.alert("Title", None)
    assert [event["add"] for event in of_kind("tags", events(folder))] == [["a", "b", "3"]]
    assert [event["name"] for event in of_kind("description", events(folder))] == ["5"]
    assert [event["text"] for event in of_kind("alert", events(folder))] == [""]


@pytest.mark.parametrize("steps", [0, -3, 1.5, "many", float("nan"), 10**400, None])
def test_a_wrong_number_of_steps_leaves_a_run_that_can_be_registered(
    folder: Path, steps: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    odd: Any = {"name": 5, "project": 5, "method": 5, "env": 5, "notes": 5, "tags": 5}
    arcadia.init(**odd, total_steps=steps).finish()
    (description,) = scripts.directory(folder).glob("*-*.json")
    registration = json.loads(description.read_text())["registration"]
    assert {name: registration[name] for name in odd} == {name: ["5"] if name == "tags" else "5" for name in odd}
    assert "total_steps" not in registration
    messages = [line["message"] for line in of_kind("log", events(folder))]
    assert len(messages) == (steps is not None)
    assert capfd.readouterr().err == "".join(f"arcadia: {message}\n" for message in messages)


@pytest.mark.parametrize(
    ("steps", "stored"), [(1e6, 1_000_000), ("1e3", 1_000), (np.int64(7), 7), (2**60 + 1, 2**60 + 1)]
)
def test_every_whole_number_of_steps_is_registered(folder: Path, steps: Any, stored: int) -> None:
    arcadia.init(total_steps=steps, tags="one tag").finish()
    (description,) = scripts.directory(folder).glob("*-*.json")
    registration = json.loads(description.read_text())["registration"]
    assert (registration["total_steps"], registration["tags"]) == (stored, ["one tag"])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"resume": "sometimes"}, "Use allow, must or never"),
        ({"mode": 5}, "online, offline or disabled"),
        ({"directory": 5}, "the path of a folder"),
        ({"url": 5, "mode": "online"}, "5 is not a URL"),
        ({"id": [1]}, "cannot be the id"),
    ],
)
def test_an_argument_that_no_run_can_start_with_is_an_error(folder: Path, arguments: Any, sentence: str) -> None:
    with pytest.raises(ArcadiaError, match=sentence):
        arcadia.init(**arguments)
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [({"outcome": "success"}, "finished, failed, stopped or paused"), ({"seconds": "x"}, "seconds is a number")],
)
def test_a_wrong_end_is_an_error_and_the_run_continues(folder: Path, arguments: Any, sentence: str) -> None:
    run = arcadia.init()
    with pytest.raises(ArcadiaError, match=sentence):
        run.finish(**arguments)
    odd: Any = run
    odd.finish("failed", 5, traceback=ValueError("deep"))
    (end,) = of_kind("end", events(folder))
    assert (end["outcome"], end["message"], end["traceback"]) == ("failed", "5", "deep")


def test_a_run_fails_with_a_sentence(folder: Path) -> None:
    arcadia.init().fail("The loss is NaN.")
    (end,) = of_kind("end", events(folder))
    assert (end["outcome"], end["message"]) == ("failed", "The loss is NaN.")


@dataclass
class _Settings:
    rate: float = 0.5


@pytest.mark.parametrize(
    "config",
    [{"rate": 0.5}, argparse.Namespace(rate=0.5), _Settings(), [("rate", 0.5)]],
    ids=lambda x: type(x).__name__,
)
def test_configurations_of_every_kind_are_registered(folder: Path, config: object) -> None:
    with arcadia.init(config=config) as run:
        assert run.config["rate"] == 0.5
    (description,) = scripts.directory(folder).glob("*-*.json")
    assert json.loads(description.read_text())["registration"]["config"] == {"rate": 0.5}


def test_a_configuration_without_names_is_an_error(folder: Path) -> None:
    with pytest.raises(ArcadiaError, match="a mapping, a dataclass or a namespace"):
        arcadia.init(config=7)
    assert not list(folder.iterdir())


def test_a_run_that_has_ended_accepts_no_more_events(folder: Path) -> None:
    run = arcadia.init()
    run.finish()
    run.finish()
    with pytest.raises(ArcadiaError, match=r"init\(id=run.id\)"):
        run.log({"loss": 1.0})
    with pytest.raises(ArcadiaError, match="has ended"):
        run.write("hello")
    assert [event["kind"] for event in events(folder)] == ["end"]


def test_an_exception_in_the_block_fails_the_run_with_its_traceback(folder: Path) -> None:
    def divide() -> None:
        with arcadia.init():
            1 / 0  # noqa: B018

    with pytest.raises(ZeroDivisionError):
        divide()
    (end,) = of_kind("end", events(folder))
    assert (end["outcome"], end["message"]) == ("failed", "ZeroDivisionError: division by zero")
    assert "in divide" in end["traceback"]


@pytest.mark.parametrize(
    ("ending", "outcome", "message"),
    [
        ("", "finished", None),
        ("sys.exit(0)", "finished", None),
        ("raise ValueError('too deep')", "failed", "ValueError: too deep"),
        ("signal.raise_signal(signal.SIGINT)", "stopped", "The script was interrupted (Ctrl-C)."),
    ],
)
def test_an_unfinished_run_gets_the_outcome_of_its_script(
    folder: Path, ending: str, outcome: str, message: str | None
) -> None:
    scripts.run(f"run = arcadia.init()\nrun.log({{'loss': 1.0}})\n{ending}", folder)
    (end,) = of_kind("end", events(folder))
    assert (end["outcome"], end.get("message")) == (outcome, message)


def test_a_killed_script_loses_nothing_that_it_logged(folder: Path) -> None:
    program = """
run = arcadia.init()
for number in range(5_000):
    run.log({"loss": number / 7, "return": number})
    if number == 4_321:
        os.kill(os.getpid(), signal.SIGKILL)
"""
    assert scripts.run(program, folder).returncode == -signal.SIGKILL
    assert metrics(folder) == [(number, {"loss": number / 7, "return": number}) for number in range(4_322)]


def test_a_resumed_run_continues_with_the_next_step_in_a_separate_journal(folder: Path) -> None:
    first = arcadia.init(id="mine")
    first.log({"loss": 1.0}, step=41)
    first.finish()
    second = arcadia.init(id="mine")
    second.log({"loss": 0.5})
    second.finish()
    assert [step for step, _ in metrics(folder)] == [41, 42]
    assert first.writer < second.writer


def test_a_new_run_does_not_overwrite_another(folder: Path) -> None:
    arcadia.init(id="mine").finish()
    with pytest.raises(ArcadiaError, match="Use another id"):
        arcadia.init(id="mine", resume="never")
    assert len(of_kind("end", events(folder))) == 1


@pytest.mark.parametrize("wrong", ["../up", ".hidden", "a/b", "x" * 65, "é"])
def test_an_id_is_a_safe_name_of_a_folder(folder: Path, wrong: str) -> None:
    with pytest.raises(ArcadiaError, match="letters, digits, dots"):
        arcadia.init(id=wrong)
    assert not list(folder.iterdir())


def test_threads_share_a_run(folder: Path) -> None:
    program = """
run = arcadia.init()
def work(name):
    for number in range(500):
        run.log({name: number})
threads = [threading.Thread(target=work, args=(f"t{each}",)) for each in range(8)]
[each.start() for each in threads]
[each.join() for each in threads]
"""
    assert scripts.run(program, folder).returncode == 0
    found = metrics(folder)
    assert [step for step, _ in found] == list(range(4_000))
    for name in (f"t{each}" for each in range(8)):
        assert [values[name] for _, values in found if name in values] == list(range(500))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_log_to_the_run_of_their_parent_and_do_not_end_it(tmp_path: Path, method: str) -> None:
    (tmp_path / "scripts").mkdir()
    file = tmp_path / "scripts" / "script.py"
    file.write_text("""
import arcadia, multiprocessing, sys
def work(run, name):
    for number in range(200):
        run.log({name: number}, step=number)
    run.finish()
if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    with arcadia.init(id="shared") as run:
        children = [context.Process(target=work, args=(run, f"child {each}")) for each in range(4)]
        [each.start() for each in children]
        for number in range(200):
            run.log({"parent": number})
        [each.join() for each in children]
        assert [each.exitcode for each in children] == [0] * 4
""")
    journals = tmp_path / "journals"
    ended = scripts.run_file(file, journals, method)
    assert ended.returncode == 0, ended.stderr
    found = metrics(journals)
    for name in ("parent", *(f"child {each}" for each in range(4))):
        assert [values[name] for _, values in found if name in values] == list(range(200))
    assert [event["kind"] for event in events(journals)][-1] == "end"
    assert len(of_kind("end", events(journals))) == 1


def test_a_disabled_run_writes_nothing(folder: Path) -> None:
    with arcadia.init(mode="disabled", config={"rate": 1}) as run:
        run.log({"loss": 1.0, "table": arcadia.Table(["a"], [[1]])})
        run.write("hello")
        run.config.update(rate=2)
        assert (run.step, run.url, run.should_stop(), run.config["rate"]) == (0, None, False, 2)
    assert not list(folder.iterdir())


def test_an_unknown_mode_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCADIA_MODE", "dryrun")
    with pytest.raises(ArcadiaError, match="online, offline or disabled"):
        arcadia.init()


def test_a_folder_that_cannot_be_written_is_named(folder: Path) -> None:
    (folder / "file").write_text("")
    with pytest.raises(ArcadiaError, match="ARCADIA_JOURNALS"):
        arcadia.init(directory=folder / "file")


def test_importing_the_package_needs_no_http_library() -> None:
    program = "run = arcadia.init(mode='disabled'); print('httpx' in sys.modules, 'numpy' in sys.modules)"
    assert scripts.run(program, Path("unused")).stdout.split() == ["False", "False"]
