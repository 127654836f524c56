"""What the backend, the worker and the trainer must agree on; imports none of them, and no torch.

config, presets, games  what a run may be configured as
environment_families    what the environments of a family support
spaces                  the actions of an environment
layout                  where files lie in a run directory
events                  what a trainer reports
protocols               how an agent is evaluated
tracks, action_names    what a recording tells beside its video
published               the papers' numbers
metrics                 what its metrics are called
jobs                    what a job asks of its process
live                    what those who play and watch a live game say to each other
worker_api              what a worker and the backend say to each other
settings_in_common      which settings there are, and what a token looks like
"""
