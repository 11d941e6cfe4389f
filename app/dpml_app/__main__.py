"""``python -m dpml_app``: serve the app. A worker process imports this file, too, so nothing is imported at its top."""

import sys
from collections.abc import Callable
from typing import Any, NoReturn


def load_app() -> Callable[[], Any]:
    """Return what makes the app of a session."""
    from dpml_app.shell import build_app

    return build_app


def main() -> NoReturn:
    """Serve the app: the console scripts ``dpml-app`` and ``dpml-explorer``."""
    from dpml_app.serving import serve

    sys.exit(serve.main(load_app))


if __name__ == "__main__":
    main()
