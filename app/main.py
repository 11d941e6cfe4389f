"""Entry point of ``panel serve app``."""

from dpml_app.shell import build_app

build_app().servable()
