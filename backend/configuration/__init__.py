"""What a run can be configured to do: schema, presets and environments."""
