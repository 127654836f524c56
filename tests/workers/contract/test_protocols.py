"""Tests for the descriptions of protocols for people and programs."""

import pytest
from pydantic import ValidationError

from arcadia_workers.contract.environment_families import ATARI, CLASSIC_CONTROL
from arcadia_workers.contract.protocols import PROTOCOLS, EvaluationProtocol, fitting_protocols
from arcadia_workers.contract.protocols import protocol as definitions
from arcadia_workers.contract.protocols.starts import Start, StartSetFile


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
def test_each_protocol_has_a_constant_with_its_name(protocol: EvaluationProtocol) -> None:
    assert getattr(definitions, protocol.name.replace("-", "_").upper()) is protocol
    assert protocol.title
    assert protocol.source
    assert protocol.sentence.endswith(".")


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
def test_the_description_contains_the_numbers(protocol: EvaluationProtocol) -> None:
    numbers = [protocol.cap_frames, *(protocol.noops or ()), protocol.episodes]
    for number in [number for number in numbers if number]:
        assert f"{number:,}" in protocol.sentence
    assert ("own points" in protocol.sentence) == protocol.own_points_only
    assert ("all 18 actions" in protocol.sentence) == protocol.full_action_set
    assert (f"{protocol.repeat_action_probability:g}." in protocol.sentence) == bool(protocol.repeat_action_probability)


def test_the_protocols_are_those_of_the_papers() -> None:
    described = {
        protocol.name: (protocol.episodes, protocol.noops, protocol.cap_frames, protocol.own_points_only)
        for protocol in PROTOCOLS.values()
    }
    assert described == {
        "no-op-5min": (30, (1, 30), 18_000, False),
        "no-op-30min": (30, (1, 30), 108_000, False),
        "sticky-30min": (100, (0, 0), 108_000, False),
        "human-starts": (100, None, 108_000, True),
        "agent-starts": (100, None, 108_000, True),
        "episodes": (30, None, None, False),
    }
    assert fitting_protocols(ATARI) == ["no-op-5min", "no-op-30min", "sticky-30min", "human-starts", "agent-starts"]
    assert fitting_protocols(CLASSIC_CONTROL) == ["episodes"]


def test_start_sets_are_identified_by_their_content() -> None:
    start = Start(seed=1, actions=((0, 3), (4, 2)), screen="0" * 64)
    points = StartSetFile(
        env="ALE/Pong-v5", player="human", source="somebody", emulator="ale-py 0.12.1", starts=(start,)
    )
    assert start.frames == 5
    assert StartSetFile.model_validate_json(points.model_dump_json()).sha256 == points.sha256
    assert points.model_copy(update={"player": "agent"}).sha256 != points.sha256


@pytest.mark.parametrize(
    "wrong",
    [{"seed": 2**31 - 1}, {"actions": []}, {"actions": [[18, 1]]}, {"actions": [[0, 0]]}, {"screen": "0" * 63}],
)
def test_a_start_point_that_no_emulator_can_reach_is_rejected(wrong: dict[str, object]) -> None:
    right = {"seed": 1, "actions": [[0, 1]], "screen": "0" * 64}
    assert Start.model_validate(right)
    with pytest.raises(ValidationError):
        Start.model_validate(right | wrong)
