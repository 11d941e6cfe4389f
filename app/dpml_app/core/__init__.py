"""What every page is made of: page, card, widgets, link. It knows no page."""
