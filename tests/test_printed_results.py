# SPDX-License-Identifier: BSD-3-Clause
"""Results at a prompt and in a notebook: what ``print`` shows."""

from collections.abc import Callable
from typing import Any

import pytest

import kanecore as kc

X = [0.0, 0.1, 0.0, 0.0]

RESULTS: dict[str, Callable[[kc.CompiledModel], Any]] = {
    "equilibrium": lambda dyn: dyn.equilibrium(X),
    "check": lambda dyn: dyn.check(X),
    "linear_system": lambda dyn: dyn.linear_system(0.0, X),
    "conserved": lambda dyn: dyn.conserved(),
    "impact": lambda dyn: dyn.impact(0.0, X, [[1.0, 0.0]], full=True),
    "solve_inverse": lambda dyn: dyn.solve_inverse(0.0, X, udot={"v": 1.0}, tau={"omega": 0.0}),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_prompt_and_a_notebook_show_what_print_shows(name: str) -> None:
    result = RESULTS[name](kc.load("cart_pole"))
    assert repr(result) == str(result)
    assert not str(result).startswith(type(result).__name__ + "(")
    assert str(result).splitlines()[0].split()[0] in result._repr_html_()
