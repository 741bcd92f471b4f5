# SPDX-License-Identifier: BSD-3-Clause
"""What nothing reaches is left out of a C text."""

import pytest

from kanecore.export.reachable_text import reachable

HEAD = """\
/* A part. */

#include <math.h>
"""


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("static int f(int a)\n{\n    return a;\n}\n", False),
        ("/* f */\nKC_INLINE int f(int a)\n{\n    return a;\n}\nint g(void)\n{\n    return f(1);\n}\n", True),
        ("#define A 1\n", False),
        ("#define A 1\n#define B A\nconst int x = B;\n", True),
        ("#define A(x) \\\n    (x)\n", False),
        ("enum { P = 1, Q = (P, 2) };\n", False),
        ("enum { P = 1, Q = (P, 2) };\nconst int x = Q;\n", True),
        ("typedef struct s {\n    int a;\n} t;\n", False),
        ("typedef struct s {\n    int a;\n} t;\nint f(const t *x)\n{\n    return x->a;\n}\n", True),
        ("typedef int t(int a, int b);\n", False),
        ("typedef int t(int a, int b);\nt f;\n", True),
        ("typedef double one, two;\nint f(two x);\n", True),
        ("static int f(void);\nint g(void)\n{\n    return f();\n}\nstatic int f(void)\n{\n    return 1;\n}\n", True),
        ("#if defined(__GNUC__)\n#define A 1\n#else\n#define A 2\n#endif\n", False),
        ("#if defined(__GNUC__)\n#define A 1\n#else\n#define A 2\n#endif\nconst int x = A;\n", True),
        ("#define SIZE 4\n#if SIZE == 4\n#define A 1\n#endif\nconst int x = A;\n", True),
        ("#define NAME f\nstatic int NAME(void)\n{\n    return 1;\n}\nint g(void)\n{\n    return f();\n}\n", True),
        ("static const int f[] = {1}; /* f\n   f */\n/* f */\n", False),
    ],
)
def test_what_is_reached_stays(text: str, kept: bool) -> None:
    """With the comment above it, and the directives around it; all else goes."""
    assert reachable(HEAD + text, {}) == HEAD + (text if kept else "")


def test_macros_that_are_defined_again() -> None:
    """A text that stands twice, for two types: only that of the type which is used."""
    twice = "KC_INLINE T F(twice)(T x)\n{\n    return x + x;\n}\n#undef T\n#undef F\n"
    one = f"#define T int\n#define F(name) kc_##name\n{twice}"
    other = f"#define T double\n#define F(name) kc_##name##_wide\n{twice}"
    uses = "int f(int x)\n{\n    return kc_twice(x);\n}\n"
    assert reachable(one + other + uses, {}) == one + uses
    assert reachable(one + other + uses.replace("twice", "twice_wide"), {}) == other + uses.replace(
        "twice", "twice_wide"
    )


@pytest.mark.parametrize(
    ("facts", "read"),
    [
        ({}, "#if A\n1\n#elif B\n2\n#else\n3\n#endif\n"),
        ({"A": True}, "1\n"),
        ({"A": False}, "#if B\n2\n#else\n3\n#endif\n"),
        ({"B": True}, "#if A\n1\n#else\n2\n#endif\n"),
        ({"B": False}, "#if A\n1\n#else\n3\n#endif\n"),
        ({"A": False, "B": True}, "2\n"),
        ({"A": False, "B": False}, "3\n"),
    ],
)
def test_known_conditions_are_decided(facts: dict[str, bool], read: str) -> None:
    """Also within a function, and within a branch that stays or goes."""
    text = "#if A /* why */\n1\n#elif B\n2\n#else\n3\n#endif\n"

    def function(body: str) -> str:
        return f"int f(void)\n{{\n#if C\n{body}#endif\n}}\n"

    expected = function(read.replace("#if A\n", "#if A /* why */\n"))
    assert reachable(function(text), facts) == expected
    assert reachable(function(text), {**facts, "C": False}) == "int f(void)\n{\n}\n"
