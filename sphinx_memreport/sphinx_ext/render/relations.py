"""What is known of a record elsewhere: parts, annotations, what supersedes it, who cites it."""

from __future__ import annotations

from docutils import nodes

from sphinx_memreport.core.models import Amendment, Annotation
from sphinx_memreport.core.vocabulary import TYPE_OF_KIND
from sphinx_memreport.sphinx_ext.links import internal_link
from sphinx_memreport.sphinx_ext.render.page import Page, badge, field
from sphinx_memreport.sphinx_ext.words import _, listed, sentence, shown_value, term


def render_relations(page: Page, report: str, target: str) -> list[nodes.Node]:
    """The relations of one record, or nothing."""
    site = page.site
    # a search for a record is to find it, and not what is named beside it on many pages
    fields = nodes.field_list(classes=["memreport-relations", "no-search"])
    annotations = site.annotations.get((report, target), [])
    if annotations:
        fields += _annotations(page, annotations)
    predecessors = site.predecessors.get((report, target), [])
    if predecessors:
        fields += field(_("Supersedes"), [page.name_record(report, each) for each in predecessors])
    parts = site.parts.get((report, target), [])
    if parts:
        fields += field(
            _("Parts"), [page.cite_record(report, part.id, part.label) for part in parts]
        )
    citations = site.cited_by(report, target)
    if citations:
        fields += field(_("Cited by"), [page.citation(each) for each in citations])
    return [fields] if fields.children else []


def render_standing(page: Page, report: str, target: str) -> list[nodes.Node]:
    """What supersedes a record, where something does."""
    successors = page.site.successors(report, target)
    if not successors:
        return []
    amendments = page.site.amendments[report, target]
    said = sentence(
        _("{superseded} by {records}, see the {amendment}"),
        superseded=badge(_("superseded"), "superseded"),
        records=listed([page.name_record(report, each) for each in successors]),
        amendment=listed([_link(page, each, _("amendment")) for each in amendments]),
    )
    return [nodes.paragraph("", "", *said, classes=["memreport-standing"])]


def _annotations(page: Page, annotations: list[Annotation]) -> nodes.field:
    """Each annotation with its fields; its text stays where it was written, one link away."""
    entries = nodes.bullet_list(classes=["memreport-annotations"])
    for annotation in annotations:
        title = page.site.titles.get(annotation.docname, annotation.docname)
        whose = title
        if annotation.member:
            whose = _("{member} member").format(member=term(annotation.member))
        entry = nodes.list_item("", nodes.paragraph("", "", _link(page, annotation, whose)))
        fields = nodes.field_list(classes=["memreport-fields"])
        cited = page.site.cited_in(annotation)
        for value in annotation.fields:
            option = TYPE_OF_KIND[annotation.kind].option(value.name)
            if option and value.text.strip():
                text = shown_value(option, value.text)
                shown = nodes.inline("", "", *page.linked(annotation.report, text, cited))
                fields += field(term(option.label), [shown])
        if fields.children:
            entry += fields
        entries += entry
    name = _("Annotation") if len(annotations) == 1 else _("Annotations")
    return nodes.field("", nodes.field_name("", name), nodes.field_body("", entries))


def _link(page: Page, to: Annotation | Amendment, shown: str) -> nodes.Node:
    return internal_link(
        page.app.builder, page.docname, to.docname, to.anchor, nodes.inline("", shown)
    )
