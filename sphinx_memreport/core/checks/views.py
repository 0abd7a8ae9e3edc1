"""Views: the reports that they are asked to show exist."""

from __future__ import annotations

from collections.abc import Iterator

from sphinx_memreport.core.nearest import nearest_names
from sphinx_memreport.core.problems import Code, Problem
from sphinx_memreport.core.site import Site


def unknown_reports(site: Site) -> Iterator[Problem]:
    for facts in site.registry:
        for view in facts.views:
            for slug in view.reports:
                if slug not in site.reports:
                    near = nearest_names(slug, site.reports)
                    known = ", ".join(site.reports) or "none"
                    yield Problem(
                        code=Code.INVALID_VALUE,
                        message=f"{view.directive}: there is no report '{slug}'",
                        docname=view.docname,
                        line=view.line,
                        report=facts.report,
                        fix=f"did you mean {' or '.join(near)}?"
                        if near
                        else f"the reports are: {known}",
                    )
