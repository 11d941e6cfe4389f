"""dpml: what privacy costs in classification, and which method pays least."""

from dpml._moved import install as _install_old_names

__version__ = "0.1.0"

_install_old_names()
