from __future__ import annotations

import pytest

from tanager.loglinear import factor_samples


@pytest.fixture(params=["numpy", "kernels"], scope="module")
def numpy_or_kernels(request):
    """Run the tests of a module with both forms of the passes over samples."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "kernels":
            patch.setattr(factor_samples, "SMALL_FIT", (-1, -1))
        yield request.param
