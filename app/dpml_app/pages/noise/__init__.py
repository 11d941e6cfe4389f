"""What the noise of each mechanism looks like, and what it costs."""
