"""Saliency of replays: computed by a job on request, stored and deleted with the replay."""
