"""LiteRT.js as files of a site."""

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.web.litert import litert_files


@pytest.fixture
def modules(site_parts, tmp_path):
    return tmp_path / "home" / "web" / "node_modules"


def test_imports_become_relative_and_source_maps_go(modules):
    files = litert_files(modules, "2.5.3")
    notice = ", Apache License 2.0. Changed by kerasbert: relative imports, no source map."
    script = 'import { createWasmLib } from "./wasm-utils.js";\nexport { createWasmLib };\n'
    assert files["litert/litert.js"].decode() == f"// @litertjs/core 2.5.3{notice}\n{script}"
    utils = "export const createWasmLib = 1;\n"
    assert files["litert/wasm-utils.js"].decode() == f"// @litertjs/wasm-utils 2.5.3{notice}\n{utils}"


def test_only_the_builds_that_the_page_loads_are_copied(modules):
    builds = {path.removeprefix("litert/") for path in litert_files(modules, "1") if "_internal" in path}
    names = ("litert_wasm_internal", "litert_wasm_compat_internal", "litert_wasm_jspi_internal")
    assert builds == {f"{name}.{suffix}" for name in names for suffix in ("js", "wasm")}


def test_the_licence_comes_along(modules):
    licence = litert_files(modules, "1")["litert/LICENSE.txt"].read_text("utf-8")
    assert "Apache License" in licence and "Version 2.0" in licence and "END OF TERMS AND CONDITIONS" in licence


def test_a_missing_file_and_an_unknown_version_are_refused(modules):
    script = modules / "@litertjs" / "core" / "dist" / "index.js"
    script.write_text('import { createWasmLib } from "@litertjs/wasm";\n', "utf-8")
    with pytest.raises(
        KerasBertError, match="expected one import of @litertjs/wasm-utils .* received 0; .*`kerasbert setup web`"
    ):
        litert_files(modules, "1")
    script.unlink()
    with pytest.raises(KerasBertError, match="a file of LiteRT.js, received none; .*`kerasbert setup web`"):
        litert_files(modules, "1")
