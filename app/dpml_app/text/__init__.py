"""Glossary, formulas, and numbers and privacy in words."""
