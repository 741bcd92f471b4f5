# SPDX-License-Identifier: BSD-3-Clause
"""Multibody dynamics by Kane's method: SymPy descriptions become machine code.

>>> import kanecore as kc
>>> dyn = kc.load("rrp")  # doctest: +SKIP

Every public name stands in ``__all__`` and is imported on first use (PEP 562).  So a prebuilt model runs
without SymPy and without a compiler, and the build of the package itself derives its gallery before the
extension exists.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kanecore import gallery, robots, shapes, transforms
    from kanecore._compile import compile
    from kanecore._library import ABI_VERSION
    from kanecore.comparison.equivalence import equivalent
    from kanecore.compiled_model import CompiledModel
    from kanecore.control.identification import Identification
    from kanecore.describe.from_sympy.contacts import Contact, HeightField, Plane, Sphere
    from kanecore.describe.from_sympy.force_systems import ForceSystem, VelocityField
    from kanecore.describe.from_sympy.joint_friction import JointFriction
    from kanecore.describe.from_sympy.reactions import multiplier, reaction
    from kanecore.errors import (
        CompileError,
        IntegrationError,
        KanecoreError,
        KanecoreWarning,
        ModelError,
        NonFiniteError,
        SingularError,
        WorkerError,
    )
    from kanecore.functions.c_functions import CFunction
    from kanecore.functions.splines import Spline
    from kanecore.gallery import load, models
    from kanecore.kanes_method.kanes_method import KanesMethod
    from kanecore.model import Model
    from kanecore.motion.batch_simulation import Trajectories
    from kanecore.motion.derivatives.discretization import Discretization
    from kanecore.motion.derivatives.rollout_gradients import RolloutGradient
    from kanecore.motion.events import Event
    from kanecore.motion.parameter_sweeps import Sweep, sweep
    from kanecore.motion.periodic_motion import PeriodicMotion
    from kanecore.motion.rigid_contacts.contact_results import ModeRun
    from kanecore.motion.rigid_contacts.contact_runs import Modes
    from kanecore.motion.rollout import RolloutStatus
    from kanecore.motion.samples import Samples
    from kanecore.motion.signals import Signal
    from kanecore.motion.trajectory import Trajectory
    from kanecore.optimal.phases import Phase, optimize
    from kanecore.wheels.model_wheel import build_wheel

    __version__: str

__all__ = [
    "ABI_VERSION",
    "CFunction",
    "CompileError",
    "CompiledModel",
    "Contact",
    "Discretization",
    "Event",
    "ForceSystem",
    "HeightField",
    "Identification",
    "IntegrationError",
    "JointFriction",
    "KanecoreError",
    "KanecoreWarning",
    "KanesMethod",
    "ModeRun",
    "Model",
    "ModelError",
    "Modes",
    "NonFiniteError",
    "PeriodicMotion",
    "Phase",
    "Plane",
    "RolloutGradient",
    "RolloutStatus",
    "Samples",
    "Signal",
    "SingularError",
    "Sphere",
    "Spline",
    "Sweep",
    "Trajectories",
    "Trajectory",
    "VelocityField",
    "WorkerError",
    "__version__",
    "build_wheel",
    "compile",
    "equivalent",
    "gallery",
    "get_include",
    "load",
    "models",
    "multiplier",
    "optimize",
    "reaction",
    "robots",
    "shapes",
    "sweep",
    "transforms",
]

# Where each name lives.  No module may have the name of a function here: importing kanecore.compile, say,
# would bind the module to the attribute `compile` of this package; hence _compile.
_HOMES = {
    "ABI_VERSION": "kanecore._library",
    "CFunction": "kanecore.functions.c_functions",
    "CompileError": "kanecore.errors",
    "CompiledModel": "kanecore.compiled_model",
    "Contact": "kanecore.describe.from_sympy.contacts",
    "Discretization": "kanecore.motion.derivatives.discretization",
    "Event": "kanecore.motion.events",
    "ForceSystem": "kanecore.describe.from_sympy.force_systems",
    "Identification": "kanecore.control.identification",
    "HeightField": "kanecore.describe.from_sympy.contacts",
    "IntegrationError": "kanecore.errors",
    "KanecoreError": "kanecore.errors",
    "KanecoreWarning": "kanecore.errors",
    "KanesMethod": "kanecore.kanes_method.kanes_method",
    "Model": "kanecore.model",
    "ModeRun": "kanecore.motion.rigid_contacts.contact_results",
    "ModelError": "kanecore.errors",
    "Modes": "kanecore.motion.rigid_contacts.contact_runs",
    "NonFiniteError": "kanecore.errors",
    "Samples": "kanecore.motion.samples",
    "PeriodicMotion": "kanecore.motion.periodic_motion",
    "Phase": "kanecore.optimal.phases",
    "Plane": "kanecore.describe.from_sympy.contacts",
    "RolloutGradient": "kanecore.motion.derivatives.rollout_gradients",
    "RolloutStatus": "kanecore.motion.rollout",
    "Signal": "kanecore.motion.signals",
    "SingularError": "kanecore.errors",
    "Sphere": "kanecore.describe.from_sympy.contacts",
    "Spline": "kanecore.functions.splines",
    "Sweep": "kanecore.motion.parameter_sweeps",
    "Trajectories": "kanecore.motion.batch_simulation",
    "Trajectory": "kanecore.motion.trajectory",
    "VelocityField": "kanecore.describe.from_sympy.force_systems",
    "WorkerError": "kanecore.errors",
    "build_wheel": "kanecore.wheels.model_wheel",
    "compile": "kanecore._compile",
    "equivalent": "kanecore.comparison.equivalence",
    "gallery": "kanecore.gallery",
    "load": "kanecore.gallery",
    "models": "kanecore.gallery",
    "JointFriction": "kanecore.describe.from_sympy.joint_friction",
    "multiplier": "kanecore.describe.from_sympy.reactions",
    "optimize": "kanecore.optimal.phases",
    "reaction": "kanecore.describe.from_sympy.reactions",
    "robots": "kanecore.robots",
    "shapes": "kanecore.shapes",
    "sweep": "kanecore.motion.parameter_sweeps",
    "transforms": "kanecore.transforms",
}


def get_include() -> str:
    """Folder of kanecore.h, for C and Cython code that calls compiled models: ``-I`` of a compiler."""
    return str(Path(__file__).parent / "include")


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        value: Any = version("kanecore")
    elif name in _HOMES:
        try:
            home = import_module(_HOMES[name])
            value = home if home.__name__ == f"{__name__}.{name}" else getattr(home, name)
        except ImportError as error:
            raise import_module("kanecore.errors").without_part(name, error) from error.__cause__
    else:
        raise AttributeError(f"module 'kanecore' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
