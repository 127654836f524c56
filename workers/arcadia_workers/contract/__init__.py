"""The contract between backend, worker and trainer. It imports none of them, and no torch.

config, presets, games  configurations of runs, the environments, and the networks that they can have
environment_families    capabilities of each environment family
game_lists              lists of games for suites
leash                   the program that ends a child process with the one that started it
layout                  names and paths of files in a run directory
settings                names of all settings, and the format of secrets
events                  events of a trainer, and requested changes
agents                  agent files
archives                the zip files of tracks and saliencies, and members of zip files
build                   the version and commit of a process
provenance              code, packages and host of an attempt
protocols               evaluation protocols
tracks, action_names    tracks and saliencies of recordings, and names of actions
published               numbers published in the papers
metrics                 names and titles of metrics
jobs                    requests to job processes
futures, review, practice  the documents of futures and calibrations, reviews and practices
live                    messages of live games
worker_api              requests and responses of the worker API
values                  types of values in JSON
"""
