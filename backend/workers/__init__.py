"""Workers as the backend sees them: which are connected, and which are free."""
