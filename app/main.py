"""Entry point of ``panel serve app``."""

from dpml_app.serving.limits import check_all
from dpml_app.shell import build_app

check_all()
build_app().servable()
