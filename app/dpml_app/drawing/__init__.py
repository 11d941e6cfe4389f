"""Figures, bands and styles that all pages share."""
