"""Reports: pages of text, charts, tables and replays that stay live, with a read-only link and a file to take away."""
