"""Tests of policies against the definitions of their distributions."""

import math

import pytest
import torch

from arcadia_workers.contract.action_names import ActionSpace, Continuous, Discrete
from arcadia_workers.trainer.learning.policies import Categorical, Gaussian, RolloutSampler, policy_over


def test_a_categorical_policy_draws_actions_with_their_probabilities() -> None:
    probabilities = torch.tensor([0.5, 0.3, 0.15, 0.05])
    policy = Categorical(torch.Generator().manual_seed(4))
    drawn = policy.sample(probabilities.log().expand(40_000, 4))
    frequencies = torch.bincount(drawn, minlength=4) / 40_000
    assert torch.allclose(frequencies, probabilities, atol=4 * math.sqrt(0.25 / 40_000))


@pytest.mark.parametrize("temperature", [0.5, 3.0])
def test_a_temperature_divides_the_logits(temperature: float) -> None:
    logits = torch.tensor([1.0, 0.2, -0.5, -2.0])
    drawn = Categorical(torch.Generator().manual_seed(4)).sample(logits.expand(40_000, 4), temperature)
    exponentials = [math.exp(each / temperature) for each in logits.tolist()]
    literal = torch.tensor(exponentials) / sum(exponentials)
    frequencies = torch.bincount(drawn, minlength=4) / 40_000
    assert torch.allclose(frequencies, literal, atol=4 * math.sqrt(0.25 / 40_000))
    # Equal random numbers choose equal actions from divided logits.
    same = Categorical(torch.Generator().manual_seed(4)).sample(logits.expand(40_000, 4) / temperature)
    assert (same == drawn).float().mean() > 0.9999


def test_a_temperature_multiplies_the_variance_of_a_gaussian() -> None:
    numbers = torch.tensor([1.5, -2.0, 0.7]).expand(40_000, 3)
    drawn = Gaussian(torch.Generator().manual_seed(4), 2).sample(numbers, 4.0)
    variance = 4 * math.log(1 + math.exp(0.7))
    torch.testing.assert_close(drawn.mean(0), torch.tensor([1.5, -2.0]), rtol=0, atol=5 * math.sqrt(variance / 40_000))
    torch.testing.assert_close(drawn.var(0), torch.full((2,), variance), rtol=0.05, atol=0)


def test_a_categorical_policys_log_probability_and_entropy_follow_its_softmax() -> None:
    numbers = torch.tensor([[0.3, -1.2, 2.0], [1.0, 1.0, 1.0]])
    log_chosen, entropy = Categorical(torch.Generator()).judge(numbers, torch.tensor([2, 0]))
    for row, action in ((0, 2), (1, 0)):
        exponentials = [math.exp(number) for number in numbers[row].tolist()]
        pi = [each / sum(exponentials) for each in exponentials]
        assert log_chosen[row].item() == pytest.approx(math.log(pi[action]), rel=1e-5)
        assert entropy[row].item() == pytest.approx(-sum(p * math.log(p) for p in pi), rel=1e-5)


def test_a_gaussian_policy_draws_around_its_mean_with_one_variance_for_all() -> None:
    raw = 0.7
    numbers = torch.tensor([1.5, -2.0, raw]).expand(40_000, 3)
    drawn = Gaussian(torch.Generator().manual_seed(4), 2).sample(numbers)
    variance = math.log(1 + math.exp(raw))
    torch.testing.assert_close(drawn.mean(0), torch.tensor([1.5, -2.0]), rtol=0, atol=5 * math.sqrt(variance / 40_000))
    torch.testing.assert_close(drawn.var(0), torch.full((2,), variance), rtol=0.05, atol=0)
    assert abs(torch.corrcoef(drawn.t())[0, 1]) < 0.03


def test_a_gaussian_policys_log_probability_and_entropy_equal_those_of_torchs_normal() -> None:
    numbers, actions = torch.randn(4, 3), torch.randn(4, 2)
    log_density, entropy = Gaussian(torch.Generator(), 2).judge(numbers, actions)
    deviation = torch.log(1 + numbers[:, 2:].exp()).sqrt().expand(4, 2)
    theirs = torch.distributions.Normal(numbers[:, :2], deviation)
    torch.testing.assert_close(log_density, theirs.log_prob(actions).sum(-1))
    torch.testing.assert_close(entropy, theirs.entropy().sum(-1))


def test_a_gaussian_policy_may_have_a_variance_for_each_dimension() -> None:
    numbers, actions = torch.randn(4, 4), torch.randn(4, 2)
    policy = Gaussian(torch.Generator().manual_seed(4), 2)
    log_density, entropy = policy.judge(numbers, actions)
    deviation = torch.log(1 + numbers[:, 2:].exp()).sqrt()
    theirs = torch.distributions.Normal(numbers[:, :2], deviation)
    torch.testing.assert_close(log_density, theirs.log_prob(actions).sum(-1))
    torch.testing.assert_close(entropy, theirs.entropy().sum(-1))
    drawn = policy.sample(numbers[:1].expand(40_000, 4))
    torch.testing.assert_close(drawn.std(0), deviation[0], rtol=0.02, atol=0)


@pytest.mark.parametrize("actions", [Discrete(3), Continuous((-1.0,) * 2, (1.0,) * 2)])
def test_the_actions_of_a_rollout_do_not_depend_on_the_order_of_its_rows(actions: ActionSpace) -> None:
    numbers = torch.randn(6, 3)

    def drawn(parts: list[slice]) -> list[list[float]]:
        sample = RolloutSampler(actions, seed=4, device=torch.device("cpu"))
        for _ in range(2):  # a second rollout has other random numbers
            sample.begin(6)
            chosen = {part.start: sample(numbers[part], part) for part in parts}
        return torch.cat([chosen[start] for start in sorted(chosen)]).tolist()

    assert drawn([slice(0, 6)]) == drawn([slice(4, 6), slice(0, 4)])


def test_the_actions_of_a_rollout_are_drawn_from_the_policy() -> None:
    probabilities = torch.tensor([0.5, 0.3, 0.15, 0.05])
    sample = RolloutSampler(Discrete(4), seed=4, device=torch.device("cpu"))

    sample.begin(40_000)
    logits = probabilities.log().expand(20_000, 4)
    drawn = torch.cat([sample(logits, rows) for rows in (slice(20_000), slice(20_000, 40_000))])

    frequencies = torch.bincount(drawn, minlength=4) / 40_000
    assert torch.allclose(frequencies, probabilities, atol=4 * math.sqrt(0.25 / 40_000))


def test_the_policy_fits_the_actions() -> None:
    random = torch.Generator()
    assert isinstance(policy_over(Discrete(3), random), Categorical)
    assert isinstance(policy_over(Continuous((-1.0,), (1.0,)), random), Gaussian)
