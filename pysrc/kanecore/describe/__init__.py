# SPDX-License-Identifier: BSD-3-Clause
"""What the user says: models of SymPy mechanics objects."""
