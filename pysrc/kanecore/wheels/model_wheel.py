# SPDX-License-Identifier: BSD-3-Clause
"""Model wheels: compiled models that pip installs, and that load without SymPy and without a compiler.

Names and versions of distributions follow Python's packaging rules.  A wheel may carry the installed kanecore, for
machines without it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import keyword
import math
import os
import platform
import re
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from kanecore.build import cache
from kanecore.build.c_compiler import NO_COMPILER, find_compiler, include_dir
from kanecore.build.compilation import prebuild
from kanecore.build.simd_levels import lane_levels, levels
from kanecore.compiled_model import CompiledModel
from kanecore.emit.kernel_groups import Groups, lanes_of
from kanecore.emit.sources import version
from kanecore.emit.sources import version as own_version
from kanecore.errors import CompileError
from kanecore.export.exported_library import LIBRARIES, description_of, library_of, model_of, with_values, write_archive
from kanecore.kernels import GROUPS
from kanecore.prebuilt import FACTS
from kanecore.wheels.platform_tags import platform_tag, suffix

__all__ = ["REQUIREMENTS", "build_wheel", "compatible", "module_of", "normal_version", "run_time", "tag_with"]

_NAME = re.compile(r"[a-z0-9]|[a-z0-9][a-z0-9._-]*[a-z0-9]", re.IGNORECASE)  # name of a distribution, PEP 508

# PEP 440, appendix B.
_VERSION = re.compile(
    r"""v?(?:(?P<epoch>[0-9]+)!)?(?P<release>[0-9]+(?:\.[0-9]+)*)
    (?:[-_.]?(?P<pre>a|b|c|rc|alpha|beta|pre|preview)[-_.]?(?P<pre_n>[0-9]+)?)?
    (?P<post>-(?P<post_only>[0-9]+)|[-_.]?(?:post|rev|r)[-_.]?(?P<post_n>[0-9]+)?)?
    (?P<dev>[-_.]?dev[-_.]?(?P<dev_n>[0-9]+)?)?
    (?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_PRE = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}

# Names of other modules.  Python's list leaves out `test`, and modules that only some versions of Python have.
_TAKEN = {
    *("kanecore", "numpy", "sympy", "scipy", "test", "sitecustomize", "usercustomize", "pip", "setuptools"),
    *("pkg_resources", "annotationlib", "asynchat", "asyncore", "binhex", "compression", "distutils", "imp", "smtpd"),
    *("tomllib", "aifc", "audioop", "cgi", "cgitb", "chunk", "crypt", "imghdr", "lib2to3", "mailcap", "msilib", "nis"),
    *("nntplib", "ossaudiodev", "pipes", "sndhdr", "spwd", "sunau", "telnetlib", "uu", "xdrlib"),
}


def module_of(name: str) -> str:
    """The name of the module, as in the wheel's file name."""
    if not isinstance(name, str):
        raise TypeError(f"name is {name!r}; it must be text, such as 'arm-model'")
    if not _NAME.fullmatch(name) or not name.isascii():
        raise ValueError(
            f"name is {name!r}, which no distribution can have: use letters, digits, and - _ . between them, such as "
            "'arm-model'"
        )
    module = re.sub(r"[-_.]+", "_", name).lower()
    if not module.isidentifier() or keyword.iskeyword(module):
        raise ValueError(
            f"name is {name!r}, whose module {module!r} cannot be imported: begin with a letter, and use no keyword of "
            "Python's own"
        )
    if module in sys.stdlib_module_names or module in _TAKEN:
        raise ValueError(
            f"name is {name!r}, and there is another module {module!r}: choose a name such as '{name}-model'"
        )
    return module


def normal_version(version: str) -> str:
    """The version as PEP 440 writes it."""
    if not isinstance(version, str):
        raise TypeError(f"version is {version!r}; it must be text, such as '1.0'")
    found = _VERSION.fullmatch(version.strip())
    if found is None:
        raise ValueError(f"version is {version!r}, which PEP 440 refuses; write '1.0', '1.0.2' or '2.0rc1'")
    part = {key: value.lower() for key, value in found.groupdict().items() if value is not None}
    epoch = int(part.get("epoch", 0))
    text = (f"{epoch}!" if epoch else "") + ".".join(str(int(n)) for n in part["release"].split("."))
    if "pre" in part:
        text += f"{_PRE.get(part['pre'], part['pre'])}{int(part.get('pre_n', 0))}"
    if "post" in part:
        text += f".post{int(part.get('post_only') or part.get('post_n', 0))}"
    if "dev" in part:
        text += f".dev{int(part.get('dev_n', 0))}"
    if "local" in part:
        text += "+" + ".".join(str(int(n)) if n.isdigit() else n for n in re.split("[-_.]", part["local"]))
    return text


def compatible(version: str) -> str:
    """Releases of kanecore that may read the wheel; the ABI is the same within a minor version."""
    found = re.match(r"(\d+)\.(\d+)", version)
    if found is None:
        return ""
    return f">={found[0]}.0.dev0,<{found[1]}.{int(found[2]) + 1}"


REQUIREMENTS = ("numpy>=1.24",)
"""Requirements of a compiled model; pyproject.toml requires the same, and SymPy."""

_NATIVE = (".so", ".pyd", ".dll", ".dylib")
_OWN = EXTENSION_SUFFIXES[0]  # such as .cpython-311-x86_64-linux-gnu.so
_LEFT_OUT = ("__pycache__", "_lib")  # _lib: the compiled models of the gallery


def run_time() -> dict[str, bytes]:
    """The files of the run time by path: the package without the gallery's libraries, and metadata with its version.

    Its extension is for this version of Python and this system.  The package is complete: with SymPy installed, it
    derives models.
    """
    package = Path(__file__).parents[1]
    files = {}
    for path in sorted(package.rglob("*")):
        parts = path.relative_to(package).parts
        extension = path.suffix in _NATIVE
        if path.is_file() and not set(parts) & {*_LEFT_OUT} and (not extension or path.name.endswith(_OWN)):
            files["/".join(("kanecore", *parts))] = path.read_bytes()
    own = version()
    release = normal_version(own) if own != "source" else "0"
    files[f"kanecore-{release}.dist-info/METADATA"] = (
        f"Metadata-Version: 2.1\nName: kanecore\nVersion: {release}\n".encode()
    )
    return files


def tag_with(libraries: list[bytes], carried: list[bytes]) -> str:
    """Tag of a wheel with libraries of a model and a run time, if any.

    Raises
    ------
    CompileError
        The libraries are for different systems.
    """
    if not carried:
        return f"py3-none-{platform_tag(libraries)}"
    mine, its = platform_tag(libraries), platform_tag(carried)
    try:
        platform = platform_tag([*libraries, *carried])
    except CompileError as error:
        raise CompileError(
            f"the compiler builds for {mine}, and the run time of kanecore that the wheel would carry is for {its}: "
            "with runtime=False the wheel leaves it out, and requires kanecore"
        ) from error
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}{getattr(sys, 'abiflags', '')}-{platform}"


_CARRIED = "runtime"
"""The folder of a wheel's module with kanecore's run time."""

_MODULE = '''\
"""The model {model}, compiled by kanecore {kanecore}; `load` opens it."""

from __future__ import annotations

{imports}from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kanecore import CompiledModel

__all__ = ["load"]
{path}

def load() -> CompiledModel:
    """A new copy of the model, with the parameters and inputs that it had when the wheel was built."""
    from kanecore.prebuilt import load_wheel

    return load_wheel(__name__)
'''

_IMPORTS = "import sys\nfrom pathlib import Path\n"
_PATH = f"""
# At the end: a kanecore that is installed goes first.
sys.path.append(str(Path(__file__).parent / "{_CARRIED}"))
"""


def build_wheel(
    dyn: CompiledModel,
    folder: str | os.PathLike[str],
    *,
    name: str,
    version: str,
    cc: str | Sequence[str] | None = None,
    runtime: bool = True,
) -> Path:
    """Write a wheel with one compiled model, which pip installs as a module with a function ``load()``.

    The current parameters and inputs become the defaults; a parameter without a value has none after ``load()``.  The
    installed model needs only NumPy, neither SymPy nor a compiler, and its results are bit-identical to those of
    ``dyn``.  The wheel carries the run time of kanecore, which is used if kanecore is not installed.  The page of the
    distribution shows the report of the model.

    Parameters
    ----------
    dyn : CompiledModel
    folder : path
        The folder for the wheel; it is made if missing.
    name : str
        Name of the distribution, such as "arm-model".  The module is called the same with underscores: ``arm_model``.
    version : str
        Version of the distribution, by PEP 440, such as "1.0" or "2.0rc1".
    cc : str or sequence of str, optional
        The compiler, with arguments if any.  With ``python -m ziglang cc -target x86_64-linux-gnu.2.17`` the wheel
        runs on every Linux since 2014.  Default: as in `kanecore.compile`.
    runtime : bool
        Whether to carry the installed kanecore (2 MB); its extension is for this version of Python and this system.
        Without it the wheel is for every Python 3, and for the system of ``cc``; it requires kanecore, with which pip
        installs SymPy.

    Returns
    -------
    Path
        The wheel.  On x86-64 it has the model for several instruction levels; ``load()`` takes the best.

    Raises
    ------
    NotADirectoryError
        The folder is a file.
    ValueError, TypeError
        A name or a version that is not allowed in a wheel; an object that is no compiled model.
    ModelError
        The model calls C functions by address; or it comes from a wheel, without its description.
    CompileError
        There is no compiler, or it failed; or it builds for another system than the run time's.

    Notes
    -----
    The same model gives the same bytes.  The tag of the wheel follows from the libraries: on Linux it has the newest
    glibc that they need.  A kanecore with another `ABI_VERSION` refuses to load the model.

    Examples
    --------
    ``kc.build_wheel(dyn, "dist", name="arm-model", version="1.0")``, and after ``pip install`` of it:
    ``import arm_model; dyn = arm_model.load()``
    """
    if not isinstance(dyn, CompiledModel):
        raise TypeError(f"build_wheel takes a compiled model, not a {type(dyn).__name__}: kc.compile(model) makes one")
    module, release = module_of(name), normal_version(version)
    place = _folder(folder)
    files = _module_files(dyn, name, release, cc, runtime)
    carried = run_time() if runtime else {}
    tag = tag_with(_libraries(files), _libraries(carried))
    files |= {f"{_CARRIED}/{path}": content for path, content in carried.items()}
    info = f"{module}-{release}.dist-info"
    contents = {f"{module}/{path}": content for path, content in files.items()}
    contents[f"{info}/METADATA"] = _metadata(dyn, name, release, module, runtime).encode()
    contents[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: kanecore {own_version()}\nRoot-Is-Purelib: false\nTag: {tag}\n"
    ).encode()
    contents[f"{info}/RECORD"] = _record(contents, f"{info}/RECORD").encode()
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"{module}-{release}-{tag}.whl"
    write_archive(path, contents)
    return path


# ----------------------------------------------------------------------------------------------------- arguments


def _folder(folder: str | os.PathLike[str]) -> Path:
    path = Path(folder)
    nearest = next((each for each in (path, *path.absolute().parents) if each.exists()), path)
    if not nearest.is_dir():
        raise NotADirectoryError(f"{str(nearest)!r} is a file; build_wheel writes into a folder: name one")
    return path


# --------------------------------------------------------------------------------------------------------- files


def _libraries(files: Mapping[str, bytes]) -> list[bytes]:
    return [content for path, content in files.items() if path.endswith(LIBRARIES)]


def _module_files(
    dyn: CompiledModel, name: str, version: str, cc: str | Sequence[str] | None, runtime: bool
) -> dict[str, bytes]:
    """Files of the module itself, by path."""
    texts, lanes = _texts(dyn)
    facts = {
        "abi": _abi_version(),
        "baked": dyn.info.get("baked", []),
        "distribution": name,
        "groups": list(texts),
        "inputs": with_values(dyn.inputs),
        "kanecore": own_version(),
        "parameters": with_values(dyn.parameters),
        "real": _real(dyn),
        "version": version,
    }
    return {
        "__init__.py": _MODULE.format(
            model=ascii(dyn.name),
            kanecore=own_version(),
            imports=_IMPORTS if runtime else "",
            path=_PATH if runtime else "",
        ).encode(),
        "py.typed": b"",
        FACTS: (json.dumps(facts, indent=1, sort_keys=True) + "\n").encode(),
        **{f"{group}.c": text.encode() for group, text in texts.items()},
        **_compiled(texts, lanes, cc),
    }


def _texts(dyn: CompiledModel) -> tuple[dict[str, str], dict[str, str]]:
    """The C text of each group of kernels, and the text for several states at once.

    A model in one library stays in one, and a model in groups stays in groups: they share different terms, so their
    last bits differ.
    """
    real, what = _real(dyn), "a model wheel"
    description = description_of(dyn, what)
    if "all" in dyn.source:
        library = library_of(dyn, what, real=real)
        return {"all": library.emitted().text}, {"core": lanes_of(library, real).emitted().text}
    groups = Groups(description, real=real)
    names = [group for group in GROUPS if group in dyn.libraries.names]
    return {group: groups.emit(group).text for group in names}, {"core": groups.emit("core", lanes=True).text}


def _real(dyn: CompiledModel) -> str:
    return "float" if dyn.single else "double"


def _compiled(texts: Mapping[str, str], lanes: Mapping[str, str], cc: str | Sequence[str] | None) -> dict[str, bytes]:
    """Libraries by file name, for every level of the architecture, and for all its processors."""
    if cc == NO_COMPILER:
        raise CompileError('cc is "none": a model wheel has compiled libraries, so building one needs a compiler')
    command = find_compiler(cc)
    machine = _machine(command)
    scalar, wide = dict.fromkeys(("baseline", *levels(machine))), lane_levels(machine)
    wanted = [(group, text, level) for group, text in texts.items() for level in scalar]
    wanted += [(f"{group}.lanes", text, level) for group, text in lanes.items() for level in wide]

    def build(job: tuple[str, str, str]) -> bytes:
        name, source, level = job
        built = prebuild(
            source, level, machine=machine, cc=command, include=include_dir(), folder=cache.folder(), name=name
        )
        return Path(built.path).read_bytes()

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        made = list(pool.map(build, wanted))
    return {f"{name}.{level}{suffix(made[i])}": made[i] for i, (name, _, level) in enumerate(wanted)}


def _machine(command: Sequence[str]) -> str:
    """The architecture that a compiler builds for: from the target among its arguments, or this machine's."""
    for word, following in zip(command, [*command[1:], ""], strict=True):
        if word in ("-target", "--target"):
            return following.partition("-")[0]
        if word.startswith("--target="):
            return word.removeprefix("--target=").partition("-")[0]
    return platform.machine()


def _abi_version() -> int:
    """ABI version of the header with which the libraries are compiled."""
    header = (include_dir() / "kanecore.h").read_text(encoding="utf-8")
    found = re.search(r"^#define KC_ABI_VERSION (\d+)u?$", header, re.MULTILINE)
    assert found is not None
    return int(found[1])


# ------------------------------------------------------------------------------------------------------ metadata


def _metadata(dyn: CompiledModel, name: str, version: str, module: str, runtime: bool) -> str:
    """Metadata for pip and package indexes, with the page of the model."""
    required = REQUIREMENTS if runtime else (f"kanecore{compatible(own_version())}",)
    return (
        "Metadata-Version: 2.1\n"
        f"Name: {name}\n"
        f"Version: {version}\n"
        f"Summary: {_one_line(f'The model {dyn.name} as machine code, for kanecore')}\n"
        "Classifier: Topic :: Scientific/Engineering :: Physics\n"
        "Classifier: Typing :: Typed\n"
        "Requires-Python: >=3.10\n"
        + "".join(f"Requires-Dist: {each}\n" for each in required)
        + "Description-Content-Type: text/markdown; charset=UTF-8\n"
        f"\n{_page(dyn, name, module, runtime)}"
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _page(dyn: CompiledModel, name: str, module: str, runtime: bool) -> str:
    """Page of the model: the way to load it, its names and values, and its report."""
    needs = f"kanecore with ABI version {_abi_version()}, and neither SymPy nor a compiler"
    if runtime:
        needs = (
            f"NumPy, and neither SymPy nor a compiler. It carries kanecore {own_version()} (BSD-3-Clause), which is "
            "taken where kanecore is not installed"
        )
    lists: Mapping[str, Sequence[str]] = {
        "Coordinates": dyn.coordinate_names,
        "Speeds": dyn.speed_names,
        "States": dyn.state_names,
        "Inputs": dyn.input_names,
        "Outputs": dyn.output_names,
    }
    names = "".join(
        f"- {title}: {', '.join(f'`{each}`' for each in found)}\n" for title, found in lists.items() if found
    )
    numbers = [*map(float, dyn.kernels.values("parameter")), *map(float, dyn.kernels.values("input"))]
    kinds = ["parameter"] * dyn.n_p + ["input"] * dyn.n_r
    rows = "".join(
        f"| {kind} | `{each}` | {'not set' if math.isnan(value) else repr(value)} |\n"
        for kind, each, value in zip(kinds, (*dyn.parameter_names, *dyn.input_names), numbers, strict=True)
    )
    table = f"\n| | name | value |\n|---|---|---|\n{rows}" if rows else ""
    return (
        f"# {name}\n\nThe model `{_one_line(dyn.name)}`, compiled. It needs {needs}.\n\n"
        f"```python\nimport {module}\n\ndyn = {module}.load()\nprint(dyn.parameters)\n```\n\n"
        f"{names}{table}\n## Report\n\n```text\n{model_of(dyn).report()}\n```\n"
    )


def _record(contents: Mapping[str, bytes], itself: str) -> str:
    lines = []
    for path, content in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(content)}\n")
    return "".join([*lines, f"{itself},,\n"])
