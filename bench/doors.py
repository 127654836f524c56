"""Walk all routes of the API with real bodies as each kind of caller, and count unexpected answers.

`python -m bench.doors --json` prints the numbers of docs/results/doors.md.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from bench.raw_values import add_csv_option, write_rows
from tests.accounts.lab import open_lab
from tests.accounts.walk import Step, walk

OUTCOMES = ("done", "sign_in", "no_right", "hidden", "other")


def outcome_of(step: Step) -> str:
    """Return how the server answered."""
    if step.status < 400:
        return "done"
    return {401: "sign_in", 403: "no_right", 404: "hidden"}.get(step.status, "other")


def main() -> None:
    """Walk, and print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_csv_option(parser)
    options = parser.parse_args()
    began = time.monotonic()
    counts: dict[str, Counter[str]] = {}
    unexpected: list[Step] = []
    with tempfile.TemporaryDirectory() as folder, open_lab(Path(folder)) as lab:
        for step in walk(lab, lab.callers):
            counts.setdefault(step.caller, Counter())[outcome_of(step)] += 1
            unexpected += [step] if step.problems else []
    for step in unexpected:
        print(f"{step.door} as {step.caller} ({step.status}): {'; '.join(step.problems)}", file=sys.stderr)
    write_rows(
        options.csv, [{"caller": name, **{each: found[each] for each in OUTCOMES}} for name, found in counts.items()]
    )
    total = sum(sum(each.values()) for each in counts.values())
    if options.json:
        numbers = {"requests": total, "unexpected": len(unexpected), "seconds": round(time.monotonic() - began)}
        print(json.dumps({**numbers, "callers": {name: dict(each) for name, each in counts.items()}}))
        return
    print("| caller | " + " | ".join(OUTCOMES) + " |")
    print("| --- |" + " ---: |" * len(OUTCOMES))
    for name, each in counts.items():
        print(f"| {name} | " + " | ".join(str(each[outcome]) for outcome in OUTCOMES) + " |")
    print(f"\n{total:,} requests, {len(unexpected)} unexpected answers")


if __name__ == "__main__":
    main()
