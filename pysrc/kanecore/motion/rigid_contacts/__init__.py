# SPDX-License-Identifier: BSD-3-Clause
"""Motions of rigid bodies whose contacts open, close, stick and slide."""
