# SPDX-License-Identifier: BSD-3-Clause
"""Types of the extension: what is written by hand, and what follows from the rows of `kanecore.kernels`."""

from kanecore._binding import Buffers as Buffers
from kanecore._binding import Model as Model
from kanecore._binding import NamedArray as NamedArray
from kanecore._binding import _Values as _Values
