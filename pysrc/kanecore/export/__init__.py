# SPDX-License-Identifier: BSD-3-Clause
"""What a compiled model becomes for others: C, a wheel, an FMU, functions of CasADi and JAX."""
