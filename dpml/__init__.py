"""dpml: what privacy costs in classification, and which method pays least."""

__version__ = "0.1.0"
