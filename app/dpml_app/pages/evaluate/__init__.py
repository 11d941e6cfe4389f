"""Private evaluation of a classifier."""
