# SPDX-License-Identifier: BSD-3-Clause
"""Types of the extension: what is written by hand, and what follows from the rows of `kanecore.kernels`."""

from kanecore._binding import ABI_VERSION as ABI_VERSION
from kanecore._binding import FIXED_STEP_METHODS as FIXED_STEP_METHODS
from kanecore._binding import KERNELS as KERNELS
from kanecore._binding import METHODS as METHODS
from kanecore._binding import STATUS as STATUS
from kanecore._binding import Block as Block
from kanecore._binding import Buffers as Buffers
from kanecore._binding import FixedKernel as FixedKernel
from kanecore._binding import Memory as Memory
from kanecore._binding import Model as Model
from kanecore._binding import NamedArray as NamedArray
from kanecore._binding import Outputs as Outputs
from kanecore._binding import Rollout as Rollout
from kanecore._binding import RowsRun as RowsRun
from kanecore._binding import Run as Run
from kanecore._binding import Tableau as Tableau
from kanecore._binding import Watch as Watch
from kanecore._binding import _Values as _Values
from kanecore._binding import broadcast_shapes as broadcast_shapes
from kanecore._binding import checked_inputs as checked_inputs
from kanecore._binding import cpu_level as cpu_level
from kanecore._binding import integrate as integrate
from kanecore._binding import integrate_rows as integrate_rows
from kanecore._binding import interpolate as interpolate
from kanecore._binding import one_step as one_step
from kanecore._binding import operand as operand
from kanecore._binding import parameters_of_rows as parameters_of_rows
from kanecore._binding import result_for as result_for
from kanecore._binding import roll_out as roll_out
from kanecore._binding import share as share
from kanecore._binding import smallest_step as smallest_step
from kanecore._binding import symbol_name as symbol_name
from kanecore._binding import xla_functions as xla_functions
from kanecore._methods import Kernels as Kernels
from kanecore._methods import Workspace as Workspace
