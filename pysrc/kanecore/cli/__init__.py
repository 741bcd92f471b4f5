# SPDX-License-Identifier: BSD-3-Clause
"""The command line."""

from kanecore.cli.commands import main

__all__ = ["main"]
