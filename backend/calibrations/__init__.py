"""Calibrations: comparisons of a checkpoint's values with the returns of simulated futures, by a job."""
