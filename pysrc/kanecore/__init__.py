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
    from kanecore import gallery, robots, shapes
    from kanecore._compile import compile
    from kanecore._library import ABI_VERSION
    from kanecore.c_functions import CFunction
    from kanecore.describe.force_system import ForceSystem
    from kanecore.describe.link_loads import LinkLoad
    from kanecore.describe.symbols import multiplier
    from kanecore.describe.transforms import Link, angular_velocity_matrix, dh, link_pose
    from kanecore.describe.velocity_field import VelocityField
    from kanecore.equivalence import equivalent
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
    from kanecore.events import Event
    from kanecore.export.wheel import build_wheel
    from kanecore.gallery import load, models
    from kanecore.kanes_method import KanesMethod
    from kanecore.model import Model
    from kanecore.run.identify import Identification
    from kanecore.run.many import Trajectories
    from kanecore.run.model import CompiledModel
    from kanecore.run.periodic import PeriodicMotion
    from kanecore.run.rollout import RolloutStatus
    from kanecore.run.samples import Samples
    from kanecore.run.signals import Signal
    from kanecore.run.trajectory import Trajectory
    from kanecore.splines import Spline
    from kanecore.sweeps import Sweep, sweep

    __version__: str

__all__ = [
    "ABI_VERSION",
    "CFunction",
    "CompileError",
    "CompiledModel",
    "Event",
    "ForceSystem",
    "Identification",
    "IntegrationError",
    "KanecoreError",
    "KanecoreWarning",
    "KanesMethod",
    "Link",
    "LinkLoad",
    "Model",
    "ModelError",
    "NonFiniteError",
    "PeriodicMotion",
    "RolloutStatus",
    "Samples",
    "Signal",
    "SingularError",
    "Spline",
    "Sweep",
    "Trajectories",
    "Trajectory",
    "VelocityField",
    "WorkerError",
    "__version__",
    "angular_velocity_matrix",
    "build_wheel",
    "compile",
    "dh",
    "equivalent",
    "gallery",
    "get_include",
    "link_pose",
    "load",
    "models",
    "multiplier",
    "robots",
    "shapes",
    "sweep",
]

# Where each name lives.  No module may bear the name of a function here: importing kanecore.compile, say,
# would bind the module to the attribute `compile` of this package; hence _compile.
_HOMES = {
    "ABI_VERSION": "kanecore._library",
    "CFunction": "kanecore.c_functions",
    "CompileError": "kanecore.errors",
    "CompiledModel": "kanecore.run.model",
    "Event": "kanecore.events",
    "ForceSystem": "kanecore.describe.force_system",
    "Identification": "kanecore.run.identify",
    "IntegrationError": "kanecore.errors",
    "KanecoreError": "kanecore.errors",
    "KanecoreWarning": "kanecore.errors",
    "Link": "kanecore.describe.transforms",
    "LinkLoad": "kanecore.describe.link_loads",
    "KanesMethod": "kanecore.kanes_method",
    "Model": "kanecore.model",
    "ModelError": "kanecore.errors",
    "NonFiniteError": "kanecore.errors",
    "Samples": "kanecore.run.samples",
    "PeriodicMotion": "kanecore.run.periodic",
    "RolloutStatus": "kanecore.run.rollout",
    "Signal": "kanecore.run.signals",
    "SingularError": "kanecore.errors",
    "Spline": "kanecore.splines",
    "Sweep": "kanecore.sweeps",
    "Trajectories": "kanecore.run.many",
    "Trajectory": "kanecore.run.trajectory",
    "VelocityField": "kanecore.describe.velocity_field",
    "WorkerError": "kanecore.errors",
    "angular_velocity_matrix": "kanecore.describe.transforms",
    "build_wheel": "kanecore.export.wheel",
    "compile": "kanecore._compile",
    "dh": "kanecore.describe.transforms",
    "link_pose": "kanecore.describe.transforms",
    "equivalent": "kanecore.equivalence",
    "gallery": "kanecore.gallery",
    "load": "kanecore.gallery",
    "models": "kanecore.gallery",
    "multiplier": "kanecore.describe.symbols",
    "robots": "kanecore.robots",
    "shapes": "kanecore.shapes",
    "sweep": "kanecore.sweeps",
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
