"""The contract between backend, worker and trainer. It imports none of them, and no torch.

config, presets, games  configurations of runs, and the environments
environment_families    capabilities of each environment family
spaces                  action spaces
layout                  file names in a run directory
events                  events of a trainer
agents                  agent files
members                 members of zip files
networks                architectures of the convolutional networks
checkpoint_metadata     metadata of checkpoint files
provenance              code, packages and host of an attempt
protocols               evaluation protocols
tracks, action_names    tracks of recordings, and names of actions
published               numbers published in the papers
metrics                 names and titles of metrics
earlier_names           names of earlier versions in files
jobs                    requests to job processes
live, orders            messages of live games
worker_api              requests and responses of the worker API
settings_in_common      names of all settings, and the format of secrets
"""
