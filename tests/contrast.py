"""The contrast of two colours, by WCAG 2.2."""

import numpy as np


def channels(colour):
    """Return red, green and blue, from 0 to 255."""
    return np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)])


def linear(colour):
    """Return a colour's linear RGB."""
    v = channels(colour) / 255
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


def _luminance(colour, alpha=1.0, ground="#ffffff"):
    """Return the relative luminance of a colour, laid over a ground as browsers do: in sRGB."""
    mixed = "#" + "".join(f"{round(v):02x}" for v in alpha * channels(colour) + (1 - alpha) * channels(ground))
    return float(np.array([0.2126, 0.7152, 0.0722]) @ linear(mixed))


def contrast(colour, ground, alpha=1.0):
    """Return the ratio of contrast of a colour on a ground."""
    low, high = sorted((_luminance(colour, alpha, ground), _luminance(ground)))
    return (high + 0.05) / (low + 0.05)
