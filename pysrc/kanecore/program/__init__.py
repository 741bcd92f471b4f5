# SPDX-License-Identifier: BSD-3-Clause
"""Kernels as instructions: operations, their order, and the arrays that they read; `emit` writes them as text."""
