"""The figures of the Evaluate page: made once a page, then changed through their data sources alone."""

from dpml_app.pages.evaluate.figures.calibration import CalibrationFigure
from dpml_app.pages.evaluate.figures.comparison import gap_figure, sure_figure
from dpml_app.pages.evaluate.figures.errors import error_figure, size_figure
from dpml_app.pages.evaluate.figures.intervals import IntervalFigure
from dpml_app.pages.evaluate.figures.people import PeopleFigure
from dpml_app.pages.evaluate.figures.recall import RecallFigure
from dpml_app.pages.evaluate.figures.roc import MethodFigure, RocFigure
from dpml_app.pages.evaluate.figures.success import SuccessFigure
from dpml_app.pages.evaluate.settings import ROC_STYLES

__all__ = [
    "ROC_STYLES",
    "CalibrationFigure",
    "IntervalFigure",
    "MethodFigure",
    "PeopleFigure",
    "RecallFigure",
    "RocFigure",
    "SuccessFigure",
    "error_figure",
    "gap_figure",
    "size_figure",
    "sure_figure",
]
