"""Arcadia beside MLflow and Trackio on one machine: `python -m bench.peers --venv DIR`."""
