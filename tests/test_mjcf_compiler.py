# SPDX-License-Identifier: BSD-3-Clause
"""MJCF files without MuJoCo: the record has the numbers of MuJoCo's compiler; what is not read is refused by line.

``tests/mujoco_models`` has what MuJoCo 4.0 made of its files, and of those in ``rules``, each for some rules.
"""

import json
import struct
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import kanecore as kc
from kanecore.describe.from_mjcf.mujoco_source import Names
from kanecore.describe.mjcf_compiler.mjcf_compiler import compile_mjcf
from kanecore.describe.robots.rigid_poses import from_unit_quaternion

FOLDER = Path(__file__).parent / "mujoco_models"
RULES = [path.stem for path in sorted((FOLDER / "rules").glob("*.xml"))]
FLAGS = 0xFFF  # the bits of terms of the smooth dynamics

# Columns that have a meaning for some rows alone.
SHAPED = ("geom_pos", "geom_quat", "geom_size")  # of shapes with a mass
READ_SENSORS = {2, 3, 9, 10, 11, 12, 13, 14, 15, 18, 19, *range(26, 33)}
OF_MUSCLES = ("actuator_acc0",)


def written(text: str) -> str:
    return f"<mujoco>{text}</mujoco>"


def rows(name: str, expected: dict[str, Any], values: np.ndarray) -> np.ndarray:
    """The rows of a column that are compared."""
    if name in SHAPED:
        return values[[2 <= kind < 7 for kind in expected["geom_type"]]]
    if name in OF_MUSCLES:
        scaled = [
            kind == 2 and prm[2] < 0
            for kind, prm in zip(expected["actuator_gaintype"], expected["actuator_gainprm"], strict=True)
        ]
        return values[scaled]
    if name.startswith("sensor"):
        return values[
            [
                kind in READ_SENSORS and ref < 0
                for kind, ref in zip(expected["sensor_type"], expected["sensor_refid"], strict=True)
            ]
        ]
    if name == "wrap_objid":
        return values[[kind != 2 for kind in expected["wrap_type"]]]
    if name == "wrap_prm":
        return values[[kind != 3 for kind in expected["wrap_type"]]]
    if name == "eq_data":
        kinds = zip(expected["eq_type"], expected["eq_objtype"], strict=True)
        used = [slice(0, (6, 11, 5, 5)[kind] * (ends != 6)) for kind, ends in kinds]
        return np.array([x for row, part in zip(values, used, strict=True) for x in row[part]])
    return values


def assert_same(m: SimpleNamespace, expected: dict[str, Any]) -> None:
    for name, right in expected.items():
        if name == "opt":
            for option, value in right.items():
                found = getattr(m.opt, option)
                if option == "disableflags":
                    value, found = value & FLAGS, found & FLAGS
                np.testing.assert_array_equal(found, value, err_msg=option)
        elif not name.startswith("name"):
            left, wanted = (rows(name, expected, np.array(each)) for each in (getattr(m, name), right))
            size = max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
            if name == "geom_size":
                left, wanted = (np.where(wanted > 0, each, 0.0) for each in (left, wanted))
            np.testing.assert_allclose(left.reshape(wanted.shape), wanted, rtol=0, atol=1e-12 * size, err_msg=name)


@pytest.mark.parametrize("name", [path.stem for path in sorted(FOLDER.glob("*.xml"))])
def test_numbers_of_mujoco(name: str) -> None:
    m, expected = compile_mjcf(FOLDER / f"{name}.xml"), json.loads((FOLDER / f"{name}.json").read_text())["model"]
    assert_same(m, expected)
    other = SimpleNamespace(**{**expected, "names": expected["names"].encode()})
    names = {"body": "nbody", "jnt": "njnt", "tendon": "ntendon", "actuator": "nu", "site": "nsite"}
    for kind, count in names.items():
        for i in range(getattr(m, count)):
            assert Names(m)(kind, i) == Names(other)(kind, i)
    assert Names(m).model == name


@pytest.mark.parametrize("name", RULES)
def test_rules_of_mujoco(name: str) -> None:
    path = FOLDER / "rules" / f"{name}.xml"
    assert_same(compile_mjcf(path), json.loads(path.with_suffix(".json").read_text()))


def test_models_without_mujoco(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.warns(kc.KanecoreWarning, match="armature of"):
        dyn = kc.compile(kc.Model.from_mjcf(FOLDER / "branches.xml"), cc="none")
    state = json.loads((FOLDER / "branches.json").read_text())["states"][0]
    size = np.max(np.abs(state["qacc_smooth"]))
    udot = dyn.udot(0.0, state["x"], r=state["ctrl"])
    np.testing.assert_allclose(udot, state["qacc_smooth"], rtol=0, atol=1e-12 * size)
    with pytest.raises(kc.ModelError, match=r"the MJCF text, line 2: <attach> is not read without MuJoCo: pip install"):
        kc.Model.from_mjcf("<mujoco><worldbody>\n<attach model='m' prefix=''/></worldbody></mujoco>")
    with pytest.raises(kc.ModelError, match=r"no_such\.xml cannot be read: No such file"):
        kc.Model.from_mjcf("no_such.xml")


def test_sensors() -> None:
    """Those that are not read are there by name; so are those whose frame is a mesh's, or relative to another."""
    m = compile_mjcf(
        written(
            """<worldbody><body name="b"><joint name="j"/><geom name="g" size=".1"/><site name="s"/>
            <geom name="mesh" type="mesh" mesh="m" mass="0"/></body></worldbody>
            <asset><mesh name="m" file="m.stl"/></asset>
            <sensor><framepos name="a" objtype="geom" objname="g" noise="1"/><framepos objtype="geom" objname="mesh"/>
            <framepos objtype="body" objname="b" reftype="site" refname="s"/><framepos objtype="camera" objname="c"/>
            <touch name="t" site="s"/><gyro site="s" cutoff="2"/></sensor>"""
        )
    )
    assert m.nsensor == 6
    assert m.sensor_type.tolist() == [26, -1, -1, -1, -1, 3]
    assert m.sensor_objtype[[0, 5]].tolist() == [5, 6]
    assert m.sensor_cutoff[5] == 2.0
    assert [Names(m)("sensor", i) for i in (0, 4)] == ["a", "t"]
    with pytest.raises(kc.ModelError, match="no joint is called 'k'"):
        compile_mjcf(written(body(J, '<sensor><jointpos joint="k"/></sensor>')))


# ------------------------------------------------------------------------------------------------------- meshes
CORNERS = [(x, y, z) for x in (0.1, 0.5) for y in (-0.2, 0.4) for z in (0.3, 1.1)]
FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def stl() -> bytes:
    """A box with its edges along the axes."""
    triangles = [(face[0], face[i], face[i + 1]) for face in FACES for i in (1, 2)]
    body = b"".join(struct.pack("<12fH", 0, 0, 0, *(x for k in each for x in CORNERS[k]), 0) for each in triangles)
    return bytes(80) + struct.pack("<I", len(triangles)) + body


def obj() -> bytes:
    points = "".join(f"v {x} {y} {z}\n" for x, y, z in CORNERS)
    return (points + "".join(f"f {' '.join(f'{k + 1}//1' for k in face)}\n" for face in FACES)).encode()


BODY = '<worldbody><body name="b"><joint name="j"/><geom name="g" type="mesh" mesh="m" pos="1 0 0"/></body></worldbody>'


@pytest.mark.parametrize(("file", "content"), [("box.stl", stl()), ("box.obj", obj())])
@pytest.mark.parametrize("inertia", ["legacy", "exact"])
def test_masses_of_meshes(tmp_path: Path, file: str, content: bytes, inertia: str) -> None:
    (tmp_path / "shapes").mkdir()
    (tmp_path / "shapes" / file).write_bytes(content)
    mesh = f'<asset><mesh name="m" file="{file}" scale="2 1 -.5" inertia="{inertia}"/></asset>'
    (tmp_path / "m.xml").write_text(written(f'<compiler meshdir="shapes"/>{mesh}{BODY}'))
    m = compile_mjcf(tmp_path / "m.xml")
    edges = np.array([0.8, 0.6, 0.4])
    mass = 1000 * np.prod(edges)
    np.testing.assert_allclose(m.body_mass[1], mass, rtol=1e-6)  # 32 bits
    np.testing.assert_allclose(m.body_ipos[1], [1.6, 0.1, -0.35], atol=1e-6)
    axes = from_unit_quaternion(m.body_iquat[1])
    tensor = axes @ np.diag(m.body_inertia[1]) @ axes.T
    np.testing.assert_allclose(tensor, mass / 12 * np.diag(np.sum(edges**2) - edges**2), atol=1e-5 * mass)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("a.msh", b"", "line 1: the file a.msh of <mesh name='m'> is not read without MuJoCo"),
        ("a.stl", b"solid a", "a.stl is no binary STL file"),
        ("a.obj", b"v 0 0 0\nf 1 2 3\n", "the OBJ file of the mesh cannot be read"),
        ("a.obj", b"v 0 0 0\n" * 5 + b"f 1 2 3 4 5\n", "a polygon of more than four corners of <mesh name='m'>"),
        ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "the mesh encloses no volume"),
        ("a.obj", b"v 0 0 0\nf 1 1 1\n", "the mesh has no area"),
        ("", b"", "cannot be read"),
    ],
)
def test_meshes_that_are_refused(tmp_path: Path, file: str, content: bytes, message: str) -> None:
    if file:
        (tmp_path / file).write_bytes(content)
    (tmp_path / "m.xml").write_text(written(f'<asset><mesh name="m" file="{file or "none.stl"}"/></asset>{BODY}'))
    with pytest.raises(kc.ModelError, match=message):
        compile_mjcf(tmp_path / "m.xml")


# ----------------------------------------------------------------------------------------------------- includes
def test_includes(tmp_path: Path) -> None:
    """Relative to the main file, or to the one that includes; a fault is told with its own file and line."""
    inner = tmp_path / "parts" / "inner"
    inner.mkdir(parents=True)
    main = written('<include file="parts/defaults.xml"/><worldbody><include file="parts/arm.xml"/></worldbody>')
    (tmp_path / "main.xml").write_text(main)
    (tmp_path / "parts" / "defaults.xml").write_text(
        "<mujocoinclude><default><geom size='.1'/></default></mujocoinclude>"
    )
    arm = "<mujocoinclude><body name='b'><joint name='j'/><geom/><include file='inner/tip.xml'/></body></mujocoinclude>"
    (tmp_path / "parts" / "arm.xml").write_text(arm)
    (inner / "tip.xml").write_text("<mujocoinclude>\n<site name='tip'/></mujocoinclude>")
    m = compile_mjcf(tmp_path / "main.xml")
    assert (m.nbody, m.njnt, m.nsite) == (2, 1, 1)
    assert m.body_mass[1] == pytest.approx(1000 * 4 / 3 * np.pi * 1e-3)
    (inner / "tip.xml").write_text("<mujocoinclude>\n<composite/></mujocoinclude>")
    with pytest.raises(kc.ModelError, match=r"tip\.xml, line 2: <composite> is not read without MuJoCo"):
        compile_mjcf(tmp_path / "main.xml")
    (inner / "tip.xml").write_text("<mujocoinclude><include file='../arm.xml'/></mujocoinclude>")
    with pytest.raises(kc.ModelError, match=r"arm\.xml' is included already"):
        compile_mjcf(tmp_path / "main.xml")
    (inner / "tip.xml").write_text("<mujocoinclude><include file='no.xml'/></mujocoinclude>")
    with pytest.raises(kc.ModelError, match=r"the included file 'no\.xml' is not there"):
        compile_mjcf(tmp_path / "main.xml")


# ----------------------------------------------------------------------------------------------------- refusals
def body(parts: str, rest: str = "", attributes: str = "") -> str:
    mass = "" if "<inertial" in parts or "<geom" in parts else '<geom size=".1"/>'
    return f'<worldbody><body name="b" {attributes}>{parts}{mass}</body></worldbody>{rest}'


J = '<joint name="j"/>'
NOT_READ = "is not read without MuJoCo: pip install mujoco"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        # what only MuJoCo reads
        *(
            (body(f"{J}<{tag} name='x'/>"), f"line 1: <{tag} name='x'> {NOT_READ}")
            for tag in ("attach", "replicate", "composite", "flexcomp", "plugin")
        ),
        ("<deformable><flex name='f'/></deformable>", f"<flex name='f'> {NOT_READ}"),
        ("<extension><plugin/></extension>", f"<extension> {NOT_READ}"),
        ("<anything/>", f"<anything> {NOT_READ}"),
        (body(J + '<geom size=".1"><plugin/></geom>'), f"<plugin> {NOT_READ}"),
        (body(J + '<geom size=".1" shellinertia="true"/>'), f'shellinertia="true" of <geom> {NOT_READ}'),
        (body(J + '<geom size=".1" fluidshape="ellipsoid"/>'), f'fluidshape="ellipsoid" of <geom> {NOT_READ}'),
        (body(J + '<geom name="g" size=".1" type="sdf"/>'), f"type=\"sdf\" of <geom name='g'> {NOT_READ}"),
        (body(J + '<geom size=".1" type="box" mesh="m"/>'), "a shape that is fitted to a mesh of <geom>"),
        (body('<joint name="j" springyield="1"/>'), f"springyield of <joint name='j'> {NOT_READ}"),
        (body('<freejoint name="j" align="true"/>'), f"align=\"true\" of <freejoint name='j'> {NOT_READ}"),
        ('<compiler alignfree="true"/>', f'alignfree="true" of <compiler> {NOT_READ}'),
        ('<compiler coordinate="global"/>', f'coordinate="global" of <compiler> {NOT_READ}'),
        ('<option actuatorgroupdisable="1"/>', f"actuatorgroupdisable of <option> {NOT_READ}"),
        ("<default><adhesion/></default>", f"<adhesion> {NOT_READ}"),
        *(
            (body(J, f'<actuator><{tag} name="x" joint="j"/></actuator>'), f"<{tag} name='x'> {NOT_READ}")
            for tag in ("adhesion", "dcmotor", "pid", "cylinder", "plugin", "orientation")
        ),
        (body(J, '<actuator><motor name="x"/></actuator>'), "the transmission, none of joint, jointinparent, tendon"),
        (body(J, '<actuator><motor name="x" joint="j" site="s"/></actuator>'), "the transmission, joint and site, of"),
        (body(J, '<actuator><motor cranksite="s"/></actuator>'), f"cranksite of <motor> {NOT_READ}"),
        (body(J, '<actuator><motor joint="j" delay="1"/></actuator>'), f"delay of <motor> {NOT_READ}"),
        (
            body(J, '<actuator><general joint="j" dyntype="user"/></actuator>'),
            f'dyntype="user" of <general> {NOT_READ}',
        ),
        (body(J, '<actuator><muscle joint="j"/></actuator>'), f"a muscle without lengthrange of <muscle> {NOT_READ}"),
        (body(J, '<tendon><spatial><geom geom="g"/></spatial></tendon>'), f"<geom> {NOT_READ}"),
        (body(J, '<equality><flex flex="f"/></equality>'), f"<flex> {NOT_READ}"),
        # mistakes
        ("<robot/>", "the file begins with <robot>"),
        ("<worldbody><joint/></worldbody>", "the world has no joint"),
        ("<worldbody><inertial pos='0 0 0' mass='1'/></worldbody>", "the world has no inertia"),
        ('<worldbody name="w"/>', "<worldbody> has no attributes"),
        (body(J + '<joint name="j" axis="1 0 0"/>'), "the name 'j' is that of another joint"),
        (body('<joint name="j" axis="0 0 0"/>'), "the axis of the joint has no direction"),
        (body('<joint name="j" type="spherical"/>'), 'type="spherical" of'),
        (body('<joint name="j" damping="1 2 3 4"/>'), "damping of <joint> is '1 2 3 4'; it must be at most 3 finite"),
        (body('<joint name="j" pos="1 2"/>'), "pos of <joint> is '1 2'; it must be 3 finite numbers"),
        (body('<joint name="j" ref="1e99"/>'), "ref of <joint> is '1e99'; no number may be beyond 1e"),
        (body('<joint name="j" ref="nan"/>'), "ref of <joint> is 'nan'; it must be 1 finite number"),
        (body('<joint name="j" range="2 1" limited="true"/>'), "range is 2 1; the first must be the smaller one"),
        ('<compiler autolimits="false"/>' + body('<joint range="1 2"/>'), "range is given without limited"),
        (body('<joint name="j" class="no"/>'), "no default class is called 'no': there are main"),
        (body('<joint name="j" springdamper="1 -1"/>'), "springdamper is two positive numbers"),
        (body('<joint springdamper="1 1"/><joint springdamper="1 1"/>'), "needs a mass matrix, which is singular"),
        (body(J + '<freejoint name="f"/>'), "a free joint stands alone"),
        (body('<joint type="ball"/><joint axis="1 0 0"/>'), "a ball joint is followed by one that turns"),
        (body('<joint type="ball"/><joint type="ball"/><joint type="slide"/>'), "more than six degrees of freedom"),
        (body(J, attributes='mocap="true"'), "a mocap body is a child of the world, and has no joints"),
        (body(J, attributes='quat="0 0 0 0"'), "quat of <body> is 0 0 0 0, and turns nothing"),
        (body(J, attributes='quat="1 0 0 0" euler="1 2 3"'), "<body> has quat and euler: give one of them"),
        (body(J, attributes='zaxis="0 0 0"'), "zaxis of <body> begins with a vector without a direction"),
        (body(J, attributes='xyaxes="1 0 0 2 0 0"'), "xyaxes of <body> are along one line"),
        ('<compiler eulerseq="xyq"/>' + body(J, attributes='euler="1 2 3"'), "eulerseq is 'xyq'"),
        (body(f'{J}<inertial pos="0 0 0" mass="1"/>'), "the body moves, and neither it nor what is fixed"),
        (body(f'{J}<inertial mass="1"/>'), "<inertial> has no pos or no mass"),
        (body(f'{J}<inertial pos="0 0 0" mass="1" diaginertia="1 1 9"/>'), "no body has the inertias 1 1 9"),
        (body(f'{J}<inertial pos="0 0 0" mass="1" fullinertia="1 1 -9 0 0 0"/>'), "fullinertia is not positive"),
        (body(f'{J}<inertial pos="0 0 0" mass="1" fullinertia="1 1 1 0 0 0" quat="1 0 0 0"/>'), "give one of them"),
        (body(J + 2 * '<inertial pos="0 0 0" mass="1"/>'), "it stands twice"),
        (body(f'{J}<geom size="0"/>'), "the first 1 of size must be positive"),
        (body(f'{J}<geom size="1" mass="-1"/>'), "the mass of the geom is negative"),
        (body(f'{J}<geom size="1" fromto="0 0 0 1 0 0"/>'), "fromto is of capsules, cylinders"),
        (body(f'{J}<geom type="mesh" mesh="m"/>'), "no mesh is called 'm'"),
        (body(f'{J}<site type="plane"/>'), 'type="plane" of <site>'),
        ("<default class='a'/>", "the outermost <default> has the class 'a'"),
        ("<default><default/></default>", "the default class '' has no name"),
        ("<default><default class='a'/><default class='a'/></default>", "the default class 'a' is there already"),
        ("<option><flag gravity='off'/></option>", "gravity is 'off'; it must be enable or disable"),
        ("<asset><mesh name='a'/><mesh name='a'/></asset>", "the name 'a' is that of another mesh"),
        (body(J, "<tendon><fixed/></tendon>"), "the tendon has no joint, or one of them twice"),
        (body(J, '<tendon><fixed><joint joint="j"/></fixed></tendon>'), "<joint> of a tendon lacks coef"),
        (body(J, '<tendon><fixed><joint joint="k" coef="1"/></fixed></tendon>'), "no joint is called 'k'"),
        (
            body('<joint name="j" type="ball"/>', '<tendon><fixed><joint joint="j" coef="1"/></fixed></tendon>'),
            "of hinges",
        ),
        (
            body(J, '<tendon><fixed><joint joint="j" coef="1"/><joint joint="j" coef="1"/></fixed></tendon>'),
            "the tendon has no joint, or one of them twice",
        ),
        *(
            (
                body(J + '<site name="s"/><site name="t"/>', f"<tendon><spatial>{path}</spatial></tendon>"),
                "a branch of the tendon has fewer than two sites",
            )
            for path in (
                '<site site="s"/>',
                '<site site="s"/><site site="s"/>',
                '<site site="s"/><site site="t"/><pulley divisor="2"/>',
                '<site site="s"/><pulley divisor="2"/><site site="s"/><site site="t"/>',
            )
        ),
        (body(J, '<tendon><fixed armature="-1"><joint joint="j" coef="1"/></fixed></tendon>'), "armature is negative"),
        (body('<joint name="j" type="ball" range="1 2"/>'), "the first number of a ball's range is 0"),
        (body('<joint name="j" type="ball"/>', '<equality><joint joint1="j"/></equality>'), "of hinges and slides"),
        (body(J, '<tendon><spatial><pulley divisor="0"/></spatial></tendon>'), "the divisor of a pulley is positive"),
        (body(J, '<tendon><fixed springlength="2 1"><joint joint="j" coef="1"/></fixed></tendon>'), "is no range"),
        (body(J, '<equality><connect body1="b"/></equality>'), "<connect> of bodies has no anchor"),
        (body(J, "<equality><connect/></equality>"), "<connect> has no body1 or no body2"),
        (body(J, '<equality><weld body1="b" body2="b"/></equality>'), "body1 and body2 are the same"),
        (body(J, '<keyframe><key qpos="1 2"/></keyframe>'), "qpos of the keyframe must be 1 numbers"),
        (body(J, '<actuator><position joint="j" kv="1" dampratio="1"/></actuator>'), "has kv and dampratio"),
        (body(J, '<actuator><position joint="j" kv="-1"/></actuator>'), "kv of <position> is negative"),
        (
            body(J, '<actuator><damper joint="j" kv="1" ctrlrange="-1 1"/></actuator>'),
            "ctrlrange of <damper> cannot be",
        ),
        (body(J, '<actuator><muscle joint="j" range="2 1"/></actuator>'), "a muscle has range"),
        (body(J, '<actuator><general joint="j" actrange="0 1"/></actuator>'), "there is no activation"),
        (body(J, '<actuator><position joint="j" inheritrange="1"/></actuator>'), "the jnt has no range"),
        (
            body(J, '<actuator><position joint="j" inheritrange="1" ctrlrange="0 1"/></actuator>'),
            "ctrlrange and inheritrange are given",
        ),
        (
            body(f'{J}<site name="s"/>', '<actuator><motor site="s" damping="1"/></actuator>'),
            "damping and armature are of actuators on joints and tendons",
        ),
        (
            body(f'{J}<site name="s"/>', '<actuator><position name="x" site="s" dampratio="1"/></actuator>'),
            "the damping ratio or scale of 'x' on a site is not read without MuJoCo",
        ),
    ],
)
def test_refused_by_line(text: str, message: str) -> None:
    with pytest.raises(kc.ModelError, match=message.replace("(", r"\(")):
        compile_mjcf(text if text.startswith("<robot") else written(text))
