"""Pinned sources on this machine: git repositories and captured files.

The only importer of GitPython. A repository is read through its object database alone: its
configuration, hooks, filters, work tree, index and refs play no part, and nothing is fetched.
git is given a private, empty repository of ours that borrows the objects of the checkout, and
every object is hashed again, from the pinned commit over its trees down to the blobs. So what
is read is what the pin names, whatever state the checkout is in (contract, section 2).

====================  ==========================================================
``source``            a pinned commit: files by path, lists of paths
``captures``          a pinned file
``history``           what became of files between two commits
``refs``              from the name of a commit to its hash
``objects``           objects from git, each hashed again
``process``           running git: our private repository, ``git cat-file``
``checkout``          where a checkout keeps its objects; its files, read with care
``limits``            what a repository of others may cost
====================  ==========================================================
"""

from __future__ import annotations

from sphinx_memreport.gitstore.captures import CaptureSource, open_capture
from sphinx_memreport.gitstore.checkout import object_directory
from sphinx_memreport.gitstore.history import History, NoRemoval, Removal
from sphinx_memreport.gitstore.limits import MAX_BYTES
from sphinx_memreport.gitstore.refs import fetch_command, resolve_commit
from sphinx_memreport.gitstore.source import GitSource, open_git

__all__ = [
    "MAX_BYTES",
    "CaptureSource",
    "GitSource",
    "History",
    "NoRemoval",
    "Removal",
    "fetch_command",
    "object_directory",
    "open_capture",
    "open_git",
    "resolve_commit",
]
