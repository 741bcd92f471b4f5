# SPDX-License-Identifier: BSD-3-Clause
"""The examples run, the pages show them whole, and the errors that they explain exist.  The site itself: .ci/run."""

import importlib
import io
import json
import os
import re
import runpy
import subprocess
import sys
import textwrap
import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sweep
from gallery_states import c_text

import kanecore as kc
from kanecore.binding.declared_methods import reference_text
from kanecore.build.c_compiler import find_compiler
from kanecore.gallery._motions import MOTIONS

pytestmark = pytest.mark.compiler

CONFIGURATION = """
import sys
sys.path.insert(0, {extensions!r})
extensions = ["executed"]
"""

WAYS = """
import sys
from pathlib import Path
import sympy as sm
import sympy.physics.mechanics as me
import kanecore as kc
import kanecore.build, kanecore.emit.kernel_groups, kanecore.compiled_model

root, entered = Path(kc.__file__).parent, {}
kc.Model, kc.compile  # imported when they are first named

def follow(frame, event, _):
    file = Path(frame.f_code.co_filename)
    if event == "call" and root in file.parents and frame.f_code.co_name != "<module>":
        entered.setdefault(file.relative_to(root).as_posix())

(q, x, y), (u, v, w), (m, l, g) = me.dynamicsymbols("q x y"), me.dynamicsymbols("u v w"), sm.symbols("m l g")
N, O = me.ReferenceFrame("N"), me.Point("O")
A = N.orientnew("A", "Axis", [q, N.z])
A.set_ang_vel(N, u * N.z)
O.set_vel(N, 0)

def pendulum():
    P = O.locatenew("P", -l * A.y)
    model = kc.Model(N, [q], [u], [q.diff() - u], bodies=[me.Particle("bob", P, m)], forcelist=[(P, -m * g * N.y)])
    kc.compile(model, parameters={m: 1, l: 1, g: 9.8}).udot(0.0, [0.1, 0.0])

def constrained():
    P = O.locatenew("P", x * N.x + y * N.y)
    P.set_vel(N, v * N.x + w * N.y)
    circle = {"configuration_constraints": [x**2 + y**2 - l**2]}
    body = {"bodies": [me.Particle("bob", P, m)], "forcelist": [(P, -m * g * N.y)]}
    model = kc.Model(N, [x, y], [v, w], [x.diff() - v, y.diff() - w], **circle, **body)
    kc.compile(model, parameters={m: 1, l: 1, g: 9.8}).check([0.6, 0.9, 0.1, 0.1])

for way in (pendulum, constrained):
    entered.clear()
    sys.setprofile(follow)
    way()
    sys.setprofile(None)
    print(*entered)
"""


@pytest.mark.long
@pytest.mark.parametrize("name", ["quickstart", "chain"])
def test_example_runs(name: str, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if name == "quickstart":
        pytest.importorskip("matplotlib")
    runpy.run_path(str(root / f"examples/{name}.py"))
    assert capsys.readouterr().out


@pytest.mark.long
def test_c_example_runs_without_python(root: Path, tmp_path: Path) -> None:
    (tmp_path / "model.c").write_text(c_text("rrp"), encoding="utf-8")
    flags = ["-std=c99", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", f"-I{kc.get_include()}"]
    files = [str(root / "examples/from_c.c"), "model.c", "-o", "from_c", "-lm"]
    subprocess.run([*find_compiler(), *flags, *files], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "from_c"], capture_output=True, text=True, check=True)
    angles = dict(line.split(" = ") for line in done.stdout.splitlines())

    dyn = kc.load("rrp")
    sol = dyn.simulate((0.0, 0.1), [0.0] * dyn.n_x)
    for name, q in zip(dyn.coordinate_names, sol.q[-1], strict=True):
        assert float(angles[name]) == pytest.approx(q, abs=0.02 * abs(sol.q[-1]).max())


def test_quick_start_shows_the_whole_example(root: Path) -> None:
    cells = re.findall(r"^# %% (.*)$", (root / "examples/quickstart.py").read_text(encoding="utf-8"), re.MULTILINE)
    page = (root / "docs/start/quickstart.md").read_text(encoding="utf-8")
    assert re.findall(r"^:cell: (.*)$", page, re.MULTILINE) == cells


def test_readme_says_what_it_is_and_then_the_two_commands(root: Path) -> None:
    text = (root / "README.md").read_text(encoding="utf-8")
    title, *about = text[: text.index("\n\n!")].split("\n")
    assert title == "# kanecore"
    assert len([line for line in about if line]) == 3
    first = re.search(r"^```\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert first is not None
    assert "```" not in text[: first.start()]
    assert [line[:7] for line in first[1].splitlines()] == ["python3", "python3"]


def test_readme_prints_what_it_says(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if not sweep.LONG:
        monkeypatch.setenv("CC", "none")  # the machine prints the same
    text = (root / "README.md").read_text(encoding="utf-8")
    example = re.search(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert example is not None
    expected = re.findall(r"^print\(.*\)  # (.*)$", example[1], re.MULTILINE)
    assert len(expected) == example[1].count("print(") > 0
    exec(compile(example[1], "README.md", "exec"), {})
    assert capsys.readouterr().out.splitlines() == expected


def test_readme_leads_to_what_exists(root: Path) -> None:
    links = re.findall(r"\]\(([^)]+)\)", (root / "README.md").read_text(encoding="utf-8"))
    assert len(links) > 30
    assert [link for link in links if not (root / link).is_file()] == []


def test_each_model_of_the_gallery_has_its_page(root: Path) -> None:
    pages = {path.stem: path.read_text(encoding="utf-8") for path in (root / "docs/gallery").glob("*.md")}
    index = pages.pop("index")
    assert set(pages) == set(kc.models())
    assert sorted(re.findall(r"^(\w+)$", index, re.MULTILINE)) == sorted(pages)
    assert sorted(MOTIONS) == sorted(pages)
    for name, page in pages.items():
        assert f'kc.load("{name}")' in page
        assert f'mechanisms.forcing("{name}")' in page or f'gallery.{name}.build().latex("forcing")' in page
        assert set(re.findall(r'^mechanisms\.\w+\("(\w+)".*\)$', page, re.MULTILINE)) == {name}


def test_explained_errors_exist(root: Path) -> None:
    """Each message quoted on the page, between its dots, is a piece of a string of the sources."""
    files = [*(root / "pysrc/kanecore").rglob("*.py"), *(root / "kanecore").rglob("*.p*")]
    sources = "\n".join(file.read_text(encoding="utf-8") for file in files)
    sources = re.sub(r'"\s*\n\s*f?"', "", sources)  # strings that go on in the next line
    page = (root / "docs/reference/errors.md").read_text(encoding="utf-8")
    quoted = [quote for line in page.splitlines() if line.startswith("| “") for quote in re.findall("“(.*?)”", line)]
    assert len(quoted) > 30
    pieces = [piece.strip() for quote in quoted for piece in quote.split("…")]
    assert [piece for piece in pieces if piece not in sources] == []


def test_pages_include_what_exists(root: Path) -> None:
    """Files, and the functions and lines in them, by which pieces of them are named."""
    count = 0
    for page in (root / "docs").rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        for name, options in re.findall(r"```{literalinclude} (\S+)\n((?::.*\n)*)```", text):
            source = (page.parent / name).read_text(encoding="utf-8")
            for option, value in re.findall(r"^:([\w-]+): (.*)$", options, re.MULTILINE):
                if option == "pyobject":
                    assert re.search(rf"(def|class) {value.split('.')[-1]}\b", source), (page.name, value)
                elif option in ("start-at", "end-at", "end-before"):
                    assert value.strip('"') in source, (page.name, value)
            count += 1
    assert count > 20


def test_version_of_the_contract_is_named(root: Path) -> None:
    page = (root / "docs/reference/index.md").read_text(encoding="utf-8")
    assert f"`kanecore.ABI_VERSION` ({kc.ABI_VERSION})" in page


def listed(page: Path) -> set[str]:
    """Names in the tables of a page of the reference: each has a page of its own."""
    return names_in(page.read_text(encoding="utf-8"))


def names_in(text: str) -> set[str]:
    tables = re.findall(r"^.. autosummary::\n((?: .*\n|\n)*)", text, re.MULTILINE)
    return {line.strip() for table in tables for line in table.splitlines() if re.fullmatch(r" +[\w.]+", line)}


def test_reference_lists_every_public_name(root: Path) -> None:
    index = root / "docs/reference/index.md"
    assert set(re.findall(r"`kanecore\.(\w+)`", index.read_text(encoding="utf-8"))) | listed(index) == set(kc.__all__)


def documented(kind: type) -> set[str]:
    """Members of a class that have a docstring, and that ``dir`` shows."""
    names = [name for name in dir(kind.__new__(kind)) if name in vars(kind) and not name.startswith("_")]
    return {f"{kind.__name__}.{name}" for name in names if getattr(kind, name).__doc__}


def test_each_object_has_a_page_with_an_example(root: Path) -> None:
    """The build executes the cells, and fails where a page has none."""
    folder = root / "docs/reference"
    pages = set().union(*(listed(page) for page in folder.glob("*.md")))
    facts = {"ABI_VERSION", "__version__", "gallery", "robots", "shapes", "transforms"}  # are on the first page
    methods = names_in(reference_text(kc.CompiledModel))
    pages |= methods
    properties = {"Trajectory.with_sensitivities"}  # made by `simulate`
    expected = (set(kc.__all__) - facts) | methods | documented(kc.Model) | documented(kc.Trajectory) - properties
    assert expected - pages == set()
    cells = re.findall(r"^# %% (.*)$", (folder / "examples.py").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(cells) == sorted(pages)


def test_named_tests_exist(root: Path) -> None:
    """The page "Velocities that hold only at an instant" names a test for each row of its table."""
    page = (root / "docs/background/instant.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ")][1:]
    lines = re.findall(r"^\d+\. (`test_.*)$", page, re.MULTILINE)
    assert len(lines) == len(rows) > 7
    for line in lines:
        for file, function in re.findall(r"`(test_\w+\.py)::(test_\w+)`", line):
            assert f"def {function}(" in (root / "tests" / file).read_text(encoding="utf-8")


def test_words_of_the_report_are_quoted_as_they_are(root: Path) -> None:
    page = (root / "docs/background/instant.md").read_text(encoding="utf-8")
    report = (root / "pysrc/kanecore/derive/reports/report.py").read_text(encoding="utf-8")
    for words in (
        "velocity as set by the user, which is the derivative of its position",
        "which is not the derivative of its position",
        "does not turn as its angular velocity says",
        "not oriented, written in the axes of ",
    ):
        assert words in page
        assert words in report


def build(folder: Path, root: Path, page: str) -> str:
    """The text of a page, built in this process."""
    pytest.importorskip("matplotlib")
    application = pytest.importorskip("sphinx.application")
    (folder / "conf.py").write_text(CONFIGURATION.format(extensions=str(root / "docs/_ext")))
    (folder / "index.rst").write_text(f"Title\n=====\n\n{textwrap.dedent(page)}")
    app = application.Sphinx(folder, folder, folder / "out", folder / "trees", "text", status=None, warning=None)
    app.build()
    return (folder / "out/index.txt").read_text(encoding="utf-8")


def test_blocks_of_a_page_share_names_and_show_what_they_print(root: Path, tmp_path: Path) -> None:
    page = """
    .. run::

       six = 6
       print("printed")

    .. run::
       :hide-code:

       six * 7

    .. run::
       :hide-code:
       :math:

       "x^{2}"

    .. run::
       :raises: ZeroDivisionError

       1 / 0
    """
    text = build(tmp_path, root, page)
    assert text.count("printed") == 2
    assert "six * 7" not in text
    assert "42" in text
    assert "\n   x^{2}\n" in text
    assert "ZeroDivisionError: division by zero" in text


def test_keywords_stay_when_a_page_is_not_written_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(root / "docs/_ext"))
    of_page = [("single", "LQR", "keywords", "main", None)]
    env = SimpleNamespace(
        _search_index_index_entries={"written": [("PID", "keywords", "main")]},
        metadata={"internals": {"nosearch": True}},
        domains={"index": SimpleNamespace(entries=dict.fromkeys(("kept", "written", "internals"), of_page))},
    )
    importlib.import_module("keywords").with_unchanged_pages(SimpleNamespace(env=env))
    kept = {"written": [("PID", "keywords", "main")], "kept": [("LQR", "keywords", "main")]}
    assert env._search_index_index_entries == kept


def test_printed_tables_are_told_from_text(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sphinx")
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(root / "docs/_ext"))
    has_columns = importlib.import_module("executed").has_columns
    assert has_columns(str(kc.load("double_pendulum").audit(2)))
    assert not has_columns("ModelError: no velocity of P\n[ 0.    -5.798]\nwrite P.set_vel(N, 0)")


@pytest.mark.long
def test_changed_prose_executes_nothing_and_changed_code_what_is_above_it(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    first = f"""
    .. run::

       import os
       status = os.system("echo ran >> {log}")
    """
    runs = []
    for prose, code in (("Prose", "status"), ("Other prose", "status"), ("Prose", "status + 1")):
        build(tmp_path, root, f"{first}\n    {prose}\n\n    .. run::\n\n       {code}\n")
        runs.append(log.read_text().count("ran"))
    assert runs == [1, 1, 2]


@pytest.mark.long
def test_tutorials_are_scripts_and_notebooks(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(root / "docs/_ext"))
    notebooks = importlib.import_module("notebooks")
    for file in (root / "docs/tutorials").glob("*.md"):
        page = file.read_text(encoding="utf-8")
        compile(notebooks.script(page), file.name, "exec")
        written = json.loads(notebooks.notebook(page))["cells"]
        assert written[0]["source"] == "%matplotlib inline"
        kinds = [cell["cell_type"] for cell in written[1:]]
        assert kinds.count("code") == page.count("```{run}") > 2
        assert "{doc}" not in notebooks.script(page)
        assert ".md" not in notebooks.script(page)


@pytest.mark.parametrize(
    ("block", "complaint"),
    [
        (".. run::\n\n   1 / 0", "ZeroDivisionError"),
        (".. run::\n   :raises: ValueError\n\n   1 / 0", "ZeroDivisionError"),
        (".. run::\n   :raises: ValueError\n\n   1 + 1", "should raise ValueError"),
        (".. run::\n\n   object()", "prints an address"),
        (
            ".. run::\n\n   from matplotlib.figure import Figure\n   Figure().subplots().set(xlabel='t')",
            "with the figure",
        ),
        (".. run:: conf.py\n   :cell: nothing", "has no cell"),
    ],
)
def test_failing_block_fails_the_build(block: str, complaint: str, root: Path, tmp_path: Path) -> None:
    errors = pytest.importorskip("sphinx.errors")
    with pytest.raises(errors.ExtensionError, match=complaint):
        build(tmp_path, root, block)


def named_files(text: str) -> list[str]:
    """Python files of the package that a text names, each where it is first named."""
    return list(dict.fromkeys(re.findall(r"`([\w/]+\.py)`", text)))


@pytest.mark.long
def test_the_ways_through_the_house_are_those_of_the_calls(root: Path, tmp_path: Path) -> None:
    """docs/developers/design.md names each file where the way of one value, or that to check(), first enters it."""
    environment = {**os.environ, "KANECORE_CACHE_DIR": str(tmp_path), "KANECORE_CFLAGS": "-O0"}
    done = subprocess.run([sys.executable, "-c", WAYS], env=environment, capture_output=True, text=True, check=True)
    of_value, of_check = (line.split() for line in done.stdout.splitlines())
    page = (root / "docs/developers/design.md").read_text(encoding="utf-8")
    value, check = page[page.index("### The way of one value") :].split("### From constraints to check()")
    assert named_files(value) == of_value
    named = named_files(check[: check.index("\n## ")])
    rare = {"constraints/newton_iteration.py"}
    assert [file for file in named if file not in rare] == [file for file in of_check if file in named]
    assert {file for file in of_check if file.startswith(("run/", "constraints/"))} <= set(named)


def catalogues(folder: Path, suffix: str) -> dict[str, Any]:
    """Messages of the catalogues in a folder, by the name of their page."""
    pofile = pytest.importorskip("babel.messages.pofile")
    files = {file.relative_to(folder).with_suffix("").as_posix(): file for file in folder.rglob(f"*.{suffix}")}
    return {name: pofile.read_po(io.BytesIO(file.read_bytes())) for name, file in files.items()}


def parts(text: str) -> list[tuple[str, str]]:
    """Formulas, code and targets of links in a message, sorted."""
    quoted = re.findall(r"({\w+})?`([^`]+)`", text)
    links = [(role, link.rpartition("<")[2].rstrip(">") if role else link) for role, link in quoted]
    return sorted(links + [("$", formula) for formula in re.findall(r"\$([^$]+)\$", text)])


@pytest.mark.parametrize("language", ["es", "pt"])
def test_catalogues_are_complete(language: str, root: Path) -> None:
    pages = catalogues(root / f"docs/locale/{language}/LC_MESSAGES", "po")
    assert sorted(pages) == ["index", "start/quickstart", "tutorials/kane_by_hand"]
    for name, catalogue in pages.items():
        messages = [message for message in catalogue if message.id]
        assert len(messages) > 20
        assert [message.id for message in messages if message.fuzzy or not message.string] == [], name
        assert list(catalogue.obsolete) == [], name


@pytest.mark.long
def test_catalogues_have_the_messages_of_the_pages(root: Path, tmp_path: Path) -> None:
    """Each message, and in it the same code, formulas and links."""
    pytest.importorskip("furo")
    command = [sys.executable, "-m", "sphinx", "-q", "-bgettext", "-ten", f"-d{tmp_path}/trees"]
    environment = {**os.environ, "KANECORE_CACHE_DIR": str(tmp_path), "KANECORE_CFLAGS": "-O0"}
    subprocess.run([*command, str(root / "docs"), str(tmp_path / "pot")], env=environment, check=True)
    pages = catalogues(tmp_path / "pot", "pot")
    pages.pop("sphinx", None)  # words of templates, which Sphinx translates itself
    for language in ("es", "pt"):
        translated = catalogues(root / f"docs/locale/{language}/LC_MESSAGES", "po")
        found, expected = ({name: {m.id for m in page} for name, page in all_.items()} for all_ in (translated, pages))
        assert found == expected
        for message in (message for page in translated.values() for message in page if message.id):
            assert parts(message.string) == parts(message.id), message.id


def test_words_without_a_catalogue_are_those_of_the_pages(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(root / "docs/_ext"))
    written = [(root / f"docs/_ext/{name}.py").read_text(encoding="utf-8") for name in ("mechanisms", "notebooks")]
    for words, translations in importlib.import_module("translated").WORDS.items():
        assert any(words in text for text in written), words
        assert sorted(translations) == ["es", "pt"]


INVENTORY = b"""# Sphinx inventory version 2
# Project: SciPy
# Version: 1
# The remainder of this file is compressed using zlib.
"""


def test_inventories_are_renewed_from_the_sites(
    root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All of them or none."""
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(root / "docs/_inventories"))
    renew = importlib.import_module("renew")
    monkeypatch.setattr(renew, "FOLDER", tmp_path)
    monkeypatch.setattr(renew, "SITES", {"scipy": f"{tmp_path.as_uri()}/", "numpy": f"{tmp_path.as_uri()}/absent/"})
    old = "# Sphinx inventory version 1\nscipy.integrate.quad function old.html\n"
    for project in ("scipy", "numpy"):
        (tmp_path / f"{project}.txt").write_text(old, encoding="utf-8")
    objects = b"scipy.integrate.quad py:function 1 new.html#$ -\n"
    (tmp_path / "objects.inv").write_bytes(INVENTORY + zlib.compress(objects))

    with pytest.raises(SystemExit, match=r"absent/objects\.inv cannot be read, .*; nothing is changed"):
        renew.main()
    assert (tmp_path / "scipy.txt").read_text(encoding="utf-8") == old
    del renew.SITES["numpy"]
    renew.main()
    assert (tmp_path / "scipy.txt").read_text(encoding="utf-8") == old.replace("old", "new")
    assert capsys.readouterr().err == "scipy changed\n" * 2
    (tmp_path / "objects.inv").write_bytes(INVENTORY + zlib.compress(objects.replace(b"quad", b"simpson")))
    with pytest.raises(LookupError, match=r"the site has no function scipy\.integrate\.quad: correct its line"):
        renew.main()


FENCE = re.compile(r"^ *(`{3,})(.*)\n((?:.*\n)*?) *\1 *$", re.MULTILINE)
PROSE = {"seealso", "note", "warning", "eval-rst"}  # boxes, and docstrings
COLUMNS = 88  # of a code block at 1400 pixels


def test_no_code_of_the_pages_is_cut(root: Path) -> None:
    """Blocks of all pages, and the examples, which pages show."""
    pages = {page: FENCE.findall(page.read_text(encoding="utf-8")) for page in (root / "docs").rglob("*.md")}
    assert sum(map(len, pages.values())) > 700
    codes = [
        (page, code) for page, blocks in pages.items() for _, kind, code in blocks if kind.strip(" {}") not in PROSE
    ]
    codes += [(file, file.read_text(encoding="utf-8")) for file in (root / "examples").iterdir() if file.is_file()]
    assert [(file.name, line) for file, code in codes for line in code.splitlines() if len(line) > COLUMNS] == []
