# SPDX-License-Identifier: BSD-3-Clause
"""Everything with a time axis: simulations, batches, rollouts, events, impacts, sensitivities."""
