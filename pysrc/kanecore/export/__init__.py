# SPDX-License-Identifier: BSD-3-Clause
"""Exports of a compiled model: C, a wheel, an FMU, functions of CasADi and JAX."""
