"""Artifacts: named, versioned files that scripts log and use, such as models and data sets."""
