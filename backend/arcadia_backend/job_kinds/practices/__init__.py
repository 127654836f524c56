"""Practices of reviewed agents: do they lose less often if they train on from their mistakes?"""
