"""The types of arrays, by what their entries are."""

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
# positions, and NumPy's own integers
IntArray = NDArray[np.intp]
Int64Array = NDArray[np.int64]
