"""Saliency of replays: computed by a job on request, kept beside the replay, and removed with it."""
