"""Private classifiers."""
