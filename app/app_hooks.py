"""What ``panel serve app`` runs before it makes its server."""

from dpml_app.serving import light, session_ids

light.install()
session_ids.refuse_given()
