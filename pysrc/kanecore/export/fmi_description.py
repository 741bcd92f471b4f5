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
    return _as_bytes(_fmi2(facts, variables) if version == "2.0" else _fmi3(facts, variables))


def build_description(facts: Facts) -> bytes:
    """List of the C files that make the library, for FMI 3."""
    root = ET.Element("fmiBuildDescription", fmiVersion="3.0")
    configuration = ET.SubElement(root, "BuildConfiguration", modelIdentifier=facts.identifier)
    files = ET.SubElement(configuration, "SourceFileSet", language="C99")
    for source in facts.sources:
        ET.SubElement(files, "SourceFile", name=source)
    return _as_bytes(root)


# ------------------------------------------------------------------------------------------------- FMI 3.0


def _fmi3(facts: Facts, variables: Sequence[Variable]) -> ET.Element:
    root = _root("3.0", facts, instantiationToken=facts.token)
    both = {
        "modelIdentifier": facts.identifier,
        "canGetAndSetFMUState": "true",
        "canSerializeFMUState": "true",
        "providesDirectionalDerivatives": "true",
        "providesAdjointDerivatives": "true",
    }
    ET.SubElement(root, "ModelExchange", both, needsCompletedIntegratorStep=_boolean(facts.settles))
    ET.SubElement(root, "CoSimulation", both, canHandleVariableCommunicationStepSize="true")
    _units_and_log(root, variables)
    _experiment(root, facts)
    listed = ET.SubElement(root, "ModelVariables")
    for v in variables:
        attributes = {"name": v.name, "valueReference": str(v.reference), "description": v.description}
        attributes |= {"causality": v.causality, "variability": v.variability}
        if initial := _initial(v):
            attributes["initial"] = initial
        ET.SubElement(listed, "Float64", attributes | _numbers(v, v.state))
    structure = ET.SubElement(root, "ModelStructure")
    for tag, some in _structure(variables).items():
        name = {"Outputs": "Output", "Derivatives": "ContinuousStateDerivative", "InitialUnknowns": "InitialUnknown"}
        for v, depends in some:
            places = " ".join(map(str, depends))
            ET.SubElement(structure, name[tag], valueReference=str(v.reference), dependencies=places)
    return root


# ------------------------------------------------------------------------------------------------- FMI 2.0


def _fmi2(facts: Facts, variables: Sequence[Variable]) -> ET.Element:
    root = _root("2.0", facts, guid=facts.token)
    both = {
        "modelIdentifier": facts.identifier,
        "canGetAndSetFMUstate": "true",
        "canSerializeFMUstate": "true",
        "providesDirectionalDerivative": "true",
    }
    exchange = ET.SubElement(root, "ModelExchange", both, completedIntegratorStepNotNeeded=_boolean(not facts.settles))
    steps = ET.SubElement(root, "CoSimulation", both, canHandleVariableCommunicationStepSize="true")
    for element in (exchange, steps):
        files = ET.SubElement(element, "SourceFiles")
        for source in facts.sources:
            ET.SubElement(files, "File", name=source)
    _units_and_log(root, variables)
    _experiment(root, facts)
    listed = ET.SubElement(root, "ModelVariables")
    for v in variables:
        attributes = {"name": v.name, "valueReference": str(v.reference), "description": v.description}
        attributes |= {"causality": v.causality, "variability": v.variability}
        if v.causality != "input" and (initial := _initial(v)):
            attributes["initial"] = initial
        scalar = ET.SubElement(listed, "ScalarVariable", attributes)
        ET.SubElement(scalar, "Real", _numbers(v, None if v.state is None else v.state + 1))
    structure = ET.SubElement(root, "ModelStructure")
    for tag, some in _structure(variables).items():
        if some:
            group = ET.SubElement(structure, tag)
            for v, depends in some:  # by numbers in the list, from 1
                places = " ".join(str(reference + 1) for reference in depends)
                ET.SubElement(group, "Unknown", index=str(v.reference + 1), dependencies=places)
    return root


# ------------------------------------------------------------------------------------------ common parts


def _root(version: str, facts: Facts, **token: str) -> ET.Element:
    attributes = {"fmiVersion": version, "modelName": xml_text(facts.name), **token}
    attributes |= {"description": "Equations of motion by Kane's method", "generationTool": facts.tool}
    return ET.Element("fmiModelDescription", attributes, variableNamingConvention="flat")


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


def _experiment(root: ET.Element, facts: Facts) -> None:
    ET.SubElement(root, "DefaultExperiment", {name: repr(value) for name, value in facts.experiment.items()})


def _initial(v: Variable) -> str | None:
    if v.causality == "independent":
        return None
    return "calculated" if v.start is None else "exact"


def _numbers(v: Variable, derivative: int | None) -> dict[str, str]:
    result = {} if v.unit is None else {"unit": v.unit.name}
    if v.start is not None:
        result["start"] = repr(v.start)
    return result if derivative is None else result | {"derivative": str(derivative)}


def _structure(variables: Sequence[Variable]) -> dict[str, list[tuple[Variable, tuple[int, ...]]]]:
    """Outputs, derivatives, and initial unknowns, each with its dependencies."""
    outputs = [v for v in variables if v.causality == "output"]
    derivatives = [v for v in variables if v.state is not None]
    calculated = [v for v in outputs if v.start is None]
    return {
        "Outputs": [(v, v.depends if v.start is None else (v.reference,)) for v in outputs],
        "Derivatives": [(v, v.depends) for v in derivatives],
        "InitialUnknowns": [(v, v.depends_at_start) for v in [*derivatives, *calculated]],
    }


def _boolean(value: bool) -> str:
    return "true" if value else "false"


def _as_bytes(root: Any) -> bytes:
    ET.indent(root)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + bytes(ET.tostring(root, encoding="utf-8")) + b"\n"
