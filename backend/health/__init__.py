"""Whether the parts of the installation answer."""
