"""What the figures of lessons are, a module for each thing that lessons are about."""


def load() -> None:
    """Enter all figures into `dpml_app.lessons.figures.FIGURES`."""
    from dpml_app.lessons.computed import accuracy, audits, curves, noise, promise, selection, tables  # noqa: F401
