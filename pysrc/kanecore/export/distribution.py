# SPDX-License-Identifier: BSD-3-Clause
"""Names and versions of distributions, as Python's packaging writes them."""

from __future__ import annotations

import keyword
import re
import sys

__all__ = ["compatible", "module_of", "normal_version"]

_NAME = re.compile(r"[a-z0-9]|[a-z0-9][a-z0-9._-]*[a-z0-9]", re.IGNORECASE)  # of a distribution, PEP 508

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

# Modules of others. Python's list leaves out `test`, and what later versions dropped or added is in that of some only.
_TAKEN = {
    *("kanecore", "numpy", "sympy", "scipy", "test", "sitecustomize", "usercustomize", "pip", "setuptools"),
    *("pkg_resources", "annotationlib", "asynchat", "asyncore", "binhex", "compression", "distutils", "imp", "smtpd"),
    *("tomllib", "aifc", "audioop", "cgi", "cgitb", "chunk", "crypt", "imghdr", "lib2to3", "mailcap", "msilib", "nis"),
    *("nntplib", "ossaudiodev", "pipes", "sndhdr", "spwd", "sunau", "telnetlib", "uu", "xdrlib"),
}


def module_of(name: str) -> str:
    """The name of the module, which is that of the distribution in the wheel's file name."""
    if not isinstance(name, str):
        raise TypeError(f"name is {name!r}; it must be text, such as 'arm-model'")
    if not _NAME.fullmatch(name) or not name.isascii():
        raise ValueError(
            f"name is {name!r}, which no distribution can have: letters, digits, and - _ . between them, such as "
            "'arm-model'"
        )
    module = re.sub(r"[-_.]+", "_", name).lower()
    if not module.isidentifier() or keyword.iskeyword(module):
        raise ValueError(
            f"name is {name!r}, whose module {module!r} cannot be imported: begin with a letter, and use no word of "
            "Python's own"
        )
    if module in sys.stdlib_module_names or module in _TAKEN:
        raise ValueError(
            f"name is {name!r}, and the module {module!r} is another's: choose a name such as '{name}-model'"
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
    """Releases of kanecore that may read the wheel: the ABI stays within one minor version."""
    found = re.match(r"(\d+)\.(\d+)", version)
    if found is None:
        return ""
    return f">={found[0]}.0.dev0,<{found[1]}.{int(found[2]) + 1}"
