# SPDX-License-Identifier: BSD-3-Clause
"""Calls of compiled models: values, kinematics, forces, pictures.  Imports without SymPy and without a compiler."""
