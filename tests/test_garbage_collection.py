# SPDX-License-Identifier: BSD-3-Clause
"""The search for garbage rests while a model is described, and no longer."""

import gc

import pytest

import kanecore as kc
from kanecore.program.garbage_collection import no_collection


@pytest.mark.parametrize("collects", [True, False])
def test_as_before(collects: bool) -> None:
    """Also after an error, and within itself."""
    before = gc.isenabled()
    (gc.enable if collects else gc.disable)()
    try:
        with no_collection():
            with no_collection():
                assert not gc.isenabled()
            assert not gc.isenabled()
        assert gc.isenabled() is collects
        with pytest.raises(kc.ModelError, match="there is no link"):
            kc.Model.from_urdf("<robot/>")
        assert gc.isenabled() is collects
    finally:
        (gc.enable if before else gc.disable)()
