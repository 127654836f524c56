"""Tests of `arcadia practice`, from the command line to the verdict."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from arcadia_workers.contract.config import A3cConfig
from arcadia_workers.contract.practice import PracticeDocument, verdict_of
from arcadia_workers.contract.protocols.document import EPSILON_GREEDY, GREEDY, SAMPLED, PlayedEpisode
from arcadia_workers.trainer import __main__ as trainer
from arcadia_workers.trainer.practice import arms, practicing
from arcadia_workers.trainer.practice.practicing import (
    FUTURES,
    difference_at_moments,
    difference_of_scores,
    probability_of,
)
from tests.workers.trainer.evaluation import made_checkpoint
from tests.workers.trainer.practice import weak_agent
from tests.workers.trainer.programs import practice as main
