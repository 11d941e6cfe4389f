"""Work that takes long: results kept under their arguments, worker processes, runs and their progress."""
