# SPDX-License-Identifier: BSD-3-Clause
"""Live pages: one HTML file in which a model runs, in WebAssembly."""
