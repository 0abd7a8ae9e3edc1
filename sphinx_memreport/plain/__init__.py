"""The plain-Markdown form of reports: read it, and write it back.

Analysts without Sphinx write members as plain Markdown: ``#### MEM-OBJ-note — Note`` declares a
record, ``- Immediate return: …`` is a field, a blockquote that ends in ``> --- `path``` is
evidence. :mod:`.reader` turns such a text into values, :mod:`.writer_myst` turns those into
documents with our directives, and :mod:`.writer_plain` goes the other way.

Imports the core only; nothing here knows Sphinx, git or the command line.
"""
