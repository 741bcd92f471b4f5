# SPDX-License-Identifier: BSD-3-Clause
"""A live page as a method of a compiled model; the writer of pages is imported when the method is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kanecore.binding.declared_methods import method as declared

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values
    from kanecore.live.live_page import LivePage

__all__ = ["play"]


@declared("Points and frames")
def play(
    dyn: Evaluator,
    x0: Values | None = None,
    *,
    t0: float = 0.0,
    sliders: Any = None,
    inputs: Any = None,
    units: Mapping[Any, Any] | None = None,
    speed: float = 1.0,
    trace: Any = (),
    follow: Any = None,
    view: str | Sequence[Any] | None = None,
    plots: Any = None,
    method: str = "dop853",
    rtol: float = 1e-8,
    feedback: Any = None,
    keys: Mapping[str, tuple[Any, float]] | None = None,
    pull: float | None = None,
    events: Any = None,
    title: str | None = None,
    text: str | None = None,
    labels: Mapping[Any, str] | None = None,
    ground: float | None = None,
) -> LivePage:
    """A page in which the model itself runs: one HTML file that needs no network and no other file.

    The page integrates the equations of motion in the browser, by the code of `simulate` in WebAssembly, and draws the
    motion.  Its reader plays, steps and resets the motion, changes parameters and inputs, drags bodies with the mouse,
    and sees plots, energies and the accuracy.  Parameters are the current ones.  The equations of the model are in the
    page, where anybody can read them.

    Parameters
    ----------
    x0 : array_like (n_x,), or mapping by name, optional
        The state at the start, on the constraints as for `simulate`.  Default: a model of the gallery starts as on its
        page, at a suitable speed; robots are kept in place by feedback; other models start at rest,
        ``dyn.consistent(t0, dyn.state())``.  A model that would stay at rest there gets a small push.
    t0 : float
        Time at the start, s.
    sliders : names, or mapping of names to (low, high), optional
        Parameters and inputs with sliders; None in place of a range: from 0.2 to 3 times the value.  Default: all
        except inertias that would become unphysical.
    inputs : optional
        Numbers and `kanecore.Signal`, as for `simulate`: numbers get sliders, prescribed motions with consistent rates.
        After its last time a signal keeps its value.
    units : mapping, optional
        Units by name or symbol, as for `export_fmu`, for display.
    speed : float
        Seconds of the motion per second.
    trace : str or SymPy's object, or a sequence of these
        Points, bodies or joints with a drawn path.
    follow : str or SymPy's object, optional
        A point, body or joint that stays in the middle.
    view : optional
        As for `draw`.
    plots : sequence, optional
        The initial plots: "coordinates", "speeds", "outputs", "inputs", "energies", "power", "residuals", "phase", or
        lists of names.  Default: coordinates and energies.
    method : {"dop853", "dopri5", "rk4", "euler", "auto", "rosenbrock"}
        As for `simulate`.  Fixed steps are of 1 ms at speed 1; the last two are for stiff models.
    rtol : float
        Relative and absolute tolerance.
    feedback : array_like, or (array_like, state), optional
        K of r = inputs − K (x − x̄), about x0 or about another state: with a column for each state of `linear_system`,
        or for each coordinate and speed.  The model's own feedback laws are kept.
    keys : mapping of str to (input, number), optional
        Value that a key adds to an input while it is down: ``{"ArrowLeft": ("F", -5.0)}``.  Default: arrow keys for the
        first two inputs.
    pull : float, optional
        Frequency of a body that is pulled by the mouse, Hz of the page; 0: no pulling.  Default 1.5.
    events : Event, or a list of these, optional
        As for `simulate`, by expressions: zeros end the motion, or ``reset={speed: expression}`` changes the state, as
        at an impact.
    title : str, optional
        Heading above the picture.  Default: the name of the model, in words.
    text : str, optional
        Plain text below the heading; line breaks are kept.
    labels : mapping, optional
        Texts that replace names of states, inputs, outputs and parameters at controls and curves: ``{"lam": "λ"}``.
        Links, tables and lines of Python keep the names.
    ground : float, optional
        Height of a ground that is drawn, along the axis that points up in the picture, m: a line in a plane, a grid in
        space with the shadows of the solids.  The ground exerts no force.  Default: none, except under what rolls in
        the gallery.

    Returns
    -------
    LivePage
        With ``save(path)`` and ``html()``; a notebook shows it.

    Raises
    ------
    ModelError
        A page cannot run a function in Python or in C, or a model without known description.
    ValueError, KeyError, TypeError
        x0 is off the constraints; a parameter has no value; unknown names, ranges, methods, plots or keys; K has
        another shape; a title, text, label or ground of another kind.

    Examples
    --------
    ``dyn.play().save("arm.html")``; ``dyn.play(x0, feedback=K, sliders={"m": (0.5, 2.0)}, trace="tip")``
    """
    from kanecore.live.live_page import live_page

    return live_page(
        dyn,
        x0,
        t0=t0,
        sliders=sliders,
        inputs=inputs,
        units=units,
        speed=speed,
        trace=trace,
        follow=follow,
        view=view,
        plots=plots,
        method=method,
        rtol=rtol,
        feedback=feedback,
        keys=keys,
        pull=pull,
        events=events,
        title=title,
        text=text,
        labels=labels,
        ground=ground,
    )
