"""``python -m dpml_app``: serve the app. A worker process imports this file, too, so nothing is imported at its top."""

import sys
from collections.abc import Callable
from typing import Any


def load_app() -> Callable[[], Any]:
    """Return what makes the app of a session."""
    from dpml_app.shell import build_app

    return build_app


if __name__ == "__main__":
    from dpml_app.serving.serve import main

    sys.exit(main(load_app))
