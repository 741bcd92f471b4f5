# SPDX-License-Identifier: BSD-3-Clause
"""A compiler of MJCF: from a file to the numbers of a compiled MuJoCo model, without MuJoCo."""
