"""Documentation of the Python client: complete, and every example runs."""

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import arcadia
import pytest
from arcadia import Client

from arcadia_workers.contract.config import PaacConfig
from tests.client.conftest import TOKEN, WAIT_SECONDS
from tests.workers.trainer.evaluation import made_checkpoint

DOCUMENTS = Path(__file__).parents[2] / "docs" / "client"
CLASSES = (
    arcadia.Client,
    arcadia.Run,
    arcadia.Study,
    arcadia.Checkpoint,
    arcadia.Replay,
    arcadia.Evaluation,
    arcadia.Calibration,
    arcadia.Recording,
    arcadia.Report,
    arcadia.Project,
    arcadia.Metrics,
    arcadia.Figure,
    arcadia.Comparison,
)
EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
# Blocks every import of Arcadia.
WITHOUT_ARCADIA = "import sys; sys.modules.update(arcadia=None, backend=None, workers=None)\n"


def public_names(kind: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(kind) if not name.startswith("_")}


def examples(document: str) -> list[str]:
    """Return the Python examples of a document."""
    return EXAMPLE.findall((DOCUMENTS / document).read_text())


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_the_reference_lists_every_public_method(kind: type) -> None:
    words = set(re.findall(r"\w+", (DOCUMENTS / "python.md").read_text()))
    methods = {name for name in public_names(kind) if callable(getattr(kind, name))}
    assert methods - words == set()


def test_the_asynchronous_classes_have_the_same_names() -> None:
    for kind in (each for each in CLASSES if hasattr(arcadia, f"Async{each.__name__}")):
        other = getattr(arcadia, f"Async{kind.__name__}")
        assert {name.replace("aclose", "close") for name in public_names(other)} == public_names(kind)


@pytest.mark.parametrize("document", ["README.md", "python.md", "checkpoints.md"])
def test_examples_are_valid(document: str) -> None:
    found = examples(document)
    assert found
    for example in found:
        compile(example, document, "exec")


def run_program(program: str, folder: Path, **variables: str) -> str:
    """Run a program as a user does, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=2 * WAIT_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_checkpoint_plays_without_arcadia(tmp_path: Path) -> None:
    checkpoint = made_checkpoint.write(tmp_path / "run", PaacConfig(env="CartPole-v1"))
    (tmp_path / "run" / checkpoint).rename(tmp_path / "checkpoint.safetensors")
    (example,) = examples("checkpoints.md")
    printed = run_program(WITHOUT_ARCADIA + example, tmp_path)
    (score,) = re.findall(r"^Return: (\d+)$", printed, re.MULTILINE)
    assert 8 <= int(score) <= 500


@pytest.mark.nightly
@pytest.mark.parametrize("document", ["README.md", "python.md"])
def test_every_example_of_a_document_runs(document: str, client: Client, tmp_path: Path) -> None:
    printed = run_program("\n".join(examples(document)), tmp_path, ARCADIA_URL=client.url, ARCADIA_TOKEN=TOKEN)
    assert printed


def test_the_notebook_is_stored_without_outputs() -> None:
    cells = json.loads((DOCUMENTS / "notebook.ipynb").read_text())["cells"]
    assert [cell["id"] for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []


@pytest.mark.nightly
def test_the_notebook_runs(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setenv("ARCADIA_URL", client.url)
    monkeypatch.setenv("ARCADIA_TOKEN", TOKEN)
    notebook = nbformat.read(DOCUMENTS / "notebook.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=2 * WAIT_SECONDS, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = {cell.id: cell.outputs[-1].data for cell in notebook.cells if cell.cell_type == "code"}
    assert "<b>finished</b>" in shown["launch"]["text/html"]
    assert "<svg" in shown["figure"]["image/svg+xml"]
    assert shown["download"]["text/plain"].startswith("('run-")
    assert "<table>" in shown["compare"]["text/html"]
