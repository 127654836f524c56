"""Gorila: the paper's algorithm, independent of Ray, and the crew that runs it in processes of a Ray cluster.

    train           starts Ray and a crew, saves checkpoints
      crew            gives orders to the roles in their processes, and replaces lost roles
        remote          the parameter server and the global replay memory over Ray, and roles with their hosts
        gorila          actors, learners, bundles: algorithm 1
          parameter_server, replay_memory
      reporter        counts of the roles, and reports to the run
      ray_cluster     Ray itself, with the program ray_watch that cleans up after it

A module imports only modules below it. The path of a loss from the learner to the curve:

    gorila.GorilaLearner.learn    adds it to the WorkRecord of its order
    crew.WorkingRole.work         returns the record to the trainer, where GorilaCrew collects all records
    reporter.Reporter.report      averages them over the gradients and calls run.metrics
"""

from arcadia_workers.contract.config import GorilaConfig
from arcadia_workers.trainer.methods import trainer
from arcadia_workers.trainer.methods.gorila import train
from arcadia_workers.trainer.methods.gorila.memory_needs import needs
from arcadia_workers.trainer.methods.trainer import Trainer

GORILA = Trainer(config=GorilaConfig, train=train.train, needs=needs, load_network=trainer.load_action_values)
