"""Workers claim runs from the backend, spawn trainers and relay what they report."""
