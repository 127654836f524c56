"""Gorila: how a replica is kept in step with the parameter server."""

import numpy as np
import pytest
import torch

from tests.workers.trainer.local_server import LocalServer, server_for
from workers.trainer import own_environment
from workers.trainer.algorithms.gorila import build
from workers.trainer.config import GorilaConfig
from workers.trainer.gorila.replica import Replica
from workers.trainer.gorila.report import Report

RATE = 0.5


class Case:
    """A replica of CartPole's network, its server of two shards, and what the server had at first."""

    def __init__(self) -> None:
        config = GorilaConfig(env="CartPole-v1", optimizer="sgd", num_shards=2)
        torch.manual_seed(1)
        network = build(config, *own_environment.interface(config))
        self.server: LocalServer = server_for(config, network)
        self.first = self.server.state.values
        self.replica = Replica(build(config, *own_environment.interface(config)), config.num_shards)

    def push(self) -> None:
        """Lower every parameter by RATE."""
        self.server.push(np.ones_like(self.first), self.replica.versions, RATE)

    def has(self, pushes: int) -> None:
        """Check that the replica holds what the server had after so many."""
        assert self.replica.parameters.values.numpy() == pytest.approx(self.first - RATE * pushes, abs=1e-6)
        assert (self.replica.versions, self.replica.updates) == ([pushes, pushes], pushes)


def test_without_asking_an_update_takes_what_the_server_has_then() -> None:
    case = Case()
    case.push()
    case.replica.update(case.server, Report())
    case.has(pushes=1)


def test_an_update_takes_what_was_asked_for_and_the_next_one_what_came_since() -> None:
    case = Case()
    case.replica.update(case.server, Report())
    case.push()
    case.replica.ask(case.server)
    case.push()
    case.replica.update(case.server, Report())
    case.has(pushes=1)
    case.replica.update(case.server, Report())
    case.has(pushes=2)


def test_what_it_has_already_is_not_sent_again() -> None:
    case, first, second = Case(), Report(), Report()
    case.replica.update(case.server, first)
    case.replica.update(case.server, second)
    assert (first.bytes_pulled, second.bytes_pulled) == (case.first.nbytes, 0)
