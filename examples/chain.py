# SPDX-License-Identifier: BSD-3-Clause
"""How the equations of a chain grow with its length.

The page "Design" of the documentation shows this script.
"""

# %% chain
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc


def chain(n):
    """A chain of n rods in a plane; the speeds are the rates of the pins."""
    q, u = me.dynamicsymbols(f"q1:{n + 1}"), me.dynamicsymbols(f"u1:{n + 1}")
    m, length, inertia, g = sm.symbols("m l I g")
    ground = frame = me.ReferenceFrame("N")
    pin = me.Point("O")
    pin.set_vel(ground, 0)
    rods = []
    for i in range(n):
        rod = me.ReferenceFrame(f"B{i}")
        rod.orient_axis(
            frame, frame.z, q[i]
        )  # the axis in the parent's own terms: SymPy need not look for it
        rod.set_ang_vel(frame, u[i] * frame.z)
        centre = pin.locatenew(f"C{i}", length / 2 * rod.x)
        pin, frame = pin.locatenew(f"P{i}", length * rod.x), rod
        rods.append(
            me.RigidBody(
                f"rod{i}", centre, rod, m, (me.inertia(rod, 0, 0, inertia), centre)
            )
        )
    weights = [(rod.masscenter, -m * g * ground.y) for rod in rods]
    kd_eqs = [q_i.diff() - u_i for q_i, u_i in zip(q, u, strict=True)]
    return kc.Model(
        ground, q, u, kd_eqs, bodies=rods, forcelist=weights, name=f"chain{n}"
    )


# %% count
from kanecore.emit.kernel_groups import emit_group  # noqa: E402

counts = {}
for n in (5, 10, 20, 40):
    emitted = emit_group(chain(n).description, "core")
    counts[n] = [
        emitted.operations[kernel]["total"]
        for kernel in ("forcing", "mass_matrix", "udot")
    ]
    print(
        f"{n:3} rods: forcing {counts[n][0]:5}, mass matrix {counts[n][1]:5}, udot "
        f"{counts[n][2]:5} operations"
    )

forcing, _, udot = zip(*counts.values(), strict=True)
assert forcing[3] - forcing[2] == 2 * (forcing[2] - forcing[1])  # linear in n
assert udot[3] < 2.2 * udot[2]
