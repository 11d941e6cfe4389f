"""The page on which a session gets a table of its own."""
