"""The code behind a plot: a script that gives its numbers again."""
