"""What pages show in place of the placeholders, one module per family.

Every function takes the :class:`~.page.Page` and a placeholder and gives docutils nodes, so
that every builder can write them.
"""
