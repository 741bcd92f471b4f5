# SPDX-License-Identifier: BSD-3-Clause
"""Meshes of robots in pictures: where their files are looked for, what is drawn, and what strangers may put there."""

import pickle
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import kanecore as kc
from kanecore.describe.description import fingerprint
from kanecore.show import meshes
from kanecore.show.meshes import find, mesh_lines

Array = npt.NDArray[np.float64]

CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=np.float64)
FACES = [
    *[(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1)],
    *[(2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)],
]
SIZES = np.array([0.4, 0.2, 0.3])


def write_stl(path: Path, points: Array, faces: npt.ArrayLike) -> Path:
    """A binary STL file."""
    triangles = points[np.asarray(faces)]
    rows = np.zeros(len(triangles), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
    rows["corners"] = triangles
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(80) + np.array(len(rows), dtype="<u4").tobytes() + rows.tobytes())
    return path


def ball(n: int) -> tuple[Array, list[tuple[int, int, int]]]:
    """A sphere of radius 1 by n times 2 n corners."""
    theta, phi = np.meshgrid(np.linspace(0.0, np.pi, n), np.linspace(0.0, 2.0 * np.pi, 2 * n), indexing="ij")
    points = np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], axis=-1)
    corner = [(i * 2 * n + j, i * 2 * n + j + 1, (i + 1) * 2 * n + j) for i in range(n - 1) for j in range(2 * n - 1)]
    return points.reshape(-1, 3), [t for a, b, c in corner for t in ((a, c, b), (b, c, c + 1))]


def urdf(mesh: str, more: str = "") -> str:
    return f"""
<robot name="lever">
  <link name="ground"/>
  <link name="arm">
    <inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0.5 0 0"/><geometry>{mesh}</geometry></visual>{more}
  </link>
  <joint name="j" type="revolute">
    <parent link="ground"/> <child link="arm"/> <axis xyz="0 0 1"/> <limit effort="1" velocity="1"/>
  </joint>
</robot>"""


def robot(folder: Path, mesh: str, more: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "robot.urdf"
    path.write_text(urdf(mesh, more), encoding="utf-8")
    return path


def drawn(model: kc.Model | kc.CompiledModel) -> list[Array]:
    """The lines of shapes in a picture where q = 0, (k, 3) each."""
    figure = model.draw(np.zeros(2), labels=False, loads=False, view=(20, 30))
    lines = [line for line in figure.axes[0].get_lines() if line.get_color() == "#8aa4cf"]
    return [np.stack([np.asarray(part, dtype=np.float64) for part in line.get_data_3d()], axis=-1) for line in lines]


# ----------------------------------------------------------------------------------------------- where files are
def test_where_files_are_looked_for(tmp_path: Path) -> None:
    file = write_stl(tmp_path / "share" / "bot" / "meshes" / "a b.stl", CORNERS, FACES)
    folder = tmp_path / "share" / "bot" / "urdf"
    folder.mkdir()
    for name in ("package://bot/meshes/a b.stl", "../meshes/a b.stl", f"{file}", f"file://{file}"):
        found = find(name, str(folder))
        assert found is not None, name
        assert found.samefile(file), name
    beside = tmp_path / "share" / "other" / "urdf"
    beside.mkdir(parents=True)
    assert find("package://bot/meshes/a b.stl", str(beside)) == file
    assert find(f"file://{str(file).replace(' ', '%20')}", None) == file


@pytest.mark.parametrize(
    "name",
    [
        *("package://bot/a.stl", "package://nobody/a.stl", "package://", "a.stl", "missing.stl", "file://missing.stl"),
        *("https://example.org/a.stl", "model://bot/a.stl", "", "a.txt", "folder.stl", "x\0.stl", "x" * 5000 + ".stl"),
    ],
)
def test_what_is_not_found_is_none(name: str, tmp_path: Path) -> None:
    """Also where a folder has such a name; a text without a folder knows absolute paths alone."""
    write_stl(tmp_path / "a.stl", CORNERS, FACES)
    (tmp_path / "a.txt").write_text("no mesh")
    (tmp_path / "folder.stl").mkdir()
    assert find(name, None) is None
    assert (find(name, str(tmp_path)) is not None) == (name == "a.stl")
    assert mesh_lines(name, None, (1.0, 1.0, 1.0)) == ()


# ------------------------------------------------------------------------------------------- without a library
def test_a_missing_mesh_is_no_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a missing file nor a missing library is noticed, and no file is opened; other shapes are there."""
    monkeypatch.setitem(sys.modules, "trimesh", None)
    monkeypatch.setattr(meshes, "mesh_lines", None)
    ball_too = '<visual><geometry><sphere radius="0.1"/></geometry></visual>'
    model = kc.Model.from_urdf(robot(tmp_path, '<mesh filename="package://nowhere/a.stl"/>', ball_too))
    assert kc.compile(model).udot(0.0, [0.0, 0.0], r=[1.0]).tolist() == [10.0]
    assert [shape.kind for _, shape in model.description.shapes] == ["Mesh", "Sphere"]
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "trimesh", None)
    write_stl(tmp_path / "b.stl", CORNERS, FACES)
    meshes._lines_of_file.cache_clear()
    assert mesh_lines("b.stl", str(tmp_path), (1.0, 1.0, 1.0)) == ()
    meshes._lines_of_file.cache_clear()


def test_other_shapes_are_drawn_without_the_mesh(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    ball_too = '<visual><geometry><sphere radius="0.1"/></geometry></visual>'
    model = kc.Model.from_urdf(robot(tmp_path, '<mesh filename="package://nowhere/a.stl"/>', ball_too))
    for each in (model, kc.compile(model)):
        assert len(drawn(each)) == 3, "those of the sphere"


@pytest.mark.parametrize("scale", ["", "1 2", "0 1 1", "a b c", "inf 1 1", "nan nan nan"])
def test_what_no_picture_could_show(scale: str) -> None:
    model = kc.Model.from_urdf(urdf(f'<mesh filename="/a.stl" scale="{scale}"/>'))
    assert not model.description.shapes
    assert not kc.Model.from_urdf(urdf("<mesh/>")).description.shapes
    assert not kc.Model.from_urdf(urdf(f'<mesh filename="{"a" * 2000}.stl"/>')).description.shapes


@pytest.mark.compiler
def test_a_model_is_the_same_in_every_folder(tmp_path: Path) -> None:
    """No path of a machine is in the description, nor in the C text, which is the key of the cache."""
    mesh = '<mesh filename="package://bot/a.stl" scale="0.001 0.001 0.001"/>'
    here, there = (kc.Model.from_urdf(robot(tmp_path / name, mesh)) for name in ("here", "there"))
    assert fingerprint(here.description) == fingerprint(there.description)
    dyn, other = kc.compile(here), kc.compile(there)
    assert dyn.source == other.source
    assert "package://bot/a.stl" in dyn.source["core"]
    assert str(tmp_path) not in dyn.source["core"]
    assert dyn.info["folder"] == str(tmp_path / "here")
    assert "folder" not in kc.compile(kc.Model.from_urdf(robot(tmp_path, '<sphere radius="1"/>'))).info


# -------------------------------------------------------------------------------------------------- with trimesh
@pytest.fixture
def trimesh() -> None:
    pytest.importorskip("trimesh", reason="files of meshes are read by trimesh: pip install trimesh pycollada")


@pytest.mark.usefixtures("trimesh")
def test_a_box_is_drawn_where_it_is(tmp_path: Path) -> None:
    """Edges and cuts in its faces, with the scale, at the origin of the visual; also of a compiled and a sent model."""
    write_stl(tmp_path / "bot" / "box.stl", 1000.0 * CORNERS, FACES)
    scale = " ".join(map(str, SIZES / 1000.0))
    path = robot(tmp_path / "bot" / "urdf", f'<mesh filename="package://bot/box.stl" scale="{scale}"/>')
    model = kc.Model.from_urdf(path)
    dyn = kc.compile(model)
    for each in (model, dyn, pickle.loads(pickle.dumps(dyn))):
        lines = drawn(each)
        assert 6 <= len(lines) <= meshes.MOST_LINES
        points = np.concatenate(lines) - [0.5, 0.0, 0.0]
        np.testing.assert_allclose([points.min(axis=0), points.max(axis=0)], [np.zeros(3), SIZES], atol=1e-6)
        on_a_face = np.isclose(points, 0.0, atol=1e-6) | np.isclose(points, SIZES, atol=1e-6)
        assert on_a_face.any(axis=1).all()
        corners = {tuple(corner) for corner in np.round(points / SIZES, 5)}
        assert {tuple(corner) for corner in CORNERS} <= corners
    shutil.rmtree(tmp_path / "bot")
    assert drawn(pickle.loads(pickle.dumps(dyn))) == []


@pytest.mark.usefixtures("trimesh")
def test_a_negative_scale_mirrors(tmp_path: Path) -> None:
    write_stl(tmp_path / "box.stl", CORNERS, FACES)
    model = kc.Model.from_urdf(robot(tmp_path, '<mesh filename="box.stl" scale="1 -0.5 1"/>'))
    points = np.concatenate(drawn(model)) - [0.5, 0.0, 0.0]
    np.testing.assert_allclose([points.min(axis=0), points.max(axis=0)], [[0, -0.5, 0], [1, 0, 1]], atol=1e-6)


@pytest.mark.usefixtures("trimesh")
def test_a_fine_mesh_has_few_lines(tmp_path: Path) -> None:
    """A ball of 39,000 triangles has no sharp edge: cuts alone, closed and to within the tolerance."""
    points, faces = ball(100)
    lines = mesh_lines(str(write_stl(tmp_path / "ball.stl", points, faces)), None, (1.0, 1.0, 1.0))
    assert 6 <= len(lines) <= 9
    assert sum(map(len, lines)) <= meshes.MOST_POINTS
    assert all(np.allclose(line[0], line[-1]) for line in lines)
    along = np.linspace(0.0, 1.0, 5)[:, np.newaxis, np.newaxis]
    radii = [np.linalg.norm((1.0 - along) * line[:-1] + along * line[1:], axis=-1) for line in lines]
    assert min(map(np.min, radii)) > 1.0 - 3.0 * meshes.TOLERANCE
    assert max(map(np.max, radii)) < 1.0 + 1e-6


@pytest.mark.usefixtures("trimesh")
def test_formats(tmp_path: Path) -> None:
    """OBJ and COLLADA, whose unit counts."""
    obj = tmp_path / "box.obj"
    vertices = "".join(f"v {x} {y} {z}\n" for x, y, z in CORNERS)
    obj.write_text("mtllib none.mtl\n" + vertices + "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in FACES))
    expected = np.concatenate(mesh_lines(str(write_stl(tmp_path / "box.stl", CORNERS, FACES)), None, (1, 1, 1)))
    found = np.concatenate(mesh_lines(str(obj), None, (1, 1, 1)))
    np.testing.assert_allclose(np.ptp(found, axis=0), np.ptp(expected, axis=0))
    pytest.importorskip("collada", reason="COLLADA is read by pycollada: pip install trimesh pycollada")
    dae = tmp_path / "box.dae"
    dae.write_text(COLLADA)
    np.testing.assert_allclose(
        np.ptp(np.concatenate(mesh_lines(str(dae), None, (1, 1, 1))), axis=0), 0.001 * np.ones(3)
    )
    dae.write_text(COLLADA.replace("<COLLADA", '<!DOCTYPE COLLADA [<!ENTITY a "b">]>\n<COLLADA', 1))
    assert mesh_lines(str(dae), None, (1, 1, 1)) == ()


COLLADA = f"""<?xml version="1.0" encoding="utf-8"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><created>2026-01-01T00:00:00Z</created><modified>2026-01-01T00:00:00Z</modified>
    <unit meter="0.001" name="millimeter"/><up_axis>Z_UP</up_axis></asset>
  <!-- a box -->
  <library_geometries><geometry id="box" name="box"><mesh>
    <source id="places"><float_array id="numbers" count="24">
      {" ".join(f"{number:g}" for number in CORNERS.ravel())}</float_array>
      <technique_common><accessor source="#numbers" count="8" stride="3">
        <param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/>
      </accessor></technique_common></source>
    <vertices id="corners"><input semantic="POSITION" source="#places"/></vertices>
    <triangles count="12"><input semantic="VERTEX" source="#corners" offset="0"/>
      <p>{" ".join(str(i) for face in FACES for i in face)}</p></triangles>
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="all"><node id="node"><instance_geometry url="#box"/></node>
  </visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#all"/></scene>
</COLLADA>
"""


@pytest.mark.usefixtures("trimesh")
@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("stl", b""),
        ("stl", b"solid nothing\nendsolid nothing\n"),
        ("stl", bytes(80) + b"\xff\xff\xff\xff" + bytes(50)),
        ("obj", b"f 1 2 3\n"),
        ("obj", b"v nan nan nan\nv 0 0 0\nv 1 0 0\nf 1 2 3\n"),
        ("obj", b"v 0 1e300 0\nv 0 -1e300 0\nv 1 0 0\nf 1 2 3\n"),
        ("obj", b"v 0 0 0\nv 0 1 0\nv 1 0 0\nf 1 2 9\n"),
        ("obj", b"v 1 1 1\nv 1 1 1\nv 1 1 1\nf 1 2 3\n"),
        ("dae", b"<COLLADA"),
        ("dae", b"\x00" * 100),
    ],
)
def test_what_is_no_mesh_is_not_drawn(kind: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"bad.{kind}"
    path.write_bytes(content)
    assert mesh_lines(str(path), None, (1.0, 1.0, 1.0)) == ()


@pytest.mark.usefixtures("trimesh")
def test_corners_at_infinity_are_not_drawn(tmp_path: Path) -> None:
    """Nor does the reader warn of them."""
    triangle = "facet normal 0 0 1\nouter loop\n{}endloop\nendfacet\n"
    corners = "vertex 0 0 0\nvertex {} 0 0\nvertex 0 1 0\n"
    for far in ("inf", "1e300"):
        name = f"{far}.stl"
        (tmp_path / name).write_text(f"solid s\n{triangle.format(corners.format(far))}endsolid s\n")
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            assert mesh_lines(name, str(tmp_path), (1.0, 1.0, 1.0)) == ()
        assert not said


@pytest.mark.parametrize(("limit", "value"), [("LARGEST", 600), ("MOST_FACES", 11)])
def test_large_files_are_not_read(limit: str, value: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_stl(tmp_path / f"{limit}.stl", CORNERS, FACES)
    assert path.stat().st_size > 600
    monkeypatch.setattr(meshes, limit, value)
    assert mesh_lines(str(path), None, (1.0, 1.0, 1.0)) == ()


@pytest.mark.usefixtures("trimesh")
def test_another_file_in_its_place_is_read(tmp_path: Path) -> None:
    path = write_stl(tmp_path / "box.stl", CORNERS, FACES)
    first = np.concatenate(mesh_lines(str(path), None, (1.0, 1.0, 1.0)))
    points, faces = ball(10)
    write_stl(path, points, faces)
    assert np.concatenate(mesh_lines(str(path), None, (1.0, 1.0, 1.0))).min() < first.min()
