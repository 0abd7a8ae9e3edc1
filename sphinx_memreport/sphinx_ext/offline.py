"""The lock in a build: when it is read, and what is said about it (``memreport_offline``)."""

from __future__ import annotations

from sphinx.util import logging

from sphinx_memreport.config import Settings, SiteConfig
from sphinx_memreport.core.export import Export
from sphinx_memreport.core.lock import LOCK_NAME, Lock
from sphinx_memreport.core.lock_record import differences, record
from sphinx_memreport.lockfile import load_lock, lock_path
from sphinx_memreport.sphinx_ext.domain import MemDomain

logger = logging.getLogger(__name__)


def lock_of(settings: Settings, config: SiteConfig) -> Lock | None:
    """The lock, when the settings ask for it; None without one.

    :raises InvalidConfig: when it cannot be used.
    """
    if settings.offline != "lock":
        return None
    return load_lock(lock_path(config))


def say_state_of_lock(domain: MemDomain, lock: Lock | None, export: Export) -> None:
    """Say which sources the lock stood in for, and whether it is up to date for the others."""
    verdicts = domain.site.verdicts
    if lock is None:
        logger.info("there is no %s: 'memreport lock' writes it where the checkouts are", LOCK_NAME)
        return
    for report, source in sorted(verdicts.locked):
        logger.info("%s: %s is not here: %s of %s stands in", report, source, LOCK_NAME, lock.date)
    not_read = {*verdicts.locked, *verdicts.unavailable}
    now = record(export, domain.site.reports, lock.date, not_read)
    changed = len(differences(lock, now, not_read))
    if changed:
        entries = "1 entry differs" if changed == 1 else f"{changed} entries differ"
        logger.info("%s is out of date (%s): run 'memreport lock'", LOCK_NAME, entries)
