"""Hooks that ``panel serve app`` runs: check the limits, load the app, log, and refuse sessions named from outside."""

from typing import Any

import panel as pn
from bokeh.settings import settings
from dpml_app.serving import log
from dpml_app.serving.limits import check_all
from dpml_app.serving.serve import collect_rarely
from dpml_app.serving.session_ids import refuse_named

check_all()
settings.perform_document_validation = False  # the tests validate every page
process_request = refuse_named


def on_server_loaded(_server: Any) -> None:
    """Load the app before the first visitor, and log as ``python -m dpml_app``, but for developers (``--dev``)."""
    import dpml_app.shell  # noqa: F401  # not where only the limits are wrong

    collect_rarely()
    if not pn.config.autoreload:
        log.begin()
