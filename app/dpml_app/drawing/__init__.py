"""Figures, bands and looks that all pages share."""
