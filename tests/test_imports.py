"""What is kept out of a stage's process can be had all the same."""

import subprocess
import sys

SCIPY_WITHOUT_TOOLS = """
import sys
from frostline.imports import without_numpy_tools
with without_numpy_tools():
    import scipy.sparse
assert not {"numpy.f2py", "numpy.testing"} & set(sys.modules)
import numpy as np
np.testing.assert_array_equal(scipy.sparse.csr_array(np.eye(2)).toarray(), np.eye(2))
assert np.f2py.__name__ == "numpy.f2py"
with without_numpy_tools():
    assert np.testing.assert_array_equal
assert np.testing.assert_array_equal
"""


def test_numpy_tools_are_hidden_only_while_scipy_is_imported():
    subprocess.run([sys.executable, "-c", SCIPY_WITHOUT_TOOLS], check=True)
