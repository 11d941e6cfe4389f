"""The pages of the app, in the order of its navigation: the one place that lists them."""

from dpml_app.core.base_page import BasePage
from dpml_app.pages.audit.page import AuditPage
from dpml_app.pages.evaluate.page import EvaluatePage
from dpml_app.pages.explore.page import ExplorePage
from dpml_app.pages.mydata.page import MyDataPage
from dpml_app.pages.noise.page import NoisePage
from dpml_app.pages.publish.page import PublishPage
from dpml_app.pages.select.page import SelectPage
from dpml_app.pages.train.page import TrainPage

PAGES: dict[str, type[BasePage]] = {
    page.page_id: page
    for page in (
        ExplorePage,
        NoisePage,
        SelectPage,
        TrainPage,
        PublishPage,
        EvaluatePage,
        AuditPage,
        MyDataPage,
    )
}
