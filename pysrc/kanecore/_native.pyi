# SPDX-License-Identifier: BSD-3-Clause
"""Types of the extension: what is written by hand, and what follows from the rows of `kanecore.kernels`."""

from kanecore._binding import Buffers as Buffers
from kanecore._binding import Model as Model
from kanecore._binding import ModelKernels as ModelKernels
from kanecore._binding import NamedArray as NamedArray
from kanecore._binding import Values as Values
from kanecore._binding import forward_dynamics_method as forward_dynamics_method
from kanecore._binding import kernel_method as kernel_method
