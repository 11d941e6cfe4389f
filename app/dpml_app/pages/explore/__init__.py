"""Accuracy against ε, the chosen features and the private ROC curve; called, it shows an app in a notebook."""

from dpml_app.called import let_call

let_call(__name__)
