"""The losses equal a literal transcription of the paper, and the preset learns and resumes."""

import pytest
import torch
from arcadia.plugins import METHODS, PLUGINS, PRESETS, load
from arcadia.plugins.training import TRAINERS, Categorical, NullRun, Rollout, compute_in

load(["arcadia-gae"])
T, N = 6, 3


def test_the_package_is_usable() -> None:
    assert PLUGINS["arcadia-gae"].problem is None
    assert METHODS["gae"].config is type(PRESETS["gae-cartpole"].config)


def made_rollout() -> Rollout:
    """Return a rollout in which one episode terminates, one is cut off and one continues."""
    random = torch.Generator().manual_seed(0)
    terminated, fresh = torch.zeros(2, T, N, dtype=torch.bool)
    terminated[1, 0] = fresh[2, 0] = True
    fresh[4, 1] = True  # a time limit after step 3
    return Rollout(
        states=torch.zeros(T, N, 4),
        actions=torch.randint(2, (T, N), generator=random),
        rewards=torch.randn(T, N, generator=random).masked_fill(fresh, 0),
        terminated=terminated,
        fresh=fresh,
        last_states=torch.zeros(N, 4),
        last_values=torch.randn(N, generator=random),
    )


def test_the_losses_equal_a_literal_transcription() -> None:
    from arcadia_gae import GaeConfig
    from arcadia_gae.trainer import losses

    config, rollout = GaeConfig(gamma=0.9, gae_lambda=0.7), made_rollout()
    logits, values = torch.randn(T, N, 2), torch.randn(T, N)
    policy_loss, value_loss, decisions = 0.0, 0.0, 0
    for i in range(N):
        following = torch.cat([values[1:, i], rollout.last_values[i : i + 1]])
        for t in range(T):
            if rollout.fresh[t, i]:
                continue
            advantage = torch.zeros(())
            for k in range(T - t):  # Â_t = Σ (γλ)^k δ_{t+k}, to the end of the episode
                if k > 0 and rollout.fresh[t + k, i]:
                    break
                over = rollout.terminated[t + k, i]
                delta = rollout.rewards[t + k, i] - values[t + k, i] + (0 if over else 0.9 * following[t + k])
                advantage = advantage + (0.9 * 0.7) ** k * delta
                if over:
                    break
            chosen = torch.log(torch.softmax(logits[t, i], 0)[rollout.actions[t, i]])
            policy_loss = policy_loss - chosen * advantage
            value_loss = value_loss + advantage**2
            decisions += 1

    found = losses(logits, values, Categorical(torch.Generator()), rollout, config)

    torch.testing.assert_close(found["train/policy_loss"], policy_loss / decisions)
    torch.testing.assert_close(found["train/value_loss"], value_loss / decisions)


def test_the_preset_learns() -> None:
    compute_in(1)  # On busy cores, several threads wait for each other.
    run = NullRun()
    config = PRESETS["gae-cartpole"].config.model_copy(update={"total_steps": 100_000})
    TRAINERS["gae"].train(config, run)
    returns = [episode_return for _, _, episode_return, _ in run.episodes[-50:]]
    assert sum(returns) / len(returns) > 100
    assert run.reported[-1]["train/advantage_deviation"] > 0


@pytest.mark.parametrize("more_steps", [0, 1_000])
def test_a_run_continues_from_its_last_checkpoint(more_steps: int) -> None:
    config = PRESETS["gae-cartpole"].config.model_copy(update={"total_steps": 1_000})
    first = NullRun()
    TRAINERS["gae"].train(config, first)
    saved = first.saved[-1]
    second = NullRun(restored=saved, step=saved.step)
    TRAINERS["gae"].train(config.model_copy(update={"total_steps": saved.step + more_steps}), second)
    assert second.saved[-1].step >= saved.step + more_steps
    same = [torch.equal(tensor, saved.tensors[name]) for name, tensor in second.saved[-1].tensors.items()]
    assert all(same) is (more_steps == 0)
