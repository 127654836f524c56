"""Generate arcadia/_sync from arcadia/_async: python client/generate_sync.py [--check]."""

import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parent / "arcadia" / "_async"
TARGET = SOURCE.with_name("_sync")
NOTICE = "# Generated from arcadia/_async by client/generate_sync.py. Edit that instead.\n"
REPLACEMENTS = (
    (r"\bawait asyncio\.sleep\b", "time.sleep"),
    (r"\bimport asyncio\b", "import time"),
    (r"\basync (def|for|with)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\b_async\b", "_sync"),
    (r"\basynchronous\b", "synchronous"),
    (r"\bhttpx\.Async(\w+)", r"httpx.\1"),
    (r"\bAsync(\w+)", r"\1"),
    (r"\b__a(enter|exit|iter|next)__\b", r"__\1__"),
    (r"\ba(close|read|iter_bytes|iter_lines|iter_text)\b", r"\1"),
    (r"\bhandle_async_request\b", "handle_request"),
    (r"\bStopAsyncIteration\b", "StopIteration"),
    # A property cannot await, so only synchronous runs read their details at first use.
    (r"\braise NotLoadedError\(.*\)", "self.refresh()"),
)


def to_sync(source: str) -> str:
    """Return the synchronous version of a module."""
    for pattern, replacement in REPLACEMENTS:
        source = re.sub(pattern, replacement, source)
    return source


def tidy(source: str, file: Path) -> str:
    """Sort the imports, remove unused ones, and format the lines, whose length has changed."""
    for command in (["check", "--select", "I,F401", "--fix", "--quiet"], ["format", "--quiet"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(file), "-"]
        source = subprocess.run(ruff, input=source, capture_output=True, text=True, check=True).stdout
    return source


def main() -> int:
    """Write the generated modules, or with --check return 1 if they are outdated."""
    targets = {TARGET / file.name: file for file in sorted(SOURCE.glob("*.py"))}
    generated = {target: tidy(NOTICE + to_sync(file.read_text()), target) for target, file in targets.items()}
    if "--check" in sys.argv[1:]:
        outdated = [file.name for file, text in generated.items() if not file.exists() or file.read_text() != text]
        outdated += [file.name for file in TARGET.glob("*.py") if file not in generated]
        if outdated:
            print(f"Outdated: {', '.join(outdated)}. Run python client/generate_sync.py.", file=sys.stderr)
        return bool(outdated)
    TARGET.mkdir(exist_ok=True)
    for file, content in generated.items():
        file.write_text(content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
