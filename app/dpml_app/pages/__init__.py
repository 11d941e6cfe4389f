"""The pages, each in a folder of its own."""
