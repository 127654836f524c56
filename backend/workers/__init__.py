"""Workers as the backend sees them: who is connected, and who is free."""
