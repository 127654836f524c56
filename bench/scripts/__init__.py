"""Scripts of users, which log their runs in several ways without a change."""
