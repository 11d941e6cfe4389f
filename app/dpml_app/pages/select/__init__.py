"""Private feature selection."""
