"""Benchmarks. Each measures a number beside its rivals in one run and reports their ratio, since machines drift."""
