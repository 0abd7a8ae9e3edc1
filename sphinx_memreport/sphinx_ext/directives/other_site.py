"""Records of another site, from its ``memreport.json``, for ``memsupplied``."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx_memreport.core.export import ForeignRecord, InvalidExport, read_records
from sphinx_memreport.core.ids import check_id
from sphinx_memreport.core.nearest import nearest_names

if TYPE_CHECKING:
    from sphinx.environment import BuildEnvironment

#: The options of ``memsupplied`` that only make sense together with ``from``.
FILE_OPTIONS = ("from", "url", "report", "ids")

_MAX_BYTES = 64 * 1024 * 1024
_WEB = re.compile(r"https?://[^\s\"'<>]+")


class NotSupplied(Exception):
    """What is wrong with the options: the message and the fix."""

    def __init__(self, message: str, fix: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


def records_of_other_site(
    env: BuildEnvironment, values: Mapping[str, str], own_report: str, config_root: Path
) -> list[tuple[ForeignRecord, str | None]]:
    """The records that the options of a directive take over, with their addresses.

    :param values: the options; without ``from`` there are no records.
    :param own_report: the report of the document.
    :param config_root: the folder of ``memreport.toml``, in which the file may be, too.
    :raises NotSupplied: with what is wrong.
    """
    if "from" not in values:
        alone = [name for name in FILE_OPTIONS if name in values]
        if alone:
            raise NotSupplied(f"option '{alone[0]}' needs the option 'from'", "add ':from: FILE'")
        return []
    name = values["from"].strip()
    path = find_file(env, name, (Path(env.srcdir), config_root))
    base = base_url(values)
    chosen = choose(read_file(path, name), own_report, values)
    return [(record, address_of(record, base)) for record in chosen]


def records_by_name(values: Mapping[str, str]) -> list[tuple[ForeignRecord, None]]:
    """The records that the option ``ids`` names, where the file is of no use.

    They count as supplied, so that one mistake is one problem.
    """
    names = dict.fromkeys(name.strip() for name in values.get("ids", "").split(","))
    return [
        (ForeignRecord(report="", id=name, label=""), None)
        for name in names
        if name and not name.startswith("SRC-") and check_id(name) is None
    ]


def find_file(env: BuildEnvironment, name: str, roots: Iterable[Path]) -> Path:
    """The file that the option ``from`` names, which the document now depends on.

    :param name: relative to the document, or to the source folder when it starts with ``/``.
    :param roots: the folders in which it may be, after symbolic links are followed.
    :raises NotSupplied: when it is elsewhere.
    """
    try:
        path = Path(env.relfn2path(name)[1])
    except (OSError, RuntimeError, ValueError):
        raise NotSupplied(f"option 'from': '{name}' is not the path of a file") from None
    if not any(path.is_relative_to(root.resolve()) for root in roots):
        raise NotSupplied(
            f"option 'from': '{name}' lies outside the source folder and the folder of "
            "memreport.toml",
            "copy the file into one of them",
        )
    env.note_dependency(path)
    # a symbolic link, which may come to lead elsewhere
    folder = Path(env.doc2path(env.current_document.docname)).parent
    env.note_dependency(Path(env.srcdir, name[1:]) if name[:1] == "/" else folder / name)
    return path


def read_file(path: Path, name: str) -> list[ForeignRecord]:
    """The records of a ``memreport.json``.

    :raises NotSupplied: when it cannot be read, or is something else.
    """
    fix = "copy the memreport.json of the other site's output to that place"
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):  # reading a pipe may never end
            raise NotSupplied(f"option 'from': '{name}' is not a regular file", fix)
        if found.st_size > _MAX_BYTES:
            raise NotSupplied(f"option 'from': '{name}' is larger than {_MAX_BYTES} bytes", fix)
        return read_records(path.read_bytes())
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        raise NotSupplied(f"option 'from': '{name}': {reason}", fix) from None
    except InvalidExport as error:
        message = f"option 'from': '{name}' is not the memreport.json of a site: {error}"
        raise NotSupplied(message, fix) from None


def choose(
    records: Iterable[ForeignRecord], own_report: str, values: Mapping[str, str]
) -> list[ForeignRecord]:
    """The records that the options ``report``, ``member`` and ``ids`` select, each ID once.

    :param own_report: which report of the other site is meant when the option is left out.
    :raises NotSupplied: when the options select nothing, or name what the site does not have.
    """
    by_report: dict[str, dict[str, ForeignRecord]] = {}
    for record in records:
        by_report.setdefault(record.report, {}).setdefault(record.id, record)
    wanted = values.get("report", "").strip() or _only_report(by_report, own_report)
    if wanted not in by_report:
        raise NotSupplied(
            f"option 'report': that site has no records of a report '{wanted}'",
            f"it has records of: {', '.join(sorted(by_report)) or 'none'}",
        )
    found = by_report[wanted]
    if member := values.get("member", "").strip():
        of_member = {each.id: each for each in found.values() if each.member == member}
        if not of_member:
            members = sorted({each.member for each in found.values() if each.member})
            raise NotSupplied(
                f"option 'member': that site has no records of a member '{member}'",
                f"it has records of: {', '.join(members) or 'no member'}",
            )
        found = of_member
    if "ids" not in values:
        return list(found.values())
    return [_record(found, name) for name in _listed(values["ids"])]


def _only_report(by_report: Mapping[str, object], own_report: str) -> str:
    return next(iter(by_report)) if len(by_report) == 1 else own_report


def _listed(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise NotSupplied("option 'ids' names no ID", "list IDs with commas between them")
    return list(dict.fromkeys(names))


def _record(found: Mapping[str, ForeignRecord], name: str) -> ForeignRecord:
    if name in found:
        return found[name]
    near = nearest_names(name, sorted(found))
    fix = f"did you mean {' or '.join(near)}?" if near else "name records of that site"
    raise NotSupplied(f"option 'ids': that site has no record {name} here", fix)


def base_url(values: Mapping[str, str]) -> str | None:
    """The address of the other site, ending with ``/``; None when it is not given.

    :raises NotSupplied: when it is not a web address.
    """
    if "url" not in values:
        return None
    url = values["url"].strip()
    if not _WEB.fullmatch(url) or "#" in url or "?" in url:
        raise NotSupplied(
            f"option 'url': expected the address of the other site, found '{url}'",
            "write it as https://host/path/",
        )
    return url if url.endswith("/") else f"{url}/"


def address_of(record: ForeignRecord, base: str | None) -> str | None:
    """The address of a record's card on the other site, when it is known."""
    if base is None or record.uri is None:
        return None
    address = base + record.uri.lstrip("/")
    return address if _WEB.fullmatch(address) else None


def label_of(record: ForeignRecord) -> str:
    """The label as one line that every writer can write."""
    return " ".join(record.label.encode("utf-8", "replace").decode().split())
