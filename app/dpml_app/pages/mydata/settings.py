"""The settings of the page My data: none, for nothing of a session's table may be in a link."""

from dpml_app.settings import Shared


class MyDataSettings(Shared):
    """Every control of the page that a link can name."""
