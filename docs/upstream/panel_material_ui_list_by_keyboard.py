"""panel-material-ui 0.16.6 opens the list of `Select` only by a click.

Run ``panel serve docs/upstream/panel_material_ui_list_by_keyboard.py``, move to the list by Tab, and press Enter, the
space bar or an arrow key.

Expected: the list opens, as that of Material UI does. With 0.16.6 nothing happens: the component controls `open`, and
changes it in `onClick` alone.
"""

import panel_material_ui as pmui

pmui.Select(label="Fruit", options=["apple", "pear"]).servable()
