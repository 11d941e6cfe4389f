"""What ``panel serve app`` runs before it makes its server."""

from dpml_app.serving import doors, light

light.install()
doors.close()
