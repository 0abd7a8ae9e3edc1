"""``memreport new``: a project that builds at once."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import tempfile
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePath
from string import Template

import click

from sphinx_memreport import __version__
from sphinx_memreport.cli.common import Failure, say
from sphinx_memreport.config import (
    CaptureSource,
    GitSource,
    InvalidConfig,
    SiteConfig,
    load_config,
)
from sphinx_memreport.core.exclusive import exclusive_folders
from sphinx_memreport.core.output import PART, leftovers

#: The members of a report, in reading order.
MEMBERS = ("overview", "boundary", "runtime", "memory", "epistemic", "reconciliation")

# What a message says before the name of a key that is an option here.
_KEY = r"^reports[.][^:]*[.]"


@click.command()
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--repository", required=True, metavar="URL", help="URL of the analysed repository.")
@click.option("--commit", required=True, metavar="SHA", help="The full hash of the pinned commit.")
@click.option("--slug", help="Name of the report in references; by default from the URL.")
@click.option("--system", help="Name of the system; by default from the URL.")
@click.option(
    "--checkout",
    metavar="PATH",
    help="Where the repository is or shall be, relative to DIRECTORY; by default checkouts/SLUG.",
)
def new(
    directory: Path,
    repository: str,
    commit: str,
    slug: str | None,
    system: str | None,
    checkout: str | None,
) -> None:
    """Start a report in DIRECTORY: a project that builds at once.

    It has conf.py, memreport.toml with the pin, a document for each member with the sections
    that analysts use, .gitignore, and a workflow for GitHub Actions. DIRECTORY must not exist,
    or be empty: nothing is ever overwritten.

    \b
      memreport new report --repository https://github.com/example/jotter \\
          --commit ff666682c328425496c896a123edfa6ef3b0a7d2
    """
    name = _name(repository)
    slug = slug or _slug(name)
    values = {
        "slug": slug,
        "system": system or name or slug,
        "repository": repository,
        "commit": commit.lower(),
        "checkout": checkout or f"checkouts/{slug}",
    }
    _create(directory, values)
    say(f"{directory} has a report about {values['system']}. What comes next:")
    say(f"    cd {shlex.quote(str(directory))}")
    say("    memreport fetch")
    say("    sphinx-build -b html . _build/html")
    if requirement().startswith("#"):
        say("Before CI can build it, name in requirements.txt where to get sphinx-memreport.")


def _create(directory: Path, values: Mapping[str, str]) -> None:
    """Write the project beside its place, have its configuration checked, and move it there."""
    if directory.is_symlink() or directory.exists():
        if not directory.is_dir():
            raise Failure(f"{directory} is there and not a directory; nothing was written")
        if any(directory.iterdir()):
            raise Failure(
                f"{directory} is not empty; nothing was written\n    fix: name a new directory"
            )
    place = directory.resolve()
    place.parent.mkdir(parents=True, exist_ok=True)
    with exclusive_folders([place.parent]):
        for left in leftovers(place):
            shutil.rmtree(left, ignore_errors=True)
        part = Path(tempfile.mkdtemp(PART, f".{place.name}.", place.parent))
        try:
            (part / "memreport.toml").write_text(_toml(values), encoding="utf-8")
            config = _checked(part / "memreport.toml", values)
            _write(part, config)
            part.chmod(place.stat().st_mode if place.exists() else _folder_mode(part))
            if place.exists():
                place.rmdir()  # empty, or this fails
            part.rename(place)
        finally:
            shutil.rmtree(part, ignore_errors=True)


def _folder_mode(part: Path) -> int:
    """The mode that a folder gets here by default."""
    return next(part.glob("*/")).stat().st_mode


def _checked(path: Path, values: Mapping[str, str]) -> SiteConfig:
    """The configuration, which says what is wrong with values as the build would.

    :raises Failure: with all of it, by the options that gave the values.
    """
    try:
        config = load_config(path)
    except InvalidConfig as error:
        lines = [
            re.sub(r"^reports[.][^:.]*:", "--slug:", re.sub(_KEY, "--", problem.message))
            + (f"\n    fix: {problem.fix}" if problem.fix else "")
            for problem in error.problems
        ]
        raise Failure("\n".join(lines)) from None
    report = config.reports.get(values["slug"])
    if report is None or values["slug"] == "checkouts":
        raise Failure(f"--slug: {values['slug']!r} cannot be the folder of the report")
    return config


def _write(part: Path, config: SiteConfig) -> None:
    ((slug, report),) = config.reports.items()
    folder = files("sphinx_memreport.cli") / "templates"
    title = f"The {report.system} report"
    checkouts = _inside(report.sources["SRC-1"])
    values = {
        "slug": slug,
        "title_literal": json.dumps(title, ensure_ascii=False),  # also a string of Python
        "checkouts_literal": json.dumps(checkouts, ensure_ascii=False),
        "checkouts": re.sub(r"([\\*?\[!# ])", r"\\\1", checkouts),
        "heading": markdown_text(title),
        "requirement": requirement(),
    }
    texts = {
        "conf.py": _filled(folder / "conf.py.txt", values),
        "index.md": _filled(folder / "index.md.txt", values),
        "requirements.txt": _filled(folder / "requirements.txt", values),
        ".gitignore": _filled(folder / "gitignore.txt", values),
        ".github/workflows/report.yml": (folder / "workflows/report.yml").read_text("utf-8"),
    }
    for member in MEMBERS:
        template = folder / "members" / f"{member}.md.txt"
        texts[f"{slug}/{member}.md"] = template.read_text("utf-8")
    for name, text in texts.items():
        path = part / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def requirement() -> str:
    """How CI installs this package: from where it was installed here, if others can reach that."""
    release = f"sphinx-memreport>={__version__}"
    try:
        origin = json.loads(distribution("sphinx-memreport").read_text("direct_url.json") or "null")
    except (PackageNotFoundError, ValueError):
        origin = None
    match origin:  # PEP 610; nothing for a package from an index
        case {"url": str(url), "vcs_info": {"vcs": "git", "commit_id": str(commit)}}:
            return f"sphinx-memreport @ git+{url}@{commit}"
        case {"url": str(url)} if url.startswith("https://"):
            return f"sphinx-memreport @ {url}"
        case {"url": str()}:
            return f"{_FROM_A_FOLDER}{release}"
    return release


_FROM_A_FOLDER = """\
# The next line needs a release on PyPI, and there is none yet. sphinx-memreport was installed from
# a folder here, which other machines do not have. For them, name a repository that holds it:
#   sphinx-memreport @ git+https://HOST/OWNER/sphinx-memreport@COMMIT
"""


def _inside(source: GitSource | CaptureSource) -> str:
    """What is neither part of the site nor to be committed: the checkout, if it is inside."""
    assert isinstance(source, GitSource)
    path = PurePath(source.checkout)
    inside = not path.is_absolute() and ".." not in path.parts and path.parts
    return path.as_posix() if inside and path.parts[0] != "checkouts" else "checkouts"


def _toml(values: Mapping[str, str]) -> str:
    template = files("sphinx_memreport.cli") / "templates" / "memreport.toml.txt"
    if not re.fullmatch(r"[A-Za-z0-9_-]+", values["slug"]):
        raise Failure(
            f"--slug: expected a lowercase letter, then lowercase letters, digits and hyphens; "
            f"found {values['slug']!r}"
        )
    escaped = {name: toml_string(values[name]) for name in ("system", "repository", "checkout")}
    commit = toml_string(values["commit"])[1:-1]
    return _filled(template, {**escaped, "commit": commit, "slug": values["slug"]})


def _filled(template: Traversable, values: Mapping[str, str]) -> str:
    return Template(template.read_text("utf-8")).substitute(values)


def toml_string(text: str) -> str:
    """Any text as a basic string of TOML."""
    escaped = json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
    return escaped.encode("utf-8", "replace").decode("utf-8")


def markdown_text(text: str) -> str:
    """One line of text that Markdown shows as it is."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


def _name(repository: str) -> str:
    """The last part of a URL, without ``.git``."""
    return re.split(r"[/:]", repository.rstrip("/"))[-1].removesuffix(".git")


def _slug(name: str) -> str:
    """A slug made of a name."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return slug if slug[:1].isalpha() else f"report-{slug}".rstrip("-")
