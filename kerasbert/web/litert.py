"""LiteRT.js for a site: the files of its npm packages that a page without a bundler needs."""

import re
from pathlib import Path

from kerasbert.errors import KerasBertError

FOLDER = "litert"
# Without relaxed SIMD LiteRT.js takes the compat build; a model that WebGPU runs in part needs JSPI. Each is 9 MB.
BUILDS = ("litert_wasm_internal", "litert_wasm_compat_internal", "litert_wasm_jspi_internal")
_CORE, _UTILS = "@litertjs/core", "@litertjs/wasm-utils"
_LICENCE = Path(__file__).parent / "apache-2.0.txt"
_IMPORT = re.compile(r'(\bfrom\s*)"@litertjs/wasm-utils"')
_SOURCE_MAP = re.compile(r"^//# sourceMappingURL=.*\n?", re.MULTILINE)


def litert_files(modules: Path, version: str) -> dict[str, Path | bytes]:
    """Return the files of LiteRT.js by their path in a site: the content where it is changed, else the file to copy.

    Import maps do not work in workers, and inline ones break a strict content security policy. The import of `@litertjs/wasm-utils`
    therefore becomes a relative one.

    Args:
        modules: The folder `node_modules` with both packages.
        version: The version of `@litertjs/core`, for the notice in the changed files.

    Raises:
        KerasBertError: When a file is missing, or is not as this version has it.
    """
    core, utils = modules / _CORE, modules / _UTILS
    script, count = _IMPORT.subn(r'\1"./wasm-utils.js"', _read(core / "dist" / "index.js"))
    if count != 1:
        raise KerasBertError(
            f"expected one import of {_UTILS} in {core / 'dist' / 'index.js'}, received {count}; make it again with `kerasbert setup web`"
        )
    files: dict[str, Path | bytes] = {
        f"{FOLDER}/LICENSE.txt": _LICENCE,
        f"{FOLDER}/litert.js": _with_notice(script, _CORE, version),
        f"{FOLDER}/wasm-utils.js": _with_notice(_read(utils / "dist" / "index.js"), _UTILS, version),
    }
    for build in BUILDS:
        for suffix in (".js", ".wasm"):
            files[f"{FOLDER}/{build}{suffix}"] = _existing(core / "wasm" / f"{build}{suffix}")
    return files


def _with_notice(script: str, package: str, version: str) -> bytes:
    notice = f"// {package} {version}, Apache License 2.0. Changed by kerasbert: relative imports, no source map.\n"
    return (notice + _SOURCE_MAP.sub("", script)).encode()


def _read(path: Path) -> str:
    return _existing(path).read_text("utf-8")


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise KerasBertError(
            f"expected {path}, a file of LiteRT.js, received none; make it again with `kerasbert setup web`"
        )
    return path
