"""Of each page of the app, the styles that stand on one plot."""

from dpml_app.pages.evaluate import figures as evaluate
from dpml_app.pages.noise import figures as noise
from dpml_app.pages.publish import figures as publish
from dpml_app.pages.select import figures as select
from dpml_app.pages.select.compute import SELECTOR_STYLES
from dpml_app.pages.train.compute import METHODS

ON_ONE_PLOT = {
    "selectors": {**SELECTOR_STYLES, **select.OWN_STYLES},
    "train": {key: method.look for key, method in METHODS.items()},
    "publish": publish.STYLES,
    "evaluate": evaluate.ROC_STYLES,
    "rivals": noise.RIVAL_STYLES,
}
