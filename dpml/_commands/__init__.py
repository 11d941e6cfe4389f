"""Commands of the command line that have a file of their own. They import what is slow when they run."""
