"""Of each page of the app, the styles that stand on one plot."""

from dpml_app.drawing.styles import VAIDYA_TRUE
from dpml_app.pages.evaluate import figures as evaluate
from dpml_app.pages.explore import figures as explore
from dpml_app.pages.noise import figures as noise
from dpml_app.pages.publish import figures as publish
from dpml_app.pages.publish.weights_figures import WEIGHT_STYLES
from dpml_app.pages.select import figures as select
from dpml_app.pages.train.figures import every_style

ON_ONE_PLOT = {
    "explore": explore.SCORE_STYLES,
    "selectors": {**select.SELECTOR_STYLES, **select.OWN_STYLES},
    "train": {**every_style(), "vaidya-true": VAIDYA_TRUE},
    "publish": publish.STYLES,
    "rival publishers": {**publish.RIVAL_STYLES, **publish.RECORDED_STYLES},
    "private choices": publish.CHOICE_STYLES,
    "records": publish.RECORD_STYLES,
    "weights": WEIGHT_STYLES,
    "evaluate": evaluate.ROC_STYLES,
    "rivals": noise.RIVAL_STYLES,
    "scales": noise.CALIBRATION_STYLES,
}
