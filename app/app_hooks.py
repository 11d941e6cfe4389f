"""What ``panel serve app`` runs before it makes its server."""

from dpml_app.serving.light import install

install()
