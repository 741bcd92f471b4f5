# SPDX-License-Identifier: BSD-3-Clause
"""Kernels as instructions: what is computed, in which order, from which arrays; how it is written is for `emit`."""
