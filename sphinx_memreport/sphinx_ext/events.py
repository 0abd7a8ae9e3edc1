"""One handler for each event of a build, in the order in which they come.

The only place that puts the parts together.

===================  ================================================================
builder-inited       settings, memreport.toml and the lock, where it is asked for, are read;
                     the parser is listened to
env-get-outdated     documents that now belong to another report are read again
source-read          the facts of a document begin
doctree-read         they are whole
(reading)            directives and transforms note records, evidence, references
env-updated          sources are opened, quotes located, checks run; pages that show
                     something that changed are returned, so that they are written
html-page-context    the previews of what a page links to are put into it
html-collect-pages   the pages of quoted files
build-finished       problems are said, data is written, the exit status is set
===================  ================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx_memreport.config import InvalidConfig, Ownership
from sphinx_memreport.core.checks import check_site
from sphinx_memreport.core.export import Export
from sphinx_memreport.core.ids import annotation_need_id, find_mentions, need_id
from sphinx_memreport.core.models import ReportRules, Status
from sphinx_memreport.core.problems import Problem, Severity
from sphinx_memreport.core.site import Site, Verdicts
from sphinx_memreport.sphinx_ext.conditions import left_out, note_conditions
from sphinx_memreport.sphinx_ext.depth import replace_too_deep
from sphinx_memreport.sphinx_ext.directives import OWN_DIRECTIVES
from sphinx_memreport.sphinx_ext.directives.base import SOURCE_TEXT
from sphinx_memreport.sphinx_ext.domain import MemDomain, mem_domain
from sphinx_memreport.sphinx_ext.export import data_files, export_of, say_on_github, write_data
from sphinx_memreport.sphinx_ext.indices import index_files, leave_indices, plain_title
from sphinx_memreport.sphinx_ext.intersphinx import ids_of_other_sites
from sphinx_memreport.sphinx_ext.logging import (
    ParserMessages,
    say,
    say_where_codes_are_explained,
)
from sphinx_memreport.sphinx_ext.needs import (
    Link,
    Updates,
    needs_digest,
    pages_showing_needs,
    update_needs,
)
from sphinx_memreport.sphinx_ext.offline import lock_of, say_state_of_lock
from sphinx_memreport.sphinx_ext.options import settings_of, site_config_of
from sphinx_memreport.sphinx_ext.pages import (
    collect_source_pages,
    drop_assets_of_needs,
    source_page_files,
)
from sphinx_memreport.sphinx_ext.previews import add_previews
from sphinx_memreport.sphinx_ext.shown import digest
from sphinx_memreport.sphinx_ext.unchanged import (
    Outcome,
    Shown,
    WrittenFiles,
    key_of,
    newest_template,
)
from sphinx_memreport.sphinx_ext.unchecked import unchecked
from sphinx_memreport.verify import open_sources, rules_of

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment


class BuildEvents:
    """The handlers of one Sphinx application; holds what lasts for one build only."""

    def __init__(self, app: Sphinx) -> None:
        self._stop_listening: Callable[[], None] = lambda: None
        for event, handler, priority in (
            ("builder-inited", self._start, 100),
            ("env-get-outdated", self._outdated, 500),
            ("source-read", self._begin_document, 900),
            ("doctree-read", self._end_document, 900),
            ("env-updated", self._verify, 400),
            ("html-page-context", add_previews, 500),
            ("html-page-context", drop_assets_of_needs, 900),
            ("html-page-context", self._leave_indices, 500),
            ("html-page-context", plain_title, 500),
            ("html-collect-pages", self._source_pages, 500),
            ("build-finished", self._finish, 500),
        ):
            app.connect(event, handler, priority)

    def _start(self, app: Sphinx) -> None:
        domain = mem_domain(app.env)
        domain.app = app
        domain.own_directives = OWN_DIRECTIVES
        try:
            self._settings = settings_of(app.config, Path(app.confdir))
            domain.config = site_config_of(app, self._settings)
            self._lock = lock_of(self._settings, domain.config)
        except InvalidConfig as refused:
            for problem in refused.problems:
                say(problem)
            # any other exception would have Sphinx print a traceback of ours
            raise SystemExit(2) from refused
        domain.ownership = Ownership(domain.config, Path(app.srcdir))
        domain.problems = []
        domain.due = []
        domain.site = Site(domain.registry, rules_of(domain.config), {})
        self._stop_listening = ParserMessages(app).install()

    def _outdated(
        self,
        _app: Sphinx,
        env: BuildEnvironment,
        _added: set[str],
        _changed: set[str],
        removed: set[str],
    ) -> list[str]:
        domain = mem_domain(env)
        return [
            docname
            for docname, key in domain.reading_keys.items()
            if docname not in removed
            and key != _reading_key(domain, docname) + _key_of_files(env, docname)
        ]

    def _begin_document(self, app: Sphinx, docname: str, content: list[str]) -> None:
        domain = mem_domain(app.env)
        facts = domain.facts(docname)
        report = domain.report_of(docname)
        facts.report = report.slug if report else None
        if not domain.config.reports:
            facts.cites_in_vain = next(find_mentions(content[0]), None) is not None
        domain.reading_keys[docname] = _reading_key(domain, docname)
        if report:
            replace_too_deep(domain, docname, content)
        app.env.temp_data[SOURCE_TEXT] = content[0]

    def _end_document(self, app: Sphinx, doctree: nodes.document) -> None:
        domain, docname = mem_domain(app.env), app.env.current_document.docname
        domain.reading_keys[docname] += _key_of_files(app.env, docname)
        note_conditions(domain.facts(docname), doctree)

    def _verify(self, app: Sphinx, env: BuildEnvironment) -> Iterable[str]:
        domain = mem_domain(env)
        rules = rules_of(domain.config)
        titles = {name: title.astext() for name, title in env.titles.items()}
        elsewhere = ids_of_other_sites(env)

        hidden = left_out(app, domain.registry)

        def site(verdicts: Verdicts) -> Site:
            return Site(domain.registry, rules, titles, verdicts, elsewhere, hidden)

        with open_sources(domain.config, self._lock) as sources:
            key = self._outcome_key(domain, rules, titles, elsewhere, sources.unavailable, hidden)
            if key and domain.outcome.key == key:
                domain.site = site(sources.verdicts(domain.answers))
                domain.problems = domain.outcome.problems
            else:
                whole_files = self._settings.source_pages == "full"
                requests = site(sources.verdicts({})).requests(whole_files=whole_files)
                unreadable = dict(sources.unavailable)
                answers = sources.answer(requests, domain.answers)
                domain.site = site(sources.verdicts(answers))
                domain.problems = self._problems(app, domain)
                if not domain.keep(answers) or sources.unavailable != unreadable:
                    key = ""  # a source has gaps, which may be filled by the next build
                domain.outcome = Outcome(key, domain.problems)
                domain.renew_listings()
        updates = cache(lambda: need_updates(domain.site))
        update_needs(app, updates)
        self._written = WrittenFiles(app)
        self._files_key = _files_key(app, key, domain.problems)
        self._files_are_there = self._written.are_of(self._files_key)
        changed = self._changed_pages(domain, key, updates) | self._written.touched_pages(app)
        domain.due = sorted(changed & env.all_docs.keys())
        return domain.due

    def _outcome_key(
        self, domain: MemDomain, rules: Mapping[str, ReportRules], *others: object
    ) -> str:
        """A key of all that the problems and the pages rest on; empty where a lock is in use."""
        if self._lock is not None:
            return ""
        settings = (self._settings, domain.config, str(domain.config.path))
        return key_of(domain.documents.digest(), *settings, rules, *others)

    def _problems(self, app: Sphinx, domain: MemDomain) -> list[Problem]:
        found = check_site(domain.site, self._settings.severity, str(domain.config.path))
        found += unchecked(domain, Path(app.srcdir))
        return sorted(found, key=Problem.sort_key)

    def _changed_pages(
        self, domain: MemDomain, key: str, updates: Callable[[], Updates]
    ) -> set[str]:
        before = domain.shown
        if key and before.key == key:
            return set()
        digests = {facts.docname: digest(domain, facts) for facts in domain.registry}
        showing = pages_showing_needs(domain.env) & digests.keys()
        needs = needs_digest(domain.env, updates()) if showing else ""
        digests |= {name: key_of(digests[name], needs) for name in showing}
        domain.shown = Shown(key, digests)
        names = digests.keys() | before.digests.keys()
        return {name for name in names if digests.get(name) != before.digests.get(name)}

    def _leave_indices(self, app: Sphinx, pagename: str, *_page: object) -> None:
        if pagename == "genindex" and self._files_are_there:  # the page that Sphinx writes before
            leave_indices(app.builder)

    def _source_pages(self, app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
        if not self._files_are_there:
            yield from collect_source_pages(app)

    def _finish(self, app: Sphinx, exception: Exception | None) -> None:
        self._stop_listening()
        if exception is not None:
            return
        domain = mem_domain(app.env)
        for problem in domain.problems:
            say(problem)
        if domain.problems:
            say_where_codes_are_explained(domain.problems)
        export = cache(lambda: export_of(app))
        if self._settings.offline:
            say_state_of_lock(domain, self._lock, export())
        say_on_github(app, self._settings)
        written = self._files_are_there or self._write_files(app, export())
        with suppress(OSError):  # then nobody knows that an old folder took the place of this one
            self._written.note_pages(app)
        if not written or any(each.severity is Severity.ERROR for each in domain.problems):
            app.statuscode = 1

    def _write_files(self, app: Sphinx, export: Export) -> bool:
        written = write_data(app, self._settings, export)
        files = [*data_files(self._settings), *source_page_files(app), *index_files(app)]
        with suppress(OSError):  # then they are written again
            self._written.note(self._files_key if written else "", files)
        return written


def _files_key(app: Sphinx, outcome: str, problems: Iterable[Problem]) -> str:
    """A key of all that the files rest on which we write beside Sphinx's pages."""
    if not outcome:
        return ""
    build_info = getattr(app.builder, "build_info", None)
    appearance = getattr(build_info, "config_hash", ""), app.config.language
    places = [str(app.env.doc2path(each.docname)) for each in problems if each.docname]
    return key_of(outcome, app.builder.name, newest_template(app.builder), places, *appearance)


def _reading_key(domain: MemDomain, docname: str) -> str:
    """What the reading of a document depends on besides ``conf.py``, as far as is known before.

    The names of all reports: ``other:MEM-OBJ-note`` is a reference if there is a report ``other``.
    And its file, also where that is replaced by an older one, which Sphinx takes for unchanged.
    """
    report = domain.report_of(docname)
    path = domain.env.doc2path(docname)
    names = (report.slug if report else "", *sorted(domain.config.reports))
    return " ".join([path.suffix, _state_of(path), *names])


def _key_of_files(env: BuildEnvironment, docname: str) -> str:
    """What else the reading depended on, once it is known: the files that the document takes in."""
    names = sorted(env.dependencies.get(docname, ()))
    return "".join(f" {_state_of(Path(env.srcdir, name))}" for name in names)


def _state_of(path: Path) -> str:
    try:
        found = path.stat()
    except OSError:  # Sphinx is about to say so
        return "-"
    return f"{found.st_size}:{found.st_mtime_ns}"


def need_updates(site: Site) -> Updates:
    """Fields and links of all needs that are known only when everything is read."""
    values: dict[str, dict[str, object]] = {}
    links: dict[str, dict[Link, list[str]]] = {}
    for (report, record_id), (record, *_) in site.declarations.items():
        own = need_id(report, record_id)
        backing = site.evidence_of(report, record_id)
        states = [site.resolution(each).status for each in backing]
        values[own] = {
            "mem_quotes": len(states),
            "mem_verified": states.count(Status.VERIFIED),
        }
        links[own] = {
            Link.PART_OF: [need_id(report, record.part_of)] if record.part_of else [],
            Link.CITES: [need_id(*key) for key in site.cited_from(report, record_id)],
            Link.COUNTERPART: [
                need_id(*key) for key in site.cited_from(report, record_id, "counterpart")
            ],
        }
    for report, record_id in site.amendments:
        links.setdefault(need_id(report, record_id), {})[Link.SUPERSEDED_BY] = [
            need_id(report, successor) for successor in site.successors(report, record_id)
        ]
    for each in chain.from_iterable(site.annotations.values()):
        own = annotation_need_id(each.report, each.docname, each.anchor)
        links[own] = {Link.CITES: [need_id(*key) for key in site.cited_in(each)]}
    return Updates(values, links)
