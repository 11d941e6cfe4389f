"""HoloViews of the library's tidy tables, with the app's colours and markers, for notebooks.

A view shows how uncertain it is: it draws the spread of the draws, or the standard error of their mean. A table that
has one row for each point has no spread, so whoever knows that its values are exact says so.

>>> import pandas as pd
>>> table = pd.DataFrame({"epsilon": [0.1, 0.1, 1.0, 1.0], "accuracy": [0.6, 0.7, 0.8, 0.9], "draw": [0, 1, 0, 1]})
>>> view = curve(table, "epsilon", "accuracy")
>>> [type(part).__name__ for part in view]
['Area', 'Curve', 'Scatter']
"""

from dpml_app.views.curve import curve
from dpml_app.views.display import extension, interactive
from dpml_app.views.roc import roc
from dpml_app.views.tables import tidy

__all__ = ["curve", "extension", "interactive", "roc", "tidy"]
