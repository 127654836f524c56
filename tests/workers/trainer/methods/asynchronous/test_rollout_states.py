"""Tests that the states of a rollout have the format and layout that the network reads."""

import pytest
import torch

from arcadia_workers.contract.games import ARCHITECTURES
from arcadia_workers.trainer.environments.environments import Observations
from arcadia_workers.trainer.methods.asynchronous.shared_state import RolloutStates
from arcadia_workers.trainer.networks.bodies import PixelBody, VectorBody

STEPS = 3


def observations(shape: tuple[int, ...]) -> list[Observations]:
    made = torch.randint(256, (2 * STEPS, 1, *shape), generator=torch.Generator().manual_seed(1))
    kind = torch.uint8 if len(shape) == 3 else torch.float32
    return [observation.to(kind).numpy() for observation in made]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
@pytest.mark.parametrize("shape", [(4, 84, 84), (3, 84, 84), (5,)], ids=["gray", "colored", "readings"])
def test_states_equal_those_prepared_by_the_network(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    body = PixelBody(shape, *ARCHITECTURES["nips"]) if len(shape) == 3 else VectorBody(shape, hidden=8)
    prepare = body.to(dtype).prepare
    seen = observations(shape)
    states = RolloutStates(prepare, seen[0], STEPS)
    for first in (0, 2):  # the second rollout has other states
        states.begin(seen[first])
        for step in range(STEPS):
            assert torch.equal(states.now, prepare(torch.from_numpy(seen[first + step])))
            assert states.now.stride() == prepare(torch.from_numpy(seen[0])).stride()
            states.move_on(seen[first + step + 1])
        wanted = torch.cat([prepare(torch.from_numpy(raw)) for raw in seen[first : first + STEPS + 1]])
        assert torch.equal(states.all, wanted)
        assert torch.equal(states.acted_in, wanted[:-1])
