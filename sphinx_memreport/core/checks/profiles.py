"""Profiles: one for each report, and at level strict no basis beyond its records (section 3.10)."""

from __future__ import annotations

from collections.abc import Iterator

from sphinx_memreport.core.problems import Code, Problem
from sphinx_memreport.core.profiles import exceeds, strongest_basis
from sphinx_memreport.core.site import Site


def one_for_each_report(site: Site) -> Iterator[Problem]:
    for report, (first, *later) in site.profiles.items():
        for profile in later:
            yield Problem(
                code=Code.INVALID_VALUE,
                message=f"memprofile: report '{report}' has a profile already, at "
                f"{first.docname}:{first.line}",
                docname=profile.docname,
                line=profile.line,
                report=report,
                fix="remove one of the two",
            )


def overclaimed_bases(site: Site) -> Iterator[Problem]:
    for report, (profile, *_) in site.profiles.items():
        if not site.reports[report].strict:
            continue
        for axis in profile.axes:
            for finding in axis.findings:
                allowed = strongest_basis(site, report, finding)
                if exceeds(finding.basis, allowed):
                    names = ", ".join(finding.records) or "no record"
                    yield Problem(
                        code=Code.OVERCLAIMED_STATUS,
                        message=f"memprofile: {axis.name}: '{finding.value}' claims the basis "
                        f"'{finding.basis}', but {names} allows "
                        f"{f'{allowed!r} at most' if allowed else 'none'}",
                        docname=profile.docname,
                        line=finding.line,
                        report=report,
                        fix=f"write 'basis: {allowed}', or name a record that shows more"
                        if allowed
                        else "name a record that shows it, or remove the finding",
                    )
