"""Parts of Panel that the app and its notebook outputs share."""
