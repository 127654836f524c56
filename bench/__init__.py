"""Benchmarks. Each measures all contenders in one run and reports their ratios, because a machine's speed drifts."""
