"""Gorila: the paper's algorithm, which knows no Ray, and the crew that runs it in processes of a Ray cluster.

    train           starts Ray, has a crew work, saves
      crew            gives orders to roles, which carry them out in their processes, and replaces the lost
        role            a role's process and host, as the trainer sees them
        remote          the parameter server and the global replay memory over Ray
        gorila          actors, learners, bundles: algorithm 1
          parameter_server, replay_memory
      reporter        what the roles count, and what the run is told
      ray_cluster     Ray itself, with the program ray_watch that ends what is left of it

A module imports only modules below it. The walk of one loss, from the learner to the curve:

    gorila.Learner.learn          adds it to the WorkRecord of its order
    crew.WorkingRole.work         returns the record to the trainer, where Crew collects all records
    reporter.Reporter.tell        averages them over the gradients and calls run.metrics
"""

from workers.contract.config import GorilaConfig
from workers.trainer.methods import trained_networks
from workers.trainer.methods.gorila import train
from workers.trainer.methods.gorila.memory_needs import needs
from workers.trainer.methods.method import Method

GORILA = Method(config=GorilaConfig, train=train.train, needs=needs, load_network=trained_networks.load_action_values)
