"""The data sets that ship, and the table of a session."""
