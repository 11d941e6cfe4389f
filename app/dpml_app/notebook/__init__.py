"""The app's pages and cards in a notebook's cell."""
