"""What a site declares: reports and pinned sources in ``memreport.toml``, settings in ``conf.py``.

Contract, section 2. The TOML is the single place for pins. :func:`load_config` reads it, with
``memreport.local.toml`` beside it, and reports everything wrong in both at once; nothing here
runs git or knows Sphinx, so that every tool reads the same file in the same way.

============  ===========================================================
models        reports and sources, as they are declared; help on each key
values        what each kind of text in them may hold
settings      the settings of conf.py; help on each
loading       from files to models
lines         in which line of a file a key stands
errors        what is wrong, in words for the author
============  ===========================================================
"""

from sphinx_memreport.config.errors import InvalidConfig
from sphinx_memreport.config.lines import LineIndex
from sphinx_memreport.config.loading import (
    LOCAL_NAME,
    MAX_BYTES,
    MAX_DOCUMENT_BYTES,
    load_config,
    read_regular_file,
)
from sphinx_memreport.config.models import (
    CaptureSource,
    GitSource,
    Ownership,
    Report,
    SiteConfig,
    Source,
    fingerprint,
    layer_of,
)
from sphinx_memreport.config.settings import ReportFiles, Settings, check_settings
from sphinx_memreport.config.values import BoundaryKind, ContractLevel

__all__ = [
    "LOCAL_NAME",
    "MAX_BYTES",
    "MAX_DOCUMENT_BYTES",
    "BoundaryKind",
    "CaptureSource",
    "ContractLevel",
    "GitSource",
    "InvalidConfig",
    "LineIndex",
    "Ownership",
    "Report",
    "ReportFiles",
    "Settings",
    "SiteConfig",
    "Source",
    "check_settings",
    "fingerprint",
    "layer_of",
    "load_config",
    "read_regular_file",
]
