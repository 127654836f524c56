"""Make the archive of examples from runs of a server: `python -m bench.examples 1-14 --url http://127.0.0.1:8000`.

The program writes a report about the runs, exports both, and deletes the report. It keeps the weights of each run's
best checkpoint with a replay of it, which it records if there is none. It also keeps all replays that have futures or a
review, with these, their practice and the checkpoint that played them. It omits other checkpoints, replays and points
above limits, and everything that names the machine. The file must not be larger than 25 MB.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from arcadia import Client, Replay, Run

from arcadia_backend.examples import EXAMPLES
from bench.example_archive import Limits, describe, prepare

MAX_BYTES = 25_000_000
TITLE = "Welcome to Arcadia: agents to look at"
# The environments in the order of the report. Others come after them.
NAMES = {
    "LunarLander-v3": "Lunar Lander",
    "ALE/Pong-v5": "Pong",
    "ALE/Breakout-v5": "Breakout",
    "Arcadia/Labyrinth-v0": "Labyrinth",
    "InvertedPendulum-v5": "An inverted pendulum",
    "CartPole-v1": "CartPole",
}
# Their replays are large, so only the best one is shown.
LARGE_REPLAYS = {"Arcadia/Labyrinth-v0"}
BEGINNING = """These agents were trained with Arcadia. They are in this installation with their curves, checkpoints,
replays, evaluations and logs. Everything in this report is drawn from them now: drag in a chart to zoom, and play the
videos.

- **Runs** lists the agents. Select several of them and press “Compare”.
- **A replay's page** shows what the agent expected and thought at each decision.
- **A review** shows at which decisions an agent lost, and videos of what would have happened otherwise.
- **Practice** trains an agent from its mistakes, and measures whether that helped.
- **Games** ranks their evaluations beside the scores of the papers.
"""
ENDING = """## Train your own

Press “Launch” and choose a preset. “PAAC learns CartPole in a minute” is the quickest one.

To remove the examples, filter the runs by the tag `example`, select all of them, archive and purge them. This report
can be deleted like any other. “Open examples” brings both back.
"""

Block = dict[str, Any]


def main() -> None:
    """Make the archive and print its size."""
    parser = argparse.ArgumentParser(prog="python -m bench.examples", description=__doc__)
    parser.add_argument("runs", nargs="+", help="numbers or names of the runs, such as 1-14")
    parser.add_argument("--url", help="address of the server")
    parser.add_argument("--out", type=Path, default=EXAMPLES, help="archive to write")
    parser.add_argument("--replays", type=int, default=Limits.replays, help="replays of each run that are kept")
    parser.add_argument("--points", type=int, default=Limits.points, help="points of each metric that are kept")
    given = parser.parse_args()
    with Client(given.url) as client, tempfile.TemporaryDirectory() as folder:
        runs = client.runs(*given.runs)
        for run in runs:
            record_best(run)
            film_mistakes(client, run)
        exported = export(client, runs, Path(folder) / "exported.arcadia")
        prepare(exported, given.out, Limits(replays=given.replays, points=given.points))
    print(describe(given.out))
    size = given.out.stat().st_size
    print(f"{given.out}: {size:,} bytes of at most {MAX_BYTES:,}")
    sys.exit(size > MAX_BYTES)


def record_best(run: Run) -> None:
    """Record the best checkpoint of a run if it has no replay."""
    if not any(checkpoint.is_available for checkpoint in run.checkpoints()):
        print(f"{run.name} has no checkpoint: its pages will disable what needs its agent")
    elif not replays_of_best(run):
        print(f"Recording the best checkpoint of {run.name}")
        run.record(checkpoint="best")


def film_mistakes(client: Client, run: Run) -> None:
    """Simulate the futures that "Show futures" plays at the mistakes of a run's reviews, unless they are stored."""
    for replay in run.replays():
        stored = [each for each in client.transport.get(f"/replays/{replay.id}/futures") if each["state"] == "done"]
        for review in client.transport.get(f"/replays/{replay.id}/reviews"):
            for wanted in futures_of_mistakes(review["document"]):
                key = {name: wanted[name] for name in ("decision", "first", "videos_of")}
                if not any(key.items() <= each.items() for each in stored):
                    print(f"Simulating {wanted['first'][0]} at decision {wanted['decision']} of replay {replay.id}")
                    simulate(client, replay, wanted)


def futures_of_mistakes(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the requests of the pages for the futures of both actions at each mistake of a review."""
    until = "outcome" if document["clip_rewards"] else "horizon"
    options = {"futures": 8, "horizon": document["horizon"], "until": until, "record_videos": True}
    for each in document["reviewed"]:
        if each["finding"] == "mistake":
            for action in (each["taken"], each["better"]):
                yield {"decision": each["decision"], "first": [action], "videos_of": "first", **options}


def simulate(client: Client, replay: Replay, wanted: Mapping[str, Any]) -> None:
    """Simulate futures of a replay, and wait for them."""
    made = client.transport.post(f"/replays/{replay.id}/futures", dict(wanted))
    while made["state"] in ("queued", "running"):
        made = client.transport.get(f"/futures/{made['id']}", wait="finished")


def replays_of_best(run: Run) -> list[Replay]:
    """Return the replays of a run's best checkpoint, or all of a run without checkpoints."""
    stored = [replay for replay in run.replays() if replay.file_id is not None]
    if not any(checkpoint.is_available for checkpoint in run.checkpoints()):
        return stored
    step = run.checkpoint("best").step
    return [replay for replay in stored if replay.step == step]


def export(client: Client, runs: Sequence[Run], path: Path) -> Path:
    """Export the runs with a report about them."""
    studied = {run.id: studied_replays(client, run) for run in runs}
    report = client.create_report(TITLE, blocks_of(runs, studied))
    try:
        check(client, report.blocks)
        return client.export_archive(
            *(run.id for run in runs), reports=[report.id], path=path, files="all", progress=False
        )
    finally:
        report.delete()


def check(client: Client, blocks: Sequence[Mapping[str, Any]]) -> None:
    """End with an error if a block has no content."""
    for block in blocks:
        content = client.transport.post("/reports/preview", {"block": dict(block)})
        if content["problem"] is not None or content["missing"] is not None:
            sys.exit(f"{block}: {content['problem'] or content['missing']}")


def blocks_of(runs: Sequence[Run], studied: Mapping[int, Sequence[Block]]) -> list[Block]:
    """Return the blocks of the report, with a section for each environment. `studied` has further blocks by run."""
    by_env: dict[str, list[Run]] = {env: [] for env in NAMES}
    for run in runs:
        by_env.setdefault(run.env, []).append(run)
    sections = [
        block
        for env, group in by_env.items()
        if group
        for block in joined(section(env, group), [block for run in group for block in studied[run.id]])
    ]
    return [text(BEGINNING), *sections, *evaluations(runs), text(ENDING)]


def joined(blocks: Sequence[Block], more: Sequence[Block]) -> list[Block]:
    """Return both lists of blocks. A replay that both show is shown once, with both captions."""
    captions = {block["replay"]: block["caption"] for block in more if block["kind"] == "replay"}
    shown = {block["replay"] for block in blocks if block["kind"] == "replay"}
    both = [
        {**block, "caption": f"{block['caption']} {captions[block['replay']]}"}
        if block.get("replay") in captions
        else block
        for block in blocks
    ]
    return both + [block for block in more if block["kind"] != "replay" or block["replay"] not in shown]


def section(env: str, runs: Sequence[Run]) -> list[Block]:
    """Return the blocks about one environment: curves, a table if there are several runs, and replays."""
    ids = ",".join(str(run.id) for run in runs)
    found: list[Block] = [text(f"## {name_of(env)}")]
    query, caption = f"runs={ids}&smoothing=0.8", f"Return per episode in {name_of(env)}."
    if len({run.algorithm for run in runs}) < len(runs):
        query, caption = f"{query}&group=seed", f"{caption} Runs that differ only in their seed are one line."
    found.append({"kind": "chart", "address": f"/api/v1/figures/curves?{query}", "caption": caption})
    if len(runs) > 1:
        columns = ["name", "method", "step", "best_return", "last_return"]
        caption = "The same runs. Select them on the page of runs to compare all their settings."
        found.append(
            {"kind": "table", "of": "runs", "numbers": [run.id for run in runs], "columns": columns, "caption": caption}
        )
    return [*found, *replays(runs)]


def replays(runs: Sequence[Run]) -> list[Block]:
    """Return the first and the best replay of the best run, or only the best one if they are large."""
    best = max(runs, key=lambda run: run.best_return or float("-inf"))
    found = [replay for replay in best.replays() if replay.file_id is not None]
    first = min(found, key=lambda replay: replay.step)
    top = max(replays_of_best(best), key=lambda replay: replay.episode_return)
    chosen = [top] if best.env in LARGE_REPLAYS else [first, top]
    captions = {replay.id: f"{best.name} after {replay.step:,} steps." for replay in chosen}
    return [{"kind": "replay", "replay": number, "caption": caption} for number, caption in captions.items()]


def studied_replays(client: Client, run: Run) -> list[Block]:
    """Return the reviews and the practice of a run's replays, and the replays with other futures."""
    found: list[Block] = []
    for replay in run.replays():
        caption = "Decisions at which this agent lost. Open the replay to watch what would have been better."
        reviews = client.transport.get(f"/replays/{replay.id}/reviews")
        found += [{"kind": "review", "replay": replay.id, "caption": caption} for _ in reviews]
        practices = [each for review in reviews for each in client.transport.get(f"/reviews/{review['id']}/practices")]
        caption = "What training from the mistakes of its reviews changed."
        found += [
            {"kind": "practice", "replay": replay.id, "caption": caption} for each in practices if each["document"]
        ]
        if not reviews and client.transport.get(f"/replays/{replay.id}/futures"):
            caption = "Open this replay and choose “What if…” to see how it could have continued."
            found.append({"kind": "replay", "replay": replay.id, "caption": caption})
    return found


def evaluations(runs: Sequence[Run]) -> list[Block]:
    """Return a table of all evaluations, and a chart of the scores of the run with the most evaluations."""
    counts = {run.id: sum(each.state == "done" for each in run.evaluations()) for run in runs}
    evaluated = [run_id for run_id, count in counts.items() if count]
    if not evaluated:
        return []
    most = max(evaluated, key=lambda run_id: counts[run_id])
    return [
        text("## Evaluations\n\nScores by the protocols of the papers, with 95 % intervals."),
        {"kind": "chart", "address": f"/api/v1/figures/evaluations?runs={most}", "caption": "Scores during training."},
        {"kind": "table", "of": "evaluations", "numbers": evaluated, "caption": "All evaluations."},
    ]


def name_of(env: str) -> str:
    """Return the name of an environment for use in a sentence."""
    return NAMES.get(env, env.rpartition("/")[2].rpartition("-v")[0])


def text(markdown: str) -> Block:
    """Return a block of text."""
    return {"kind": "text", "markdown": markdown}


if __name__ == "__main__":
    main()
