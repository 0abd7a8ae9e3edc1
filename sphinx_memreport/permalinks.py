"""URLs of a commit, a file or a line range on the site that hosts a repository.

Everything is derived from the repository's URL, without asking the network. What comes out is
an ``http`` or ``https`` URL made of URL characters alone (:rfc:`3986`), so that it can stand in
an HTML attribute, or None when the host is not known.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

from sphinx_memreport.core.models import LineRange

#: What a ``permalink`` template may hold.
PLACEHOLDERS = ("path", "start", "end", "commit")

_SCHEMES = ("https", "http", "ssh", "file")
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")
# git's short form of ssh, ``user@host:path``. Without a user the host needs a dot, so that
# neither ``javascript:…`` nor a drive letter is taken for one.
_SCP = re.compile(r"(?:(?P<user>[\w.][\w.-]*)@(?P<host>[\w.-]+)|(?P<bare>[\w-]+\.[\w.-]+)):(?!-)")
_UNSAFE = re.compile(r"[\s\x00-\x20\x7f-\x9f\"'<>\\^`{|}\u200b-\u200f\u2028-\u202f\u2060-\u206f]")
_TEMPLATE = re.compile(
    r"https?://[a-z0-9.-]+(?::[0-9]+)?/[\w!$&()*+,;=:@~./?#%\[\]-]*", re.I | re.A
)
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_URL = re.compile(r"https?://[\w.:-]+(?:/[\w!$&()*+,;=:@~./?#%\[\]-]*)?", re.A)

# Formats that hosts show rendered, without lines, unless they are asked for the source.
_RENDERED = (
    *(".md", ".markdown", ".mdown", ".mkd", ".mkdn", ".rst", ".adoc", ".asciidoc", ".org"),
    *(".textile", ".rdoc", ".creole", ".mediawiki", ".pod", ".ipynb", ".svg", ".csv", ".tsv"),
)


class _Remote(NamedTuple):
    """A repository's URL in its parts; ``path`` has no slash at the ends and no ``.git``."""

    scheme: str
    user: str
    host: str
    port: int | None
    path: str


class _Host(NamedTuple):
    """How a kind of host forms its URLs, relative to the repository's page.

    The placeholders are percent-encoded; ``{suffix}`` is the path with a slash and ``{item}``
    the path with ``/item/`` before it, both empty for the root of the tree.
    """

    file: str
    directory: str
    commit: str
    one_line: str
    lines: str
    #: Query that asks for the source of a file which the host would render.
    source: str = ""


_GITHUB = _Host(
    "/blob/{commit}{suffix}",
    "/tree/{commit}{suffix}",
    "/commit/{commit}",
    "#L{start}",
    "#L{start}-L{end}",
    "?plain=1",
)
_GITLAB = _Host(
    "/-/blob/{commit}{suffix}",
    "/-/tree/{commit}{suffix}",
    "/-/commit/{commit}",
    "#L{start}",
    "#L{start}-{end}",
    "?plain=1",
)
_BITBUCKET = _Host(
    "/src/{commit}{suffix}",
    "/src/{commit}{suffix}/",
    "/commits/{commit}",
    "#lines-{start}",
    "#lines-{start}:{end}",
)
_GITEA = _Host(
    "/src/commit/{commit}{suffix}",
    "/src/commit/{commit}{suffix}",
    "/commit/{commit}",
    "#L{start}",
    "#L{start}-L{end}",
    "?display=source",
)
_SOURCEHUT = _Host(
    "/tree/{commit}{item}",
    "/tree/{commit}{item}",
    "/commit/{commit}",
    "#L{start}",
    "#L{start}-{end}",
)
# Azure DevOps marks a selection of characters: it ends before the first one of the next line.
_AZURE_LINES = "&line={start}&lineEnd={after}&lineStartColumn=1&lineEndColumn=1"
_AZURE = _Host(
    "?path=/{path}&version=GC{commit}",
    "?path=/{path}&version=GC{commit}",
    "/commit/{commit}",
    _AZURE_LINES,
    _AZURE_LINES,
)


def permalink(
    repository: str,
    commit: str,
    path: str,
    lines: LineRange | None,
    template: str | None = None,
    directory: bool = False,
) -> str | None:
    """The URL of a file, of lines of it, or of a directory, at a commit.

    :param repository: the repository as in memreport.toml, see :func:`repository_error`.
    :param commit: the full commit hash.
    :param path: path from the root of the tree, with ``/``; empty is the root.
    :param lines: lines counted from 1, or None for the whole file. Not for directories.
    :param template: replaces what is known of the host, see :func:`template_error`. Without
        lines, a fragment or query parameter that holds ``{start}`` or ``{end}`` is left out.
    :param directory: whether ``path`` is a directory.
    :return: an http(s) URL that is safe in an HTML attribute; None when there is no template
        and the host is not known, or when the template or the path cannot give such a URL.
    """
    path = path.strip("/")
    if any(part in (".", "..") for part in path.split("/")):
        return None  # browsers would resolve these away, even percent-encoded
    if not path:
        directory = True
    if directory:
        lines = None
    if template is not None:
        return _from_template(template, commit, path, lines)
    place = _place(repository)
    if place is None:
        return None
    page, host = place
    url = page + (host.directory if directory else host.file)
    if lines is not None:
        if host.source and path.lower().endswith(_RENDERED):
            url += host.source
        url += host.one_line if lines.start == lines.end else host.lines
    return _safe(_fill(url, commit, path, lines))


def repository_url(repository: str) -> str | None:
    """The URL of a repository's page, without credentials.

    :return: None for a repository that is reached by ssh on a host that is not known, for a
        file URL and for what :func:`repository_error` refuses.
    """
    place = _place(repository)
    if place is not None:
        return _safe(place[0])
    remote = _parse(repository)
    return _safe(_page(remote)) if remote and remote.scheme in ("https", "http") else None


def commit_url(repository: str, commit: str) -> str | None:
    """The URL of a commit's own page; None when the host is not known."""
    place = _place(repository)
    if place is None:
        return None
    page, host = place
    return _safe(_fill(page + host.commit, commit, "", None))


def repository_error(repository: str) -> str | None:
    """Say what is wrong with a ``repository``, or None when it is a URL that git can fetch.

    Accepted are ``https``, ``http``, ``ssh`` and ``file`` URLs and ``user@host:path``. A
    password is refused, because the URL is shown on pages.
    """
    if _UNSAFE.search(repository):
        return "holds a space, a quote, a bracket or an invisible character"
    remote = _parse(repository)
    if remote is None:
        return "is not an https, ssh or file URL, nor of the form git@host:owner/name"
    if ":" in remote.user:
        return "holds a password, which pages would show"
    parts = remote.path.split("/")
    if (place := _place(repository)) and place[1] is not _AZURE:
        # GitLab's groups are of any depth, and its pages begin behind a dash
        pages = {"-"} if place[1] is _GITLAB else _PAGES
        if any(part in pages for part in parts[2:]):
            return f"is that of a page of {'/'.join(parts[:2])}"
    return None


def template_error(template: str) -> str | None:
    """Say what is wrong with a ``permalink`` template, or None when it is a good one.

    A template is an http(s) URL with ``{path}`` and, as wanted, ``{commit}``, ``{start}`` and
    ``{end}`` after the host's name; ``{start}`` and ``{end}`` stand in the query or fragment,
    which is left out for a link to a whole file.
    """
    names = _PLACEHOLDER.findall(template)
    for name in names:
        if name not in PLACEHOLDERS:
            known = ", ".join(f"{{{known}}}" for known in PLACEHOLDERS)
            return f"has the unknown placeholder {{{name}}}; known are {known}"
    if not template.lower().startswith(("https://", "http://")):
        return "does not start with https://"
    origin = "/".join(template.split("/", 3)[:3])
    if "{" in origin or "}" in origin:
        return "has a placeholder in the host's name"
    if not _TEMPLATE.fullmatch(_PLACEHOLDER.sub("0", template)):
        return "is not a URL: percent-encode what is not a URL character"
    if "path" not in names:
        return "has no {path}"
    if re.search(r"\{(?:start|end)\}", re.split(r"[?#]", template, maxsplit=1)[0]):
        return "has {start} or {end} outside its query and fragment"
    return None


def _from_template(template: str, commit: str, path: str, lines: LineRange | None) -> str | None:
    if template_error(template) is not None:
        return None
    if lines is None:
        template = _without_lines(template)
    return _safe(_fill(template, commit, path, lines))


def _without_lines(template: str) -> str:
    """Drop the fragment and the query parameters that would name lines."""
    rest, hash_sign, fragment = template.partition("#")
    page, _, query = rest.partition("?")
    kept = "&".join(part for part in query.split("&") if part and not _names_lines(part))
    return (
        page
        + (f"?{kept}" if kept else "")
        + ("" if _names_lines(fragment) else hash_sign + fragment)
    )


def _names_lines(part: str) -> bool:
    return "{start}" in part or "{end}" in part


def _fill(url: str, commit: str, path: str, lines: LineRange | None) -> str:
    encoded = _encode(path)
    values = {
        "commit": _encode(commit),
        "path": encoded,
        "suffix": encoded and f"/{encoded}",
        "item": encoded and f"/item/{encoded}",
    }
    if lines is not None:
        values |= {"start": str(lines.start), "end": str(lines.end), "after": str(lines.end + 1)}
    return _PLACEHOLDER.sub(lambda match: values[match[1]], url)


def _encode(text: str) -> str:
    """Percent-encode all but letters, digits, ``/`` and ``_.-~``."""
    try:
        data = text.encode("utf-8", "surrogateescape")  # so come names that are not UTF-8
    except UnicodeEncodeError:
        data = text.encode("utf-8", "replace")
    return quote(data)


def _safe(url: str) -> str | None:
    """The last line of defence: whatever went wrong before, only plain URLs come out."""
    return url if _URL.fullmatch(url) else None


def _parse(repository: str) -> _Remote | None:
    """Split a repository's URL, or None when it is not of a known form."""
    if _UNSAFE.search(repository):
        return None
    remote = _parse_url(repository) if "://" in repository else _parse_scp(repository)
    if remote is None or remote.user.startswith("-"):
        return None
    named = _HOST.fullmatch(remote.host) or (remote.scheme == "file" and not remote.host)
    parts = remote.path.split("/")
    if not named or parts[0].startswith("-") or any(part in ("", ".", "..") for part in parts):
        return None
    return remote


def _parse_scp(repository: str) -> _Remote | None:
    match = _SCP.match(repository)
    if match is None:
        return None
    host = (match["host"] or match["bare"]).lower()
    return _Remote("ssh", match["user"] or "", host, None, _trim(repository[match.end() :]))


def _parse_url(repository: str) -> _Remote | None:
    try:
        url = urlsplit(repository)
        port = url.port
    except ValueError:
        return None
    if url.scheme not in _SCHEMES or "?" in repository or "#" in repository:
        return None
    user = url.netloc.rpartition("@")[0]
    return _Remote(url.scheme, user, url.hostname or "", port, _trim(unquote(url.path)))


def _trim(path: str) -> str:
    """The path without slashes at its ends and without ``.git``."""
    return path.strip("/").removesuffix(".git").rstrip("/")


def _place(repository: str) -> tuple[str, _Host] | None:
    """The address of a repository's page and the kind of its host."""
    remote = _parse(repository)
    if remote is None or remote.scheme == "file" or "/" not in remote.path:
        return None
    azure = _azure_page(remote)
    if azure is not None:
        return azure, _AZURE
    for fits, host in _HOSTS:
        if fits(remote.host):
            return _page(remote), host
    return None


def _page(remote: _Remote) -> str:
    """The repository's page. A port is kept only of http(s): that of ssh is another service."""
    web = remote.scheme in ("https", "http")
    scheme = remote.scheme if web else "https"
    host = _SSH_HOSTS.get(remote.host, remote.host)
    port = f":{remote.port}" if web and remote.port is not None else ""
    return f"{scheme}://{host}{port}/{_encode(remote.path)}"


def _azure_page(remote: _Remote) -> str | None:
    """The page of an Azure DevOps repository, whose ssh URLs are ``v3/organization/…``."""
    parts = remote.path.split("/")
    if remote.host in ("ssh.dev.azure.com", "vs-ssh.visualstudio.com"):
        if len(parts) != 4 or parts[0] != "v3":
            return None
        organization, project, name = (_encode(unquote(part)) for part in parts[1:])
        return f"https://dev.azure.com/{organization}/{project}/_git/{name}"
    if remote.host == "dev.azure.com" or remote.host.endswith(".visualstudio.com"):
        return _page(remote) if "_git" in parts[:-1] else None
    return None


def _named(*labels: str) -> Callable[[str], bool]:
    """Whether one of the words stands in a host's name, as in ``gitlab.example.com``."""
    return lambda host: any(label in host for label in labels) and not host.startswith("gist.")


def _is(*hosts: str) -> Callable[[str], bool]:
    return lambda host: host in hosts


# What begins the address of a page below that of its repository.
_PAGES = {"blob", "branches", "commit", "commits", "issues", "pull", "raw", "src", "tree"}

# Where hosts offer ssh on the port of https, under a name that serves no pages.
_SSH_HOSTS = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}

_HOSTS: tuple[tuple[Callable[[str], bool], _Host], ...] = (
    (
        _is("bitbucket.org", "altssh.bitbucket.org"),
        _BITBUCKET,
    ),  # Bitbucket Data Center has other URLs: use a template
    (_is("git.sr.ht"), _SOURCEHUT),
    (_named("codeberg.org", "gitea", "forgejo"), _GITEA),
    (_named("gitlab"), _GITLAB),
    (_named("github"), _GITHUB),
)
