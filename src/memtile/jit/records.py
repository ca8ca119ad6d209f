"""The type by which Numba knows a table, see ``tables`` and ``table_types``."""

from __future__ import annotations

from typing import Any

import numpy as np


class Records(np.recarray[Any, Any]):
    """The records of a table."""
