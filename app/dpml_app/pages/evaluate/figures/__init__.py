"""The figures of the Evaluate page: made once a page, then changed through their data sources alone."""

from dpml_app.drawing.bands_figure import BandsFigure, MedianBand
from dpml_app.pages.evaluate.figures.attack import PRIVATE_ROWS, AttackFigure
from dpml_app.pages.evaluate.figures.calibration import CalibrationFigure
from dpml_app.pages.evaluate.figures.comparison import gap_figure, sure_figure
from dpml_app.pages.evaluate.figures.errors import error_figure, size_figure
from dpml_app.pages.evaluate.figures.intervals import IntervalFigure
from dpml_app.pages.evaluate.figures.recall import RecallFigure
from dpml_app.pages.evaluate.figures.roc import RocFigure
from dpml_app.pages.evaluate.figures.success import SuccessFigure
from dpml_app.pages.evaluate.settings import METHOD_STYLES

__all__ = [
    "METHOD_STYLES",
    "PRIVATE_ROWS",
    "AttackFigure",
    "BandsFigure",
    "CalibrationFigure",
    "IntervalFigure",
    "MedianBand",
    "RecallFigure",
    "RocFigure",
    "SuccessFigure",
    "error_figure",
    "gap_figure",
    "size_figure",
    "sure_figure",
]
