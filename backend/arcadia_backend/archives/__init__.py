"""Archive files: runs, studies and reports with all their data in one file (docs/archives.md)."""
