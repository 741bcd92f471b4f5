# SPDX-License-Identifier: BSD-3-Clause
"""Motion over time: simulations, batches, rollouts, events, impacts, sensitivities."""
