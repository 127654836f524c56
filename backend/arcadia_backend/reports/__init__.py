"""Reports: live pages of text, charts, tables and replays, with a read-only link and an HTML export."""
