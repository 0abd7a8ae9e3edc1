"""Bounds for what a repository of others may cost; one beyond them is said, never passed over.

Memory holds one file, one tree object or the names of one tree at a time, and git itself never
asks for more than :data:`GIT_ALLOCATION` at once. What is listed in
``docs/explanation/safety.md`` is listed from here.
"""

from __future__ import annotations

_MIB = 1024 * 1024

# --- objects ----------------------------------------------------------------------------------

#: Files larger than this many bytes are not read into memory.
MAX_BYTES = 64 * _MIB
#: What all files that are asked for at once may have together; a small repository can hold a
#: file of many megabytes under thousands of names.
MAX_TOTAL_BYTES = 16 * 1024 * _MIB
#: A tree object of this size holds two million names.
MAX_TREE_BYTES = 128 * _MIB
MAX_COMMIT_BYTES = 16 * _MIB
#: Of the target of a symbolic link, this much is shown.
MAX_LINK_BYTES = 4096

#: Names, directories included, that are listed of one tree, and the bytes of all their paths.
#: A few tree objects that hold one another many times are enough for billions of paths.
MAX_NAMES = 2_000_000
MAX_PATH_BYTES = 256 * _MIB

# --- git --------------------------------------------------------------------------------------

#: Seconds that git may be silent when it has been asked for an object.
PATIENCE = 60.0
#: After so many objects that it could not read to their end, git is not started again.
MAX_FAILURES = 1000
#: The most memory that git may ask for at once, as when it unpacks what other objects are made
#: from. Objects beyond it count as damaged.
GIT_ALLOCATION = "256m"
#: Bytes of requests that git has not answered; the smallest buffer that a pipe has anywhere.
PIPE_BYTES = 4096

# --- the files of a repository ----------------------------------------------------------------

#: Files in which a repository says where its objects are.
MAX_POINTER_BYTES = _MIB
#: Repositories that objects are borrowed from: all of them, and one from another (as in git).
MAX_LENDERS = 100
MAX_ALTERNATES_DEPTH = 5
#: ``packed-refs`` and ``shallow``.
MAX_REFS_BYTES = 64 * _MIB
MAX_SYMREFS = 5  # as in git

# --- history ----------------------------------------------------------------------------------

#: How long git may look for renames, and for all removals together, in seconds.
RENAME_SECONDS, REMOVAL_SECONDS = 30.0, 20.0
#: git sees a longer argument as an error; a long passage is sought by its beginning.
MAX_SOUGHT_BYTES = 64 * 1024
MAX_SUBJECT = 200


def too_large(size: int, limit: int) -> str:
    """How large something is, and may be."""
    return f"{size:,} bytes, at most {limit:,} are read"
