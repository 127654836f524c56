"""Workers: what they call, and what keeps their runs alive."""
