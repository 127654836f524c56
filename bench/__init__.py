"""What measures speed. Each number is taken beside its rivals in one run and told as a ratio, since machines drift."""
