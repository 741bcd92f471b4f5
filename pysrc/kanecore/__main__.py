# SPDX-License-Identifier: BSD-3-Clause
"""``python -m kanecore``: the command line."""

import sys

from kanecore.cli.commands import main

if __name__ == "__main__":
    sys.exit(main())
