"""Tables that are published for classification."""
