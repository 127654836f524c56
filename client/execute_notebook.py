"""Run docs/client/notebook.ipynb and store its outputs for code hosts: python client/execute_notebook.py [--check].

It runs against the server of ARCADIA_URL, which needs a worker. With --check, only see whether the stored outputs are
of the current code.
"""

import hashlib
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

DOCUMENT = Path(__file__).parents[1] / "docs" / "client" / "notebook.ipynb"
MAX_BYTES = 300_000
RUN_SECONDS = 600
# The metadata of the notebook that says which code its outputs are of.
HASH = "arcadia_code_sha256"
# A code host draws the image instead, which is smaller.
LEFT_OUT = "application/vnd.plotly.v1+json"
FOLDERS = re.compile(r"/(home|root|tmp|opt|usr|Users)/|[A-Z]:\\\\")

Notebook = dict[str, Any]


def code_cells(notebook: Notebook) -> list[dict[str, Any]]:
    """Return the cells with code."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def hash_code(notebook: Notebook) -> str:
    """Return the hash of the code."""
    code = "\n\n".join("".join(cell["source"]) for cell in code_cells(notebook))
    return hashlib.sha256(code.encode()).hexdigest()


def execute() -> Notebook:
    """Return the notebook with new outputs."""
    import nbformat
    from nbclient import NotebookClient

    node = nbformat.read(DOCUMENT, as_version=4)  # type: ignore[no-untyped-call]
    metadata = dict(node.metadata)
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        NotebookClient(node, timeout=RUN_SECONDS, record_timing=False, resources=resources).execute()
    executed: Notebook = json.loads(nbformat.writes(node))  # type: ignore[no-untyped-call]
    for cell in code_cells(executed):
        for output in cell["outputs"]:
            output.get("data", {}).pop(LEFT_OUT, None)
    # Running the notebook adds the version of this machine's Python.
    return {**executed, "metadata": {**metadata, HASH: hash_code(executed)}}


def problems(notebook: Notebook, size: int) -> list[str]:
    """Return why the stored outputs should not be published."""
    outputs = json.dumps([cell["outputs"] for cell in code_cells(notebook)])
    found = {
        "The outputs are of other code.": notebook["metadata"].get(HASH) != hash_code(notebook),
        "A cell has no output.": not all(cell["outputs"] for cell in code_cells(notebook)),
        "The outputs name a folder of a machine.": FOLDERS.search(outputs) is not None,
        f"The file is larger than {MAX_BYTES:,} bytes.": size > MAX_BYTES,
    }
    return [problem for problem, exists in found.items() if exists]


def main() -> int:
    """Store new outputs, or with --check return 1 if the stored ones have a problem."""
    if "--check" not in sys.argv[1:]:
        DOCUMENT.write_text(json.dumps(execute(), indent=1, ensure_ascii=False) + "\n")
    found = problems(json.loads(DOCUMENT.read_text()), DOCUMENT.stat().st_size)
    if found:
        print(*found, "Run python client/execute_notebook.py.", sep="\n", file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
