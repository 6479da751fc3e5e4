"""`pgdocs wheel`: code, pages, phrases, index and licences as one wheel, which works offline once it is installed.

What it was made from stands in its `pgdocs/manuals/BUILT.json`. The same pages and the same code make the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.message import Message
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, cast

from pgdocs.errors import BuildError, NoPages, UnknownSource
from pgdocs.pages import doc_name_of_file, split_doc_name
from pgdocs.serve.library import BUNDLED, MANIFEST, Holding, cure, holdings, manifest

PACKAGE = Path(__file__).parents[1]
NAME = "pgdocs-mcp"
BUILT = "BUILT.json"
DATE = (1980, 1, 1, 0, 0, 0)
"""Of every file in the wheel: the earliest that a zip can tell, since no file's own date may change the bytes."""

ATTRIBUTION = "{label}: {credit}, {url}, {licence} ({terms}). Converted to markdown; otherwise unchanged."


@dataclass(frozen=True)
class Licence:
    """What a manual may be handed on under: the SPDX name, which is its text's file name too, and whom to credit."""

    spdx: str
    credit: str
    url: str
    terms: str


LICENCES = {
    "pg": Licence(
        "PostgreSQL",
        "Copyright © 1996-2026, PostgreSQL Global Development Group",
        "https://www.postgresql.org/docs/",
        "https://www.postgresql.org/about/licence/",
    ),
    "postgis": Licence(
        "CC-BY-SA-3.0",
        "by the PostGIS Project",
        "https://postgis.net",
        "https://creativecommons.org/licenses/by-sa/3.0/",
    ),
}
"""By source name without its version. Pages of any other source are not handed on: their terms are not known here."""


def build_wheel(docs: Path, out: Path, names: Sequence[str] = ()) -> tuple[Path, dict[str, Any]]:
    """Write the wheel into `out`, of all sources in `docs` or those of `names`; its file, and what BUILT.json says.

    Raises NoPages, UnknownSource, BuildError; then nothing is written.
    """
    held = [holding for holding in holdings(docs) if not names or holding.source in names]
    if unknown := set(names) - {holding.source for holding in held}:
        raise UnknownSource(unknown.pop(), [holding.source for holding in holdings(docs)])
    if not held:
        raise NoPages(docs, cure())
    licences = _licences([holding.source for holding in held])
    installed = _installed()
    version = f"{installed.version.partition('+')[0]}+{_local_version(held)}"
    with tempfile.TemporaryDirectory() as work:
        stage = Path(work, BUNDLED.name)
        built = {
            "version": version,
            **_stage(docs, stage, held),
            "licences": sorted({x.spdx for x in licences.values()}),
        }
        built["sha256"] = _digest(stage)
        (stage / BUILT).write_text(json.dumps(built, indent=1) + "\n", encoding="utf-8")
        texts = {f"{licence.spdx}.txt" for licence in licences.values()}
        about = {
            "METADATA": _metadata(installed, version, [licence.spdx for licence in licences.values()], texts),
            "WHEEL": "Wheel-Version: 1.0\nGenerator: pgdocs wheel\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            "entry_points.txt": installed.read_text("entry_points.txt") or "",
            "licenses/NOTICE": _notice(held, licences),
            "licenses/LICENSE": _own_licence(installed),
        } | {f"licenses/{text}": (PACKAGE / "licences" / text).read_text(encoding="utf-8") for text in texts}
        file = out / f"{NAME.replace('-', '_')}-{version}-py3-none-any.whl"
        _write(file, stage, about, version)
    return file, built


# --- what is in it ------------------------------------------------------------------------------------------


def _stage(docs: Path, stage: Path, held: Sequence[Holding]) -> dict[str, Any]:
    """Lay pages and index out as they will be installed; what they are."""
    from pgdocs.search import cache
    from pgdocs.search.index import DocumentSearchIndex

    pages, index_file = stage / "docs", stage / "docs.cache.pkl"
    pages.mkdir(parents=True)
    for name in cache.scan(docs):
        if split_doc_name(doc_name_of_file(Path(name)))[0] in {holding.source for holding in held}:
            (pages / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(docs / name, pages / name)
    told = _told(docs, held)
    (pages / MANIFEST).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    index = DocumentSearchIndex(pages, index_file)
    index.build_index()
    data = cache.read(index_file)
    if not data:
        raise BuildError("The index for the wheel could not be written: make room in the folder for temporary files.")
    undated = {name: (size, 0, digest) for name, (size, _, digest) in data["files"].items()}
    index_file.write_bytes(cache.dumps({**data, "files": undated}))
    return {
        "sources": {
            info.name: {
                "label": next(holding.label for holding in held if holding.source == info.name),
                "complete": bool(told.get(info.name, {}).get("complete")),
                "pages": info.pages,
                "sections": info.sections,
            }
            for info in index.sources()
        },
        "pages": sum(info.pages for info in index.sources()),
        "phrases": len(data["phrase"]["page"]),
        "names": len({row[0] for row in data["symbols"]}),
    }


def _told(docs: Path, held: Sequence[Holding]) -> dict[str, Any]:
    """What the folder's manifest tells of these sources, without the names of this machine's folders; of one that it
    knows nothing of, what is seen: a source that is added to the wheel's later would otherwise seem to be alone."""
    known = manifest(docs)
    told = {h.source: known.get(h.source, {"label": h.label, "pages": h.pages}) for h in held}
    for entry in told.values():
        if "from" in entry and not re.match(r"https?://", str(entry["from"])):
            entry["from"] = "a copy"
    return told


def _digest(stage: Path) -> str:
    """SHA-256 over the pages and the code: each file's name and content, in order."""
    digest = hashlib.sha256()
    for name, file in sorted(
        [*_code(), *((file.relative_to(stage).as_posix(), file) for file in stage.glob("docs/**/*.md"))]
    ):
        digest.update(f"{name}\0{file.stat().st_size}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _code() -> Iterator[tuple[str, Path]]:
    """(name in the wheel, file) of the package and of the library's door."""
    for file in PACKAGE.rglob("*"):
        inside = file.relative_to(PACKAGE.parent)
        ours = "__pycache__" not in inside.parts and not file.name.startswith(".") and BUNDLED not in file.parents
        if ours and file.is_file():
            yield inside.as_posix(), file
    yield "search_index.py", PACKAGE.parent / "search_index.py"


# --- what it says of itself ---------------------------------------------------------------------------------


def _installed() -> Distribution:
    try:
        return distribution(NAME)
    except PackageNotFoundError:
        raise BuildError(f"{NAME} is not installed, so that its requirements are not known: pip install -e .") from None


def _licences(sources: Sequence[str]) -> dict[str, Licence]:
    families = {source: re.sub(r"[\d.]+$", "", source) for source in sources}
    known = [source for source in sources if families[source] in LICENCES]
    if unknown := [source for source in sources if source not in known]:
        named = "".join(f" --source {source}" for source in known)
        cure = f"pack the others alone, pgdocs wheel{named}" if known else "fetch a manual, pgdocs scrape"
        raise BuildError(f"The terms of {', '.join(map(repr, unknown))} are not known here: {cure}.")
    return {source: LICENCES[family] for source, family in families.items()}


def _local_version(held: Sequence[Holding]) -> str:
    """`pg18.6.postgis3.5.2`: of which manuals this build is; pip tells it from others by this."""
    return ".".join(re.sub(r"[\d.]+$", "", h.source) + h.label.rpartition(" ")[2] for h in held).lower()


def _metadata(installed: Distribution, version: str, spdx: Sequence[str], texts: set[str]) -> str:
    """The installed package's metadata, for this version and these licences."""
    known = cast(Message, installed.metadata)
    changed = {"version", "license-expression", "license-file", "license", "dynamic", "description"}
    lines = [f"{key}: {value}" for key, value in known.items() if key.lower() not in changed]
    lines += [f"Version: {version}", f"License-Expression: {' AND '.join(dict.fromkeys(['MIT', *spdx]))}"]
    lines += [f"License-File: {file}" for file in sorted({"LICENSE", "NOTICE", *texts})]
    return (
        "\n".join(lines) + f"\n\n{known['Description'] or known.get_payload()}"
    )  # importlib's reader makes it a header


def _notice(held: Sequence[Holding], licences: dict[str, Licence]) -> str:
    lines = ["The code is under the MIT License. The pages in pgdocs/manuals/docs are of these manuals:", ""]
    for h in held:
        licence = licences[h.source]
        lines.append(
            ATTRIBUTION.format(
                label=f"{h.label} Documentation",
                credit=licence.credit,
                url=licence.url,
                licence=licence.spdx,
                terms=licence.terms,
            )
        )
    return "\n".join([*lines, "", "The licences' texts are beside this file."]) + "\n"


def _own_licence(installed: Distribution) -> str:
    for file in (PACKAGE.parent / "LICENSE", *map(Path, map(str, map(installed.locate_file, installed.files or ())))):
        if file.name == "LICENSE" and file.is_file():
            return file.read_text(encoding="utf-8")
    raise BuildError(f"The LICENSE of {NAME} is not there: install it again.")


# --- the zip ------------------------------------------------------------------------------------------------


def _write(file: Path, stage: Path, about: dict[str, str], version: str) -> None:
    """Write the wheel in full or not at all."""
    info = f"{NAME.replace('-', '_')}-{version}.dist-info"
    manuals = BUNDLED.relative_to(PACKAGE.parent).as_posix()
    staged = [(f"{manuals}/{path.relative_to(stage).as_posix()}", path) for path in stage.rglob("*") if path.is_file()]
    record = []
    temporary = file.with_name(f".{file.name}.tmp")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as wheel:

            def add(name: str, content: bytes) -> None:
                entry = zipfile.ZipInfo(name, DATE)
                entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
                wheel.writestr(entry, content)
                digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                record.append(f"{name},sha256={digest},{len(content)}")

            for name, path in sorted([*_code(), *staged]):
                add(name, path.read_bytes())
            for name, text in sorted(about.items()):
                add(f"{info}/{name}", text.encode())
            record.append(f"{info}/RECORD,,")
            add(f"{info}/RECORD", ("\n".join(record) + "\n").encode())
        temporary.replace(file)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise BuildError(f"Can't write {file} ({error.strerror}): name another folder with --out.") from error
