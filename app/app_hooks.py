"""Hooks that ``panel serve app`` runs: check the limits at the start and refuse sessions named from outside."""

from bokeh.settings import settings
from dpml_app.serving.limits import check_all
from dpml_app.serving.session_ids import refuse_named

check_all()
settings.perform_document_validation = False  # the tests validate every page
process_request = refuse_named
