# SPDX-License-Identifier: BSD-3-Clause
"""Motions of rigid bodies with contacts that open, close, stick and slide."""
