"""``memreport import``: plain-Markdown members become a report that builds."""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NamedTuple

import click
from pydantic import ValidationError

from sphinx_memreport.cli.common import (
    Change,
    Exit,
    Failure,
    diff,
    json_option,
    say,
    say_json,
)
from sphinx_memreport.cli.newfiles import write_new
from sphinx_memreport.config import BoundaryKind, Report
from sphinx_memreport.core.blobs import Blob, SourceReader, SourceUnavailable
from sphinx_memreport.core.ids import IdStyle, MemberName
from sphinx_memreport.core.models import Found, Missing
from sphinx_memreport.core.nearest import nearest_names
from sphinx_memreport.core.quotes import NotText, SourceText
from sphinx_memreport.core.quotes import decode as decode_source
from sphinx_memreport.plain.models import Member, Quote, RegisterItem
from sphinx_memreport.plain.reader import MAX_BYTES, NotReadable, decode, read_member
from sphinx_memreport.plain.restore import restored
from sphinx_memreport.plain.sources import Asked, Sources, is_source, missing
from sphinx_memreport.plain.writer_myst import (
    Document,
    MystWriter,
    cited_ids,
    conf_py,
    declared_ids,
    document_name,
    index_page,
    supplied,
    supplied_page,
)
from sphinx_memreport.plain.writer_toml import memreport_toml, one_line

#: The file in which restored quotations are offered.
PATCH_NAME = "restored-quotes.patch"
_ALL = "all"
_ORDER = [
    *(MemberName.OVERVIEW, MemberName.BOUNDARY, MemberName.RUNTIME, MemberName.MEMORY),
    *(MemberName.EPISTEMIC, MemberName.RECONCILIATION, MemberName.PROFILE),
    *(MemberName.SYNTHESIS, MemberName.VERIFICATION),
]
_TITLE_TAIL = re.compile(
    r"\s+(?:(?:runtime|memory|epistemic|boundary)\s+(?:report|profile)|memory profile|"
    r"agentic-system analysis|reconciliation|overview|boundary|report)\s*$",
    re.IGNORECASE,
)


@click.command(name="import")
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path)
)
@click.option(
    "--into", required=True, metavar="DIR", type=click.Path(path_type=Path),
    help="The folder of the new site; nothing in it is overwritten.",
)  # fmt: skip
@click.option("--slug", help="Name of the report in references; by default from the system.")
@click.option("--system", help="Name of the system; by default from the members.")
@click.option(
    "--repository", "repositories", multiple=True, metavar="[SRC-n=]URL",
    help="The source's repository, where the members do not name it or name another.",
)  # fmt: skip
@click.option(
    "--commit", "commits", multiple=True, metavar="[SRC-n=]SHA",
    help="The full commit of the source, likewise.",
)  # fmt: skip
@click.option(
    "--checkout", "checkouts", multiple=True, metavar="[SRC-n=]PATH",
    help="Where the repository is on this machine; by default checkouts/SLUG, for 'fetch'.",
)  # fmt: skip
@click.option(
    "--accept-restored", "accepted", multiple=True, metavar="FILE:LINE|all",
    help="Take an offered quotation with the characters that rendering lost; repeatable.",
)  # fmt: skip
@json_option
def import_(
    files: tuple[Path, ...],
    into: Path,
    slug: str | None,
    system: str | None,
    repositories: tuple[str, ...],
    commits: tuple[str, ...],
    checkouts: tuple[str, ...],
    accepted: tuple[str, ...],
    as_json: bool,
) -> None:
    """Turn plain-Markdown members into a report that builds.

    FILEs are the members of one report: front matter, '## Shared records', '#### ID — Label',
    fields as '- Label: value', quotations that end in '> --- `path`'. DIR gets conf.py,
    memreport.toml, index.md and one document for each FILE.

    Every word of a FILE is in DIR. What was not understood is kept as text and listed. IDs that
    no FILE declares are listed, too, and become 'memsupplied' entries. With a checkout, quotes
    that would match with characters that rendering lost are offered as a patch in DIR; nothing
    of it is taken unless --accept-restored says so.

    \b
    memreport import runtime.md memory.md --into report --checkout ../jotter
    sphinx-build -b html report report/_build/html

    Exit status 1: written, but something was not understood.
    """
    members = [_read(file) for file in files]
    site = _Site(members, into, slug, system, _asked(repositories, commits, checkouts, into))
    _refuse_same_names(files, members)
    accept = _accepted(accepted, members)
    offers, verdicts = site.offers()
    refused = accept - {offer.place for offer in offers} - {_ALL}
    if refused:
        raise Failure(f"nothing is offered for {', '.join(sorted(refused))}; nothing was written")
    taken = [offer for offer in offers if _ALL in accept or offer.place in accept]
    open_offers = [offer for offer in offers if offer not in taken]
    documents = site.documents(taken)
    if open_offers:
        documents.append(Document(PATCH_NAME, site.patch(documents, taken, open_offers)))
    write_new(into, {document.path: document.text for document in documents})
    report = _Told(site, documents, offers, taken, verdicts)
    if as_json:
        say_json(report.data())
    else:
        report.say()
    raise SystemExit(Exit.PROBLEMS if report.remarks else Exit.OK)


# --- what goes in -------------------------------------------------------------------------


def _read(file: Path) -> Member:
    try:
        found = file.stat()
        if not stat.S_ISREG(found.st_mode):
            raise Failure(f"{file} is not a regular file")
        if found.st_size > MAX_BYTES:
            raise NotReadable(f"has {found.st_size} bytes; at most {MAX_BYTES} are read")
        return read_member(file.name, decode(file.read_bytes()))
    except NotReadable as error:
        raise Failure(f"{file} {error}") from None


def _refuse_same_names(files: Sequence[Path], members: Sequence[Member]) -> None:
    names = Counter(document_name(member).lower() for member in members)
    twice = [
        str(f) for f, m in zip(files, members, strict=True) if names[document_name(m).lower()] > 1
    ]
    if twice:
        raise Failure(f"these would become one document: {', '.join(twice)}; rename one of them")


def _asked(
    repositories: Sequence[str], commits: Sequence[str], checkouts: Sequence[str], into: Path
) -> Asked:
    return Asked(
        repository=_by_source(repositories),
        commit=_by_source(commits),
        checkout={key: _from(into, path) for key, path in _by_source(checkouts).items()},
    )


def _by_source(values: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for value in values:
        name, equals, rest = value.partition("=")
        found[name if equals and is_source(name) else ""] = (
            rest if equals and is_source(name) else value
        )
    return found


def _from(folder: Path, path: str) -> str:
    """A path as it is written in a file of a folder."""
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # another drive
        return Path(path).absolute().as_posix()


def _accepted(values: Iterable[str], members: Sequence[Member]) -> set[str]:
    names = {member.name for member in members}
    for value in values:
        name, _, line = value.rpartition(":")
        if value != _ALL and not (name in names and line.isdigit()):
            raise Failure(f"--accept-restored takes FILE:LINE or 'all'; found {value!r}")
    return set(values)


# --- what comes out -----------------------------------------------------------------------


class _Offer(NamedTuple):
    """A quotation with what rendering lost; ``place`` is the file and line it was read at."""

    place: str
    member: Member
    quote: Quote
    text: str


class _Site:
    """The site that the members become."""

    def __init__(
        self,
        members: Sequence[Member],
        into: Path,
        slug: str | None,
        system: str | None,
        asked: Asked,
    ) -> None:
        self.members = sorted(members, key=_rank)
        self.into = into
        named = system or _system(self.members)
        self.slug = slug or _slug(named)
        self.sources = Sources(self.members, asked, f"checkouts/{self.slug}")
        self.system = named or self.slug
        self.supplied = supplied(self.members)
        self.config = self._config()
        self._writer = MystWriter(self.members, self.sources.of, self.sources.pins)

    def _config(self) -> dict[str, Any]:
        tables = self.sources.tables(self.sources.checkouts)
        if not tables and any(member.quotes for member in self.members):
            raise Failure(
                "the members name no source with a repository and a full commit\n"
                "    fix: add --repository URL --commit SHA"
            )
        report = {"directory": self.slug, "system": self.system}
        if run := self._said("run-id"):
            report["run-id"] = run
        if (kind := self._said("boundary-kind")) in tuple(BoundaryKind):
            report["boundary-kind"] = kind
        if (style := self._style()) is not IdStyle.NAMED:
            report["ids"] = style
        if self.slug == "checkouts":
            raise Failure("'checkouts' is where sources go; name the report with --slug")
        _check_config({"slug": self.slug, **report, "sources": tables})
        return {"report": report, "sources": tables}

    def _said(self, key: str) -> str:
        said = (member.front_matter.get(key) for member in self.members)
        return one_line(next((each for each in said if each), ""))

    def _style(self) -> IdStyle:
        """The form of the names that are declared."""
        numbers = {each.rpartition("-")[2].isdigit() for each in declared_ids(self.members)}
        numbers |= {entry.id.rpartition("-")[2].isdigit() for entry in self.supplied}
        if True not in numbers:
            return IdStyle.NAMED
        return IdStyle.NUMBERED if False not in numbers else IdStyle.ANY

    def documents(self, taken: Sequence[_Offer] = ()) -> list[Document]:
        """The files of the site, with restored quotations where they were taken."""
        texts = {offer.place: offer.text for offer in taken}
        names = [document_name(member) for member in self.members]
        pages = [
            Document(
                f"{self.slug}/{name}.md",
                self._writer.document(member, lambda m, q: texts.get(_place(m, q))),
            )
            for name, member in zip(names, self.members, strict=True)
        ]
        if self.supplied:
            name = next(
                n for n in ("supplied", "supplied-records", "supplied-ids") if n not in names
            )
            names.append(name)
            pages.append(Document(f"{self.slug}/{name}.md", supplied_page(self.supplied)))
        toml = memreport_toml(self.slug, self.config["report"], self.config["sources"])
        return [
            Document("memreport.toml", toml),
            Document("conf.py", conf_py(self.system)),
            Document("index.md", index_page(self.system, [f"{self.slug}/{n}" for n in names])),
            *pages,
        ]

    def files_needed(self) -> list[Path]:
        """The captured files that are not there yet: members name them and do not hold them."""
        files = [
            self.into / table["file"]
            for table in self.config["sources"].values()
            if "file" in table
        ]
        return [path for path in files if not path.is_file()]

    # --- restored quotations --------------------------------------------------------------

    def offers(self) -> tuple[list[_Offer], Counter[str]]:
        """Look at every quotation whose source is here: offers, and how many were found."""
        verdicts: Counter[str] = Counter()
        offers: list[_Offer] = []
        with ExitStack() as stack:
            readers = dict(self._readers(stack))
            for member in self.members:
                for quote in member.quotes:
                    reader = readers.get(self.sources.of(quote))
                    verdict, text = _look(reader, quote)
                    verdicts[verdict] += 1
                    if text is not None:
                        offers.append(_Offer(_place(member, quote), member, quote, text))
        return offers, verdicts

    def _readers(self, stack: ExitStack) -> Iterator[tuple[str, SourceReader]]:
        from sphinx_memreport.gitstore import open_git

        for name, commit in self.sources.pins.items():
            if name in self.sources.checkouts:
                with suppress(SourceUnavailable):
                    path = self.into / self.sources.checkouts[name]
                    yield name, stack.enter_context(open_git(path, commit))

    def patch(
        self, documents: Sequence[Document], taken: Sequence[_Offer], offers: Sequence[_Offer]
    ) -> str:
        """The offers as a unified diff of the documents as they are written."""
        with_offers = {d.path: d.text for d in self.documents([*taken, *offers])}
        changes = (
            Change(
                self.into.absolute() / document.path,
                document.text.encode(),
                with_offers[document.path].encode(),
            )
            for document in documents
        )
        return b"".join(diff(change, self.into.absolute()) for change in changes).decode()


def _rank(member: Member) -> tuple[int, str]:
    place = _ORDER.index(member.member) if member.member else len(_ORDER)
    return place, member.name


def _place(member: Member, quote: Quote) -> str:
    return f"{member.name}:{quote.line}"


def _system(members: Sequence[Member]) -> str:
    """The name of the system: from front matter, a title, or the repository."""
    titles = sorted((_TITLE_TAIL.sub("", m.title) for m in members if m.title), key=str.islower)
    said = [member.front_matter.get("system") for member in members]
    repositories = [member.front_matter.get("source-identity") for member in members]
    names = [repository.rstrip("/").rpartition("/")[2] for repository in repositories]
    candidates = [*said, *titles, *names]
    return next((one_line(each.replace("`", "")) for each in candidates if each.strip()), "")


def _slug(system: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", system.lower()).strip("-")
    words = re.sub(r"^[^a-z]+", "", words)
    return words[:60].rstrip("-") or "report"


def _check_config(report: Mapping[str, Any]) -> None:
    """Refuse a configuration that would not build, before anything is written."""
    try:
        Report.model_validate(report)
    except ValidationError as error:
        wrong = [
            f"    {'.'.join(str(part) for part in each['loc'])}: {each['msg']}"
            for each in error.errors()
        ]
        raise Failure(
            "\n".join(
                [
                    "memreport.toml would not be valid:",
                    *wrong,
                    "    fix: name what is wrong with --slug, --system, --repository or --commit",
                ]
            )
        ) from None


def _look(reader: SourceReader | None, quote: Quote) -> tuple[str, str | None]:
    """What a quotation comes to, and the passage that it would match with lost characters."""
    if reader is None:
        return "unverified", None
    ((_, blob),) = list(reader.blobs([quote.path]))
    if not isinstance(blob, Blob):
        return "path-missing", None
    try:
        source = SourceText(decode_source(blob.data, "utf-8"))
    except NotText:
        return "unverified", None
    found = source.locate(quote.text, quote.lines)
    if isinstance(found, Found):
        return "verified", None
    if not isinstance(found, Missing):
        return "ambiguous", None
    return "missing", restored(quote.text, source, quote.lines)


# --- what is said -------------------------------------------------------------------------


class _Told:
    """What the user is told."""

    def __init__(
        self,
        site: _Site,
        documents: Sequence[Document],
        offers: Sequence[_Offer],
        taken: Sequence[_Offer],
        verdicts: Counter[str],
    ) -> None:
        self._site = site
        self._documents = documents
        self._offers = offers
        self._taken = taken
        self._verdicts = verdicts
        self.remarks = list(self._remarks())

    def _remarks(self) -> Iterator[dict[str, Any]]:
        for member in self._site.members:
            for remark in member.remarks:
                yield {"file": member.name, **remark.model_dump()}
            for quote in member.quotes:
                if not self._site.sources.is_told(quote):
                    source = self._site.sources.of(quote)
                    message = f"the source of '{quote.path}' is not named; {source} was taken"
                    yield {"file": member.name, "line": quote.line, "message": message, "text": ""}
            for item in member.items:
                for row in item.rows if isinstance(item, RegisterItem) else ():
                    lacks = missing(self._site.sources.entries[row.id])
                    if lacks:
                        message = f"{row.id} is not in memreport.toml: it lacks {', '.join(lacks)}"
                        yield {
                            "file": member.name,
                            "line": row.line,
                            "message": message,
                            "text": "",
                        }

    def data(self) -> dict[str, Any]:
        """All of it, as plain data."""
        members = self._site.members
        records = [record for member in members for record in member.records]
        return {
            "into": str(self._site.into),
            "documents": [document.path for document in self._documents],
            "counts": {
                "records": sum(not record.annotation for record in records),
                "annotations": sum(record.annotation for record in records),
                "fields": sum(len(record.fields) for record in records),
                "quotes": sum(len(member.quotes) for member in members),
                "cited": len({each for member in members for each in cited_ids(member)}),
            },
            "quotes": dict(sorted(self._verdicts.items())),
            "supplied": [self._supplied(entry) for entry in self._site.supplied],
            "files_needed": [str(path) for path in self._site.files_needed()],
            "offers": [
                {
                    "file": offer.member.name,
                    "line": offer.quote.line,
                    "path": offer.quote.path,
                    "quote": offer.quote.text,
                    "restored": offer.text,
                    "taken": offer in self._taken,
                }
                for offer in self._offers
            ],
            "not_understood": self.remarks,
        }

    def _supplied(self, entry: Any) -> dict[str, Any]:
        """An ID with the declared one that it may be a slip of, and whether it looks like one."""
        members = {member.member for member in self._site.members}
        return {
            "id": entry.id,
            "near": nearest_names(entry.id, declared_ids(self._site.members))[:1],
            "member_is_here": entry.member in members,
        }

    def say(self) -> None:
        """Say it in words; all but the summary goes to standard error."""
        told = self.data()
        for remark in self.remarks:
            shown = f": {remark['text']}" if remark["text"] else ""
            say(f"{remark['file']}:{remark['line']}: {remark['message']}{shown}", err=True)
        for entry in told["supplied"]:
            here = ", though its member is among the files" if entry["member_is_here"] else ""
            near = f"; did you mean {entry['near'][0]}?" if entry["near"] else ""
            say(f"supplied: {entry['id']} is declared in no file{here}{near}", err=True)
        for offer in self._offers:
            state = "restored" if offer in self._taken else "offered"
            say(f"{offer.place}: {state} from {offer.quote.path}:", err=True)
            for line in offer.text.split("\n"):
                say(f"    {line}", err=True)
        counts = told["counts"]
        say(
            f"{counts['records']} records, {counts['annotations']} annotations, "
            f"{counts['fields']} fields, {counts['quotes']} quotes, "
            f"{len(self._site.supplied)} supplied IDs, {len(self.remarks)} not understood"
        )
        if set(self._verdicts) - {"unverified"}:
            say("quotes: " + ", ".join(f"{n} {name}" for name, n in told["quotes"].items()))
        if len(self._offers) > len(self._taken):
            say(f"{PATCH_NAME} offers {len(self._offers) - len(self._taken)} restored quotes")
        say(f"written: {', '.join(told['documents'])}")
        for path in told["files_needed"]:
            say(f"next: put the captured file at {path}")
        say(f"next: sphinx-build -b html {self._site.into} {self._site.into / '_build/html'}")
