"""Marks on the curves of a run: what happened at which step, and anomalies found in its metrics."""
