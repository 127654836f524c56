"""agent.json and README.md of an agent file: the network's shape, the card and the curve."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from statistics import pstdev
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from arcadia_workers.contract.agents.weights import Weights
from arcadia_workers.contract.archives import ManifestHeading, Member
from arcadia_workers.contract.config import Activation, TrainingConfig
from arcadia_workers.contract.events import Sha256
from arcadia_workers.contract.games import ARCHITECTURES
from arcadia_workers.contract.protocols.document import Acting, EvaluationDocument
from arcadia_workers.contract.values import Count, ShortText

# Every environment with pixels shows squares of this side.
SIDE = 84
# As in ReadingsFilter (workers/arcadia_workers/trainer/networks/bodies.py).
FILTER_LIMIT, FILTER_EPSILON = 5.0, 1e-8


class NetworkShape(BaseModel):
    """A network of Arcadia: trunks of layers, an optional LSTM after each, and heads."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["policy", "values"]
    # The names of the trunks. With two, the first serves the policy and the second the value.
    trunks: list[str]
    # The stride of each convolution. Empty if the trunks read vectors.
    strides: list[Count]
    # The number of hidden layers that read vectors.
    layers: Count
    activation: Activation
    lstm_units: Count
    dueling: bool
    observation_shape: list[Count]
    # Rows of the head: the actions, or the means of a continuous action and the variance.
    outputs: Count
    # Whether each continuous action has a standard deviation that does not depend on the state.
    deviations: bool
    # Whether readings are normalized by their mean and variance, and cut at FILTER_LIMIT deviations.
    filtered: bool

    def weight_names(self) -> Iterator[str]:
        """Yield the names of all weights."""
        of_trunk = [f"convolutions.{i}" for i, _ in enumerate(self.strides)] + ["hidden"]
        if not self.strides:
            of_trunk = [f"layers.{2 * i}" for i in range(self.layers)]
        layers = [f"{trunk}.{layer}" for trunk in self.trunks for layer in of_trunk]
        if self.filtered:
            yield from (f"{trunk}.filter.{part}" for trunk in self.trunks for part in ("mean", "variance", "count"))
        if self.deviations:
            yield "policy.log_deviation"
        heads = ["policy", "value"] if self.kind == "policy" else ["values"]
        heads += ["advantages"] if self.dueling else []
        yield from (f"{layer}.{part}" for layer in [*layers, *heads] for part in ("weight", "bias"))
        if self.lstm_units:
            parts = ("weight_ih", "weight_hh", "bias")
            yield from (f"lstms.{i}.{part}" for i, _ in enumerate(self.trunks) for part in parts)


def shape_of(config: TrainingConfig, network: Mapping[str, Weights]) -> NetworkShape | None:
    """Return the shape of a network with these weights, or None if it is not one of Arcadia's, but a plug-in's."""
    head = next((name for name in ("policy", "values") if f"{name}.weight" in network), None)
    trunks = sorted({".".join(name.split(".")[:2]) for name in network if name.startswith("bodies.")}) or ["body"]
    convolutions, _hidden = ARCHITECTURES.get(config.resolved_network, ((), 0))
    first = network.get(f"{trunks[0]}.convolutions.0.weight" if convolutions else f"{trunks[0]}.layers.0.weight")
    if head is None or first is None or len(first.shape) not in (2, 4):
        return None
    recurrent = network.get("lstms.0.weight_hh")
    outputs = network.get("advantages.weight", network[f"{head}.weight"])
    shape = NetworkShape(
        kind="policy" if head == "policy" else "values",
        trunks=trunks,
        strides=[stride for _, _, stride in convolutions],
        layers=0 if convolutions else _count_layers(network, trunks[0]),
        activation="relu" if convolutions else config.activation,
        lstm_units=recurrent.shape[-1] if recurrent else 0,
        dueling="advantages.weight" in network,
        observation_shape=[first.shape[1], SIDE, SIDE] if convolutions else [first.shape[1]],
        outputs=outputs.shape[0],
        deviations="policy.log_deviation" in network,
        filtered=f"{trunks[0]}.filter.mean" in network,
    )
    return shape if set(shape.weight_names()) == network.keys() else None


def _count_layers(network: Mapping[str, Weights], trunk: str) -> int:
    return sum(name.startswith(f"{trunk}.layers.") and name.endswith(".weight") for name in network)


VERSION = 1
SUFFIX = ".agent.zip"
MANIFEST, WEIGHTS, ONNX, CARD = "agent.json", "weights.safetensors", "agent.onnx", "README.md"
CONFIG, CURVE, REPLAY, PLAYER = "config.json", "curve.svg", "replay.mp4", "play.py"
# Every member of an agent file has one of these names.
MEMBER = "|".join(map(re.escape, (MANIFEST, WEIGHTS, ONNX, CARD, CONFIG, CURVE, REPLAY, PLAYER)))
MAX_EVALUATIONS = 100


class TrainingMethod(BaseModel):
    """The method that trained an agent."""

    algorithm: ShortText
    title: ShortText


class PlayedEnvironment(BaseModel):
    """The environment that an agent plays, and how its observations and actions are made."""

    id: ShortText
    title: ShortText
    rom: ShortText | None = Field(description="Name of an Atari game's ROM in ale-py.")
    pixels: bool
    frames_per_step: Count
    action_set: ShortText | None = Field(description="Of Atari games: minimal or full.")
    module: ShortText | None = Field(
        default=None, description="Module of a plug-in that registers the environment with gymnasium."
    )
    action_names: list[ShortText] = Field(description="Empty if the emulator names them.")


class AgentHeading(ManifestHeading):
    """The part of agent.json that every version has."""

    format: Literal["arcadia-agent"]


class AgentDocument(AgentHeading):
    """The whole of agent.json. Fields of a newer version are ignored."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    name: Annotated[str, Field(max_length=200)]
    method: TrainingMethod
    step: Count
    frames: Count
    checkpoint_sha256: Sha256
    environment: PlayedEnvironment
    network: NetworkShape | None = Field(description="Null for the network of a plug-in, which has to be installed.")
    acting: Acting = Field(description="How the method's paper chooses actions in an evaluation.")
    protocols: list[dict[str, Any]] = Field(description="Protocols that play.py knows. The first is the default.")
    evaluations: Annotated[list[EvaluationDocument], Field(max_length=MAX_EVALUATIONS)]
    config: dict[str, Any] = Field(description="The configuration of the training.")
    versions: dict[str, str] = Field(description="Versions of the packages that trained it.")
    contents: Annotated[list[Member], Field(max_length=20)]


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


WIDTH, HEIGHT = 720, 320
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 32, 48
TICKS = 4
# More points would not be visible at this width.
MAX_POINTS = 200


def to_svg(points: Sequence[tuple[float, float]], title: str) -> str:
    """Draw the mean return of training episodes over emulator frames."""
    lowest, highest = min(y for _, y in points), max(y for _, y in points)
    most, span = max(x for x, _ in points) or 1, (highest - lowest) or 1

    def place(x: float, y: float) -> tuple[float, float]:
        across = LEFT + x / most * (WIDTH - LEFT - RIGHT)
        return across, HEIGHT - BOTTOM - (y - lowest) / span * (HEIGHT - TOP - BOTTOM)

    parts = [_svg_text(LEFT, 18, title, "start"), _svg_text((LEFT + WIDTH) / 2, HEIGHT - 8, "frames", "middle")]
    for tick in range(TICKS + 1):
        x, y = place(most * tick / TICKS, lowest + span * tick / TICKS)
        parts.append(_svg_text(x, HEIGHT - BOTTOM + 18, f"{most * tick / TICKS:,.0f}", "middle"))
        parts.append(_svg_text(LEFT - 8, y + 4, f"{lowest + span * tick / TICKS:.4g}", "end"))
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#8888" />')
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in points))
    parts.append(f'<polyline points="{line}" fill="none" stroke="#1c7ed6" stroke-width="2" />')
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    background = '<rect width="100%" height="100%" fill="#fff" />'
    font = 'font-family="sans-serif" font-size="13" fill="#333"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>{background}{"".join(parts)}</svg>\n'


def _svg_text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
