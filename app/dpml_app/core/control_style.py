"""Style of the control under a picture: where it stands, and where its line begins."""

from __future__ import annotations

import math
from typing import Any

from bokeh.models import LogScale, Plot

from dpml_app.drawing.figure import script

# on a phone the control stays in reach while the picture is in view
CONTROL_STYLE = script("core/control.css")
# as much further in begins the line of a slider than what it stands in
INSET = 21


def under(plot: Plot, control: Any) -> str:
    """Return the style of a picture's control: a slider of what is on the axis has its values under the axis' own."""
    left, right = plot.min_border_left, plot.min_border_right or 0
    values, style = getattr(control, "options", None), CONTROL_STYLE
    if not isinstance(plot.x_scale, LogScale) or not isinstance(values, dict) or left is None:
        sides = {"NARROWRIGHT": "8px", "NARROWLEFT": "8px", "RIGHT": f"{max(right - INSET, 0)}px", "LEFT": "35px"}
    else:
        whole = math.log(plot.x_range.end / plot.x_range.start)
        before = math.log(min(values.values()) / plot.x_range.start) / whole
        after = math.log(plot.x_range.end / max(values.values())) / whole

        def side(border: float, share: float, other: float) -> str:
            # a share of the frame, which is what the borders and the margins leave
            return f"calc({border - INSET - share * (border + other + 8):.1f}px + {100 * share:.2f}%)"

        sides = {"NARROWRIGHT": "0px", "NARROWLEFT": side(left, before, 14)}
        sides |= {"RIGHT": side(right, after, left), "LEFT": side(left, before, right)}
    for name, length in sides.items():
        style = style.replace(name, length)
    return style
