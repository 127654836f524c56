"""README.md of an agent file: the model card, in the layout of the Hugging Face Hub's model repositories."""

import json
from collections.abc import Iterator, Sequence
from statistics import pstdev

from workers.contract.agents.document import CONFIG, CURVE, ONNX, REPLAY, WEIGHTS, AgentDocument
from workers.contract.protocols.document import EvaluationDocument

# Packages that play.py needs besides torch and numpy, by the family of environments.
PACKAGES = {"atari": "gymnasium ale-py", "box2d": '"gymnasium[box2d]"', "mujoco": '"gymnasium[mujoco]"'}


def to_card(document: AgentDocument, family: str, members: Sequence[str]) -> str:
    """Return the model card. `members` are the other files of the agent file."""
    return "\n".join([*_front_matter(document), "", *_text(document, family, members), ""])


def _front_matter(document: AgentDocument) -> Iterator[str]:
    """Yield the lines of metadata. JSON texts are YAML texts, too."""
    env, task = json.dumps(document.environment.id), "reinforcement-learning"
    tags = [task, "deep-reinforcement-learning", "arcadia", document.method.algorithm, document.environment.id]
    yield from ("---", "library_name: arcadia", f"pipeline_tag: {task}", "tags:")
    yield from (f"- {json.dumps(tag)}" for tag in tags)
    if document.evaluations:
        yield from ("model-index:", f"- name: {json.dumps(document.name)}", "  results:")
    for evaluation in document.evaluations:
        yield from ("  - task:", f"      type: {task}", f"      name: {task}")
        yield from ("    dataset:", f"      name: {env}", f"      type: {env}", "    metrics:")
        yield from ("    - type: mean_reward", f"      value: {json.dumps(_mean_and_deviation(evaluation))}")
        yield from (f"      name: {json.dumps(f'mean_reward, {evaluation.protocol}')}", "      verified: false")
    yield "---"


def _text(document: AgentDocument, family: str, members: Sequence[str]) -> Iterator[str]:
    method, game = document.method.title, document.environment.title
    yield f"# {method} plays {game}"
    yield ""
    yield (
        f"An agent for `{document.environment.id}`, trained by {method} for {document.step:,} steps "
        f"({document.frames:,} frames) with Arcadia {document.arcadia_version}. It is the checkpoint "
        f"`{document.checkpoint_sha256[:12]}` of the run {_plain(document.name)}."
    )
    if REPLAY in members:
        yield from ("", f'<video src="{REPLAY}" controls width="480"></video>')
    yield from _evaluations(document.evaluations)
    if CURVE in members:
        yield from ("", "## Training", "", f"![Mean return of training episodes over frames]({CURVE})")
    yield from _usage(document, family, members)


def _evaluations(evaluations: Sequence[EvaluationDocument]) -> Iterator[str]:
    yield from ("", "## Evaluations", "")
    if not evaluations:
        yield "This checkpoint was not evaluated."
        return
    yield "| protocol | acting | episodes | mean | 95 % interval | median | human-normalized | seed |"
    yield "| --- | --- | ---: | ---: | --- | ---: | ---: | ---: |"
    for each in evaluations:
        interval = "–" if each.interval is None else f"{each.interval[0]:.6g} to {each.interval[1]:.6g}"
        human = "–" if each.human_normalized is None else f"{each.human_normalized:.1f} %"
        yield (
            f"| {each.protocol} | {each.acting} | {len(each.scores)} | {each.mean:.6g} | {interval} "
            f"| {each.median:.6g} | {human} | {each.seed} |"
        )
    for sentence in dict.fromkeys(sentence for each in evaluations for sentence in each.unlike_training):
        yield from ("", sentence)


def _usage(document: AgentDocument, family: str, members: Sequence[str]) -> Iterator[str]:
    yield from ("", "## Play it", "", "```sh")
    yield from (
        f"pip install torch numpy {PACKAGES.get(family, 'gymnasium')}",
        "python play.py --episodes 10 --seed 1",
        "```",
        "",
    )
    yield "The same protocol, seed and acting give the same scores as an evaluation in Arcadia."
    if document.environment.id.startswith("Arcadia/"):
        yield "The environment is one of Arcadia, so the package arcadia must be installed, too."
    yield from ("", f"- `{WEIGHTS}`: the weights, by the names that `agent.json` describes")
    if ONNX in members:
        yield f"- `{ONNX}`: the network for ONNX runtimes. An LSTM's state is an input and an output."
    yield f"- `{CONFIG}`: the configuration of the training"
    yield "- `agent.json`: environment, preprocessing, actions, network, protocols and evaluations"


def _mean_and_deviation(evaluation: EvaluationDocument) -> str:
    """Return the mean and the standard deviation, as the Hub's leaderboards read them."""
    return f"{evaluation.mean:.2f} +/- {pstdev(evaluation.scores):.2f}"


def _plain(name: str) -> str:
    """Return a name as Markdown that shows it unchanged."""
    return f"`{name.replace('`', ' ')}`"
