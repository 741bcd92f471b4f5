# SPDX-License-Identifier: BSD-3-Clause
"""``modelDescription.xml`` of FMI 2.0 and 3.0, and ``buildDescription.xml``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as ET

from .fmi_variables import Variable, xml_text

__all__ = ["Facts", "build_description", "model_description"]


@dataclass(frozen=True)
class Facts:
    """Facts in the description of an FMU beside its variables.

    Attributes
    ----------
    name : str
        Name of the model.
    identifier : str
        The same as a name in C.
    token : str
        Token that ties the description to its binary.
    tool : str
        Name and version of the package that wrote it.
    experiment : dict of str to float
        Attributes of the default experiment.
    settles : bool
        Whether steps of an integrator may ask for event mode.
    sources : tuple of str
        C files.
    """

    name: str
    identifier: str
    token: str
    tool: str
    experiment: Mapping[str, float]
    settles: bool
    sources: tuple[str, ...]


def model_description(version: str, facts: Facts, variables: Sequence[Variable]) -> bytes:
    """The description of a model in FMI ``"2.0"`` or ``"3.0"``."""
    old = version == "2.0"
    root = _root(version, facts, **{"guid" if old else "instantiationToken": facts.token})
    _capabilities(root, facts, old)
    _units_and_log(root, variables)
    ET.SubElement(root, "DefaultExperiment", {name: repr(value) for name, value in facts.experiment.items()})
    _variables(root, variables, old)
    _structure(root, variables, old)
    return _as_bytes(root)


def build_description(facts: Facts) -> bytes:
    """List of the C files that make the library, for FMI 3."""
    root = ET.Element("fmiBuildDescription", fmiVersion="3.0")
    configuration = ET.SubElement(root, "BuildConfiguration", modelIdentifier=facts.identifier)
    files = ET.SubElement(configuration, "SourceFileSet", language="C99")
    for source in facts.sources:
        ET.SubElement(files, "SourceFile", name=source)
    return _as_bytes(root)


def _root(version: str, facts: Facts, **token: str) -> ET.Element:
    attributes = {"fmiVersion": version, "modelName": xml_text(facts.name), **token}
    attributes |= {"description": "Equations of motion by Kane's method", "generationTool": facts.tool}
    return ET.Element("fmiModelDescription", attributes, variableNamingConvention="flat")


def _capabilities(root: ET.Element, facts: Facts, old: bool) -> None:
    """Model exchange and co-simulation; FMI 2 lists the C files there."""
    both = {
        "modelIdentifier": facts.identifier,
        "canGetAndSetFMUstate" if old else "canGetAndSetFMUState": "true",
        "canSerializeFMUstate" if old else "canSerializeFMUState": "true",
        "providesDirectionalDerivative" if old else "providesDirectionalDerivatives": "true",
    }
    if old:
        drift = {"completedIntegratorStepNotNeeded": _boolean(not facts.settles)}
    else:
        both["providesAdjointDerivatives"] = "true"
        drift = {"needsCompletedIntegratorStep": _boolean(facts.settles)}
    for tag, own in (("ModelExchange", drift), ("CoSimulation", {"canHandleVariableCommunicationStepSize": "true"})):
        element = ET.SubElement(root, tag, both | own)
        if old:
            files = ET.SubElement(element, "SourceFiles")
            for source in facts.sources:
                ET.SubElement(files, "File", name=source)


def _units_and_log(root: ET.Element, variables: Iterable[Variable]) -> None:
    units = {v.unit.name: v.unit for v in variables if v.unit}
    definitions = ET.SubElement(root, "UnitDefinitions")
    for name, unit in sorted(units.items()):
        element = ET.SubElement(definitions, "Unit", name=name)
        if unit.powers is not None:
            base = {key: str(power) for key, power in unit.powers.items()}
            ET.SubElement(element, "BaseUnit", base | ({} if unit.factor == 1.0 else {"factor": repr(unit.factor)}))
    categories = ET.SubElement(root, "LogCategories")
    for name in ("logStatusDiscard", "logStatusError"):
        ET.SubElement(categories, "Category", name=name)


def _variables(root: ET.Element, variables: Iterable[Variable], old: bool) -> None:
    """The variables; FMI 2 has their numbers in an element of their own, and counts variables from 1."""
    listed = ET.SubElement(root, "ModelVariables")
    for v in variables:
        attributes = {"name": v.name, "valueReference": str(v.reference), "description": v.description}
        attributes |= {"causality": v.causality, "variability": v.variability}
        if (initial := _initial(v)) and not (old and v.causality == "input"):
            attributes["initial"] = initial
        if old:
            scalar = ET.SubElement(listed, "ScalarVariable", attributes)
            ET.SubElement(scalar, "Real", _numbers(v, None if v.state is None else v.state + 1))
        else:
            ET.SubElement(listed, "Float64", attributes | _numbers(v, v.state))


def _initial(v: Variable) -> str | None:
    if v.causality == "independent":
        return None
    return "calculated" if v.start is None else "exact"


def _numbers(v: Variable, derivative: int | None) -> dict[str, str]:
    result = {} if v.unit is None else {"unit": v.unit.name}
    if v.start is not None:
        result["start"] = repr(v.start)
    return result if derivative is None else result | {"derivative": str(derivative)}


def _structure(root: ET.Element, variables: Sequence[Variable], old: bool) -> None:
    """Outputs, derivatives, and initial unknowns, each with its dependencies."""
    outputs = [v for v in variables if v.causality == "output"]
    derivatives = [v for v in variables if v.state is not None]
    calculated = [v for v in outputs if v.start is None]
    structure = ET.SubElement(root, "ModelStructure")
    for tag, group, unknowns in (
        ("Output", "Outputs", [(v, v.depends if v.start is None else (v.reference,)) for v in outputs]),
        ("ContinuousStateDerivative", "Derivatives", [(v, v.depends) for v in derivatives]),
        ("InitialUnknown", "InitialUnknowns", [(v, v.depends_at_start) for v in [*derivatives, *calculated]]),
    ):
        listed = ET.SubElement(structure, group) if old and unknowns else structure
        for v, depends in unknowns:
            places = " ".join(str(reference + old) for reference in depends)  # in FMI 2 by numbers in the list, from 1
            if old:
                ET.SubElement(listed, "Unknown", index=str(v.reference + 1), dependencies=places)
            else:
                ET.SubElement(listed, tag, valueReference=str(v.reference), dependencies=places)


def _boolean(value: bool) -> str:
    return "true" if value else "false"


def _as_bytes(root: Any) -> bytes:
    ET.indent(root)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + bytes(ET.tostring(root, encoding="utf-8")) + b"\n"
