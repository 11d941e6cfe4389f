"""The code behind a plot: a script and a notebook that give its numbers again."""
