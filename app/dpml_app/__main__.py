"""``python -m dpml_app``: serve the app. A worker process imports this file, too, so nothing is imported at its top."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    from dpml_app.serving.serve import main

    sys.exit(main())
