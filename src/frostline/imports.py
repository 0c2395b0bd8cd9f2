"""Keep out of a stage's process what its libraries would import only to look at it.

A workflow is hundreds of processes that each live for less than a second, so imports are a good part of its time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


def keep_pandas_out() -> None:
    """Let pyarrow believe that pandas is not installed, in this process.

    Otherwise its first conversion from or to numpy imports pandas, only to ask whether the array is one of its own; that
    takes longer than most stages run. Code that imports pandas itself still can, but pyarrow will not convert for it.
    """

    class Absent:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name == "pandas":
                raise ImportError(name)

    import pyarrow as pa

    sys.meta_path.insert(0, Absent)
    pa.array([0])
    sys.meta_path.remove(Absent)


@contextmanager
def without_numpy_tools() -> Iterator[None]:
    """Hide numpy's compiler of Fortran and its test tools while scipy is imported.

    numpy loads the two when someone asks for them by name, and scipy asks for every name; they take a third of the import
    of `scipy.sparse`. Afterwards they can be had as ever.
    """
    import numpy as np

    hidden = [name for name in ("f2py", "testing") if name not in vars(np)]
    for name in hidden:
        setattr(np, name, None)
    try:
        yield
    finally:
        for name in hidden:
            if vars(np).get(name) is None:
                delattr(np, name)
