"""One handler for each event of a build, in the order in which they come.

The only place that puts the parts together.

===================  ================================================================
builder-inited       settings, memreport.toml and the lock, where it is asked for, are read;
                     the parser is listened to
env-get-outdated     documents that now belong to another report are read again
source-read          the facts of a document begin
(reading)            directives and transforms note records, evidence, references
env-updated          sources are opened, quotes located, checks run; pages that show
                     something that changed are returned, so that they are written
html-page-context    the previews of what a page links to are put into it
html-collect-pages   the pages of quoted files
build-finished       problems are said, data is written, the exit status is set
===================  ================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx_memreport.config import InvalidConfig, Ownership
from sphinx_memreport.core.checks import check_site
from sphinx_memreport.core.ids import annotation_need_id, find_mentions, need_id
from sphinx_memreport.core.models import Status
from sphinx_memreport.core.problems import Severity
from sphinx_memreport.core.site import Site
from sphinx_memreport.sphinx_ext.directives import OWN_DIRECTIVES
from sphinx_memreport.sphinx_ext.directives.base import SOURCE_TEXT
from sphinx_memreport.sphinx_ext.domain import MemDomain, mem_domain
from sphinx_memreport.sphinx_ext.export import export_of, write_data
from sphinx_memreport.sphinx_ext.intersphinx import ids_of_other_sites
from sphinx_memreport.sphinx_ext.logging import (
    ParserMessages,
    say,
    say_what_is_not_checked,
    say_where_codes_are_explained,
)
from sphinx_memreport.sphinx_ext.needs import Link, pages_showing_needs, update_needs
from sphinx_memreport.sphinx_ext.offline import lock_of, say_state_of_lock
from sphinx_memreport.sphinx_ext.options import settings_of, site_config_of
from sphinx_memreport.sphinx_ext.pages import collect_source_pages
from sphinx_memreport.sphinx_ext.previews import add_previews
from sphinx_memreport.sphinx_ext.shown import digest
from sphinx_memreport.verify import rules_of, verify

if TYPE_CHECKING:
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
            ("env-updated", self._verify, 400),
            ("html-page-context", add_previews, 500),
            ("html-collect-pages", collect_source_pages, 500),
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
        domain.site = Site(domain.registry, rules_of(domain.config), {})
        self._stop_listening = ParserMessages(app).install()

    def _outdated(
        self,
        _app: Sphinx,
        env: BuildEnvironment,
        _added: set[str],
        _changed: set[str],
        _removed: set[str],
    ) -> list[str]:
        domain = mem_domain(env)
        return [
            facts.docname
            for facts in domain.registry
            if facts.reading_key != _reading_key(domain, facts.docname)
        ]

    def _begin_document(self, app: Sphinx, docname: str, content: list[str]) -> None:
        domain = mem_domain(app.env)
        facts = domain.facts(docname)
        report = domain.report_of(docname)
        facts.report = report.slug if report else None
        if not domain.config.reports:
            facts.cites_in_vain = next(find_mentions(content[0]), None) is not None
        facts.reading_key = _reading_key(domain, docname)
        app.env.temp_data[SOURCE_TEXT] = content[0]

    def _verify(self, _app: Sphinx, env: BuildEnvironment) -> Iterable[str]:
        domain = mem_domain(env)
        rules = rules_of(domain.config)
        titles = {name: title.astext() for name, title in env.titles.items()}
        whole_files = self._settings.source_pages == "full"
        asked = Site(domain.registry, rules, titles).requests(whole_files=whole_files)
        verdicts, keep = verify(domain.config, asked, domain.answers, self._lock)
        domain.data["answers"] = keep
        elsewhere = ids_of_other_sites(env)
        domain.site = Site(domain.registry, rules, titles, verdicts, elsewhere)
        domain.problems = check_site(domain.site, self._settings.severity, str(domain.config.path))
        changed = self._changed_pages(domain)
        update_needs(env, *need_updates(domain.site))
        if changed:
            changed |= pages_showing_needs(env)
        return sorted(changed & env.all_docs.keys())

    def _changed_pages(self, domain: MemDomain) -> set[str]:
        shown = {facts.docname: digest(domain, facts) for facts in domain.registry}
        names = shown.keys() | domain.shown.keys()
        changed = {name for name in names if shown.get(name) != domain.shown.get(name)}
        domain.shown.clear()
        domain.shown.update(shown)
        return changed

    def _finish(self, app: Sphinx, exception: Exception | None) -> None:
        self._stop_listening()
        if exception is not None:
            return
        problems = mem_domain(app.env).problems
        for problem in problems:
            say(problem)
        domain = mem_domain(app.env)
        say_what_is_not_checked(domain.config, domain.registry)
        if problems:
            say_where_codes_are_explained(problems)
        export = export_of(app)
        if self._settings.offline:
            say_state_of_lock(mem_domain(app.env), self._lock, export)
        written = write_data(app, self._settings, export)
        if not written or any(problem.severity is Severity.ERROR for problem in problems):
            app.statuscode = 1


def _reading_key(domain: MemDomain, docname: str) -> str:
    """What the reading of a document depends on besides its text and ``conf.py``.

    The names of all reports: ``other:MEM-OBJ-note`` is a reference if there is a report ``other``.
    """
    report = domain.report_of(docname)
    return " ".join([report.slug if report else "", *sorted(domain.config.reports)])


def need_updates(
    site: Site,
) -> tuple[dict[str, dict[str, object]], dict[str, dict[Link, list[str]]]]:
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
    return values, links
