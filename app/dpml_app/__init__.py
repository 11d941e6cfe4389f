"""The dpml app: pages over the library, served by Panel."""
