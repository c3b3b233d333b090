"""`kerasbert web`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from kerasbert.cli.arguments.option_groups import with_options
from kerasbert.cli.outputs.results import Result

if TYPE_CHECKING:
    from kerasbert.web.models import SiteModel
    from kerasbert.web.server import SiteServer
    from kerasbert.web.site import Site

Models = Annotated[
    list[str] | None,
    Argument(
        metavar="MODEL...", help=".tflite files, or files of the zoo by name. Default: those in the package kerasbert."
    ),
]
Out = Annotated[
    Path,
    Option("--out", "-o", metavar="FOLDER", help="Folder of the site: new, empty, or a site that kerasbert wrote."),
]
Open = Annotated[
    bool, Option("--open", help="Serve the site on this computer until Ctrl-C, and open it in the browser.")
]
Port = Annotated[
    int | None,
    Option(
        metavar="N", min=0, max=65535,
        help="Port for --open. Default: any free one. The browser keeps the data of a page by its port.",
    ),
]  # fmt: skip


@with_options()
def web(
    out: Out,
    models: Models = None,
    open: Open = False,
    port: Port = None,
) -> Result:
    """Write a static site that runs models in the browser.

    The folder works on any static host, without other servers. It needs LiteRT.js, which `kerasbert setup web` installs once.

    Example: kerasbert web model.tflite --out site --open
    """
    from kerasbert.cli.outputs.destinations import check_new_files, check_site_folder
    from kerasbert.console.output import note
    from kerasbert.console.progress import progress
    from kerasbert.errors import KerasBertError
    from kerasbert.web.models import read_models
    from kerasbert.web.site import check_litert, site_files, write_site

    if port is not None and not open:
        raise KerasBertError("expected --port together with --open, received --port alone; add --open, or leave it out")
    check_litert()
    paths = [_model_path(model) for model in models] if models else _zoo_paths()
    check_site_folder(out)
    with progress("reading the models"):
        site_models = read_models(paths)
    files = site_files(site_models)
    check_new_files(out, files)
    server = _bind(out, port) if open else None
    with progress("writing the site"):
        site = write_site(out, files)
    for model in site_models:
        if model.resizable:
            note(
                f"{model.title}: the page compiles a resizable model for each length; `kerasbert convert --length` fixes some"
            )
    return _result(site, site_models, server)


def _model_path(model: str) -> Path:
    """Return the file of an argument: a path, or a name in the zoo."""
    from kerasbert.cli.arguments.zoo_names import file_or_name
    from kerasbert.errors import KerasBertError
    from kerasbert.model_names import shipped_names
    from kerasbert.suggestions import nearest

    path = Path(file_or_name(model))
    if path.is_dir() or model in shipped_names() and not path.is_file():
        raise KerasBertError(
            f"expected a .tflite file, received {model!r}, which is a folder; convert the model in it with `kerasbert convert`"
        )
    suggestion = None if path.exists() else nearest(model, shipped_names())
    if suggestion is not None:
        raise KerasBertError(
            f"expected a .tflite file or a file of the zoo, received {model!r}, which is neither; did you mean {suggestion}?"
        )
    return path


def _zoo_paths() -> list[Path]:
    from kerasbert.zoo.catalog import FILE, OWN_PACKAGE, check_files, models

    files = [model for model in models() if model.kind == FILE and model.package == OWN_PACKAGE]
    for model in files:
        check_files(model)
    return [model.path for model in files]


def _bind(out: Path, port: int | None) -> "SiteServer":
    from kerasbert.web.server import SiteServer

    return SiteServer(out, port or 0)


def _result(site: "Site", models: "list[SiteModel]", server: "SiteServer | None") -> Result:
    from kerasbert.console.numbers import format_bytes

    size = sum(site.sizes.values())
    data = {
        "out": site.folder, "files": len(site.sizes), "bytes": size, "version": site.version,
        "models": [model.entry() for model in models], "address": server.address if server else None,
    }  # fmt: skip
    plural = "" if len(models) == 1 else "s"
    facts = f"wrote {site.folder}: {len(models)} model{plural}, {len(site.sizes)} files, {format_bytes(size)}"
    if server is None:
        return Result(data, [facts, "put it on any static host, or add --open to see it on this computer"])
    return Result(data, [facts, f"{server.address} shows it until Ctrl-C"], then=lambda: _serve(server))


def _serve(server: "SiteServer") -> None:
    import os

    from kerasbert.web.server import open_browser

    with server:
        open_browser(server.address, os.environ)
        server.serve_forever()
