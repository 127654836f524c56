"""Generate the synchronous client, arcadia/_sync, from arcadia/_async: python client/generate_sync.py.

setup.py and the set-up of this repository call it, so it needs only the standard library.
"""

import re
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
    return NOTICE + source


def generate() -> None:
    """Write the modules that have changed, and remove those without a source."""
    TARGET.mkdir(exist_ok=True)
    modules = {file.name: to_sync(file.read_text("utf-8")) for file in SOURCE.glob("*.py")}
    for file in TARGET.glob("*.py"):
        if file.name not in modules:
            file.unlink()
    for name, content in modules.items():
        file = TARGET / name
        if not file.is_file() or file.read_text("utf-8") != content:
            file.write_text(content, "utf-8")


if __name__ == "__main__":
    generate()
