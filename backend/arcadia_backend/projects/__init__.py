"""Projects, which every run, study and report belongs to."""
