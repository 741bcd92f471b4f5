# SPDX-License-Identifier: BSD-3-Clause
"""Intermediate variables that a person would choose: short, in order, and each of use."""

from importlib import import_module
from typing import Any

import pytest
import sympy as sm
from sweep import part

import kanecore as kc
from kanecore.gallery import chain40

NAMES = ("double_pendulum", "gyroscope", "rrp", "rolling_disc", "whipple_bicycle")


def listed(name: str, kernel: str) -> tuple[list[tuple[Any, Any]], list[Any]]:
    """Intermediate variables and expressions, with plain symbols for coordinates and speeds."""
    model = import_module(f"kanecore.gallery.{name}").build()
    variables, found = model.symbolic(kernel)
    return variables, list(found)


@pytest.mark.parametrize("name", part(NAMES, NAMES[:2]))
@pytest.mark.parametrize("kernel", ["mass_matrix", "forcing"])
def test_each_variable_is_used(name: str, kernel: str) -> None:
    """None once, none a number or a sign; each only after it is listed, and the numbers rise as they are read."""
    variables, found = listed(name, kernel)
    names = [z for z, _ in variables]
    assert [str(z) for z in names] == [f"z{i + 1}" for i in range(len(names))]
    expressions = [e for _, e in variables] + found
    for i, (z, e) in enumerate(variables):
        assert not e.is_number
        assert not (-e).is_Atom
        assert not e.has(*names[i:])
        assert sum(x.is_Symbol and x == z for each in expressions for x in sm.preorder_traversal(each)) >= 2 or any(
            each.has(z**2) or each.has(z**3) for each in expressions
        )


def test_a_short_expression_has_no_variables() -> None:
    variables, found = listed("cart_pole", "mass_matrix")
    assert not variables
    assert found[0] == sum(found[0].free_symbols)  # M + m


def test_what_would_fill_books_keeps_its_variables() -> None:
    """A tree of thirty bodies is not written out, and says so."""
    model = chain40.build()
    with pytest.warns(kc.KanecoreWarning, match=r"forcing of 'chain40' takes .* operations .* intermediate variables"):
        variables, found = model.symbolic("forcing", nested=True)
    assert len(variables) > 100
    assert found.shape == (model.n_u, 1)
