"""The server around the app: its options, limits, health and log."""
