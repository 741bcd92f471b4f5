# SPDX-License-Identifier: BSD-3-Clause
"""From expressions to C text: ordered, deterministic, and the only place that knows C's syntax."""
