"""Links to files, lines and commits on the sites that host repositories."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sphinx_memreport.core.models import LineRange
from sphinx_memreport.permalinks import (
    commit_url,
    permalink,
    repository_error,
    repository_url,
    template_error,
)

SHA = "0123456789abcdef0123456789abcdef01234567"
ONE = LineRange(start=3, end=3)
TWO = LineRange(start=3, end=7)

GITHUB = "https://github.com/o/r"
GITLAB = "https://gitlab.com/g/sub/r"
BITBUCKET = "https://bitbucket.org/o/r"
CODEBERG = "https://codeberg.org/o/r"
SOURCEHUT = "https://git.sr.ht/~o/r"
AZURE = "https://dev.azure.com/o/p/_git/r"


@pytest.mark.parametrize(
    ("repository", "file", "one", "two", "directory", "root", "commit"),
    [
        (
            GITHUB,
            f"{GITHUB}/blob/{SHA}/src/a.py",
            "#L3",
            "#L3-L7",
            f"{GITHUB}/tree/{SHA}/src",
            f"{GITHUB}/tree/{SHA}",
            f"{GITHUB}/commit/{SHA}",
        ),
        (
            GITLAB,
            f"{GITLAB}/-/blob/{SHA}/src/a.py",
            "#L3",
            "#L3-7",
            f"{GITLAB}/-/tree/{SHA}/src",
            f"{GITLAB}/-/tree/{SHA}",
            f"{GITLAB}/-/commit/{SHA}",
        ),
        (
            BITBUCKET,
            f"{BITBUCKET}/src/{SHA}/src/a.py",
            "#lines-3",
            "#lines-3:7",
            f"{BITBUCKET}/src/{SHA}/src/",
            f"{BITBUCKET}/src/{SHA}/",
            f"{BITBUCKET}/commits/{SHA}",
        ),
        (
            CODEBERG,
            f"{CODEBERG}/src/commit/{SHA}/src/a.py",
            "#L3",
            "#L3-L7",
            f"{CODEBERG}/src/commit/{SHA}/src",
            f"{CODEBERG}/src/commit/{SHA}",
            f"{CODEBERG}/commit/{SHA}",
        ),
        (
            SOURCEHUT,
            f"{SOURCEHUT}/tree/{SHA}/item/src/a.py",
            "#L3",
            "#L3-7",
            f"{SOURCEHUT}/tree/{SHA}/item/src",
            f"{SOURCEHUT}/tree/{SHA}",
            f"{SOURCEHUT}/commit/{SHA}",
        ),
        (
            AZURE,
            f"{AZURE}?path=/src/a.py&version=GC{SHA}",
            "&line=3&lineEnd=4&lineStartColumn=1&lineEndColumn=1",
            "&line=3&lineEnd=8&lineStartColumn=1&lineEndColumn=1",
            f"{AZURE}?path=/src&version=GC{SHA}",
            f"{AZURE}?path=/&version=GC{SHA}",
            f"{AZURE}/commit/{SHA}",
        ),
    ],
)
def test_the_hosts(
    repository: str, file: str, one: str, two: str, directory: str, root: str, commit: str
) -> None:
    assert permalink(repository, SHA, "src/a.py", None) == file
    assert permalink(repository, SHA, "src/a.py", ONE) == file + one
    assert permalink(repository, SHA, "src/a.py", TWO) == file + two
    assert permalink(repository, SHA, "src", None, directory=True) == directory
    assert permalink(repository, SHA, "src/", TWO, directory=True) == directory
    assert permalink(repository, SHA, "", None) == root
    assert commit_url(repository, SHA) == commit
    assert repository_url(repository) == repository


@pytest.mark.parametrize(
    ("repository", "page"),
    [
        ("https://github.com/o/r/", GITHUB),
        ("https://github.com/o/r.git", GITHUB),
        ("https://github.com/o/r.git/", GITHUB),
        ("HTTPS://GitHub.com/o/r", GITHUB),
        ("https://user@github.com/o/r", GITHUB),
        ("git@github.com:o/r.git", GITHUB),
        ("github.com:o/r.git", GITHUB),
        ("git@github.com:/o/r", GITHUB),
        ("ssh://git@github.com/o/r.git", GITHUB),
        ("ssh://git@ssh.github.com:443/o/r.git", GITHUB),
        ("git@gitlab.com:g/sub/r.git", GITLAB),
        ("ssh://git@altssh.gitlab.com:443/g/sub/r.git", GITLAB),
        ("https://gitlab.example.org/g/r", "https://gitlab.example.org/g/r"),
        ("ssh://git@gitlab.example.org:2222/g/r.git", "https://gitlab.example.org/g/r"),
        ("https://gitlab.example.org:8443/g/r", "https://gitlab.example.org:8443/g/r"),
        ("http://my-gitlab.lan/g/r", "http://my-gitlab.lan/g/r"),
        ("https://github.example.com/o/r", "https://github.example.com/o/r"),
        ("git@bitbucket.org:o/r.git", BITBUCKET),
        ("ssh://git@altssh.bitbucket.org:443/o/r.git", BITBUCKET),
        ("https://gitea.example.org/o/r", "https://gitea.example.org/o/r"),
        ("https://code.forgejo.org/o/r", "https://code.forgejo.org/o/r"),
        ("git@git.sr.ht:~o/r", SOURCEHUT),
        ("https://o@dev.azure.com/o/p/_git/r", AZURE),
        ("git@ssh.dev.azure.com:v3/o/p/r", AZURE),
        ("ssh://o@vs-ssh.visualstudio.com/v3/o/p/r", AZURE),
        ("https://o.visualstudio.com/p/_git/r", "https://o.visualstudio.com/p/_git/r"),
        ("https://dev.azure.com/o/my%20p/_git/r", "https://dev.azure.com/o/my%20p/_git/r"),
        ("https://github.com/o/r%20s", "https://github.com/o/r%20s"),
    ],
)
def test_forms_of_a_repository(repository: str, page: str) -> None:
    assert repository_error(repository) is None
    assert repository_url(repository) == page
    link = permalink(repository, SHA, "a.py", ONE)
    assert link is not None
    assert link.startswith(page + ("?" if "_git" in page else "/"))
    assert link == permalink(page, SHA, "a.py", ONE)
    assert commit_url(repository, SHA) == commit_url(page, SHA)


@pytest.mark.parametrize(
    "repository",
    [
        "https://example.org/o/r",
        "git@example.org:o/r",
        "https://bitbucket.example.org/scm/o/r.git",
        "https://gist.github.com/o/r",
        "file:///srv/github.com/o/r",
        "https://github.com/o",
        "https://github.com/",
        "https://dev.azure.com/o/p/r",
        "git@ssh.dev.azure.com:o/p/r",
    ],
)
def test_hosts_that_are_not_known(repository: str) -> None:
    assert permalink(repository, SHA, "a.py", ONE) is None
    assert commit_url(repository, SHA) is None
    template = "https://code.example/{commit}/{path}"
    assert permalink(repository, SHA, "a.py", ONE, template) == f"https://code.example/{SHA}/a.py"


def test_the_page_of_an_unknown_host() -> None:
    assert repository_url("https://user@example.org/o/r.git") == "https://example.org/o/r"
    assert repository_url("git@example.org:o/r") is None
    assert repository_url("file:///srv/r") is None


@pytest.mark.parametrize(
    "repository",
    [
        "",
        "-x",
        "--upload-pack=x",
        "../jotter",
        "/srv/jotter",
        "C:/jotter",
        "javascript:alert(1)",
        "javascript://github.com/o/r",
        "data:text/html,x",
        "ftp://github.com/o/r",
        "ext::sh",
        "https://",
        "https:///o/r",
        "https:github.com/o/r",
        "https://github.com:x/o/r",
        "https://github.com/o/r?x=1",
        "https://github.com/o/r#x",
        "https://github.com/o/../r",
        "https://github.com/o/%2e%2e/r",
        "https://github.com/o//r",
        "https://[::1/o/r",
        "https://git hub.com/o/r",
        "https://github.com/o/r\n",
        'https://github.com/o/"r',
        "https://github.com/o/<r",
        "https://github.com/o/r\u202e",
        "https://g\u0456thub.com/o/r",
        "ssh://-oProxyCommand=x/o/r",
        "ssh://-x@github.com/o/r",
        "git@-host.org:o/r",
        "git@github.com:-x",
        "-git@github.com:o/r",
        "https://user:secret@github.com/o/r",
    ],
)
def test_what_is_no_repository(repository: str) -> None:
    assert repository_error(repository) is not None
    if "secret" not in repository:
        assert permalink(repository, SHA, "a.py", ONE) is None
        assert repository_url(repository) is None


def test_credentials_never_come_out() -> None:
    repository = "https://user:secret@github.com/o/r"
    for link in (permalink(repository, SHA, "a", ONE), commit_url(repository, SHA)):
        assert link is not None
        assert "secret" not in link
    assert "password" in (repository_error(repository) or "")


@pytest.mark.parametrize(
    ("path", "encoded"),
    [
        ("a b.py", "a%20b.py"),
        ("a#b?c%d.py", "a%23b%3Fc%25d.py"),
        ("a'\"<b>&c.py", "a%27%22%3Cb%3E%26c.py"),
        ("é/日本.py", "%C3%A9/%E6%97%A5%E6%9C%AC.py"),
        ("a\\b\n.py", "a%5Cb%0A.py"),
        ("a\udce9.py", "a%E9.py"),
        ("a\ud800.py", "a%3F.py"),
        ("{commit}.py", "%7Bcommit%7D.py"),
        (".github/..x/a..b", ".github/..x/a..b"),
    ],
)
def test_paths_are_encoded(path: str, encoded: str) -> None:
    assert permalink(GITHUB, SHA, path, None) == f"{GITHUB}/blob/{SHA}/{encoded}"
    assert permalink(AZURE, SHA, path, None) == f"{AZURE}?path=/{encoded}&version=GC{SHA}"
    template = "https://h/?p={path}"
    assert permalink(GITHUB, SHA, path, None, template) == f"https://h/?p={encoded}"


@pytest.mark.parametrize("path", ["..", "../x", "a/../b", "a/./b", "."])
def test_paths_that_browsers_would_change(path: str) -> None:
    assert permalink(GITHUB, SHA, path, None) is None
    assert permalink(GITHUB, SHA, path, None, "https://h/{path}") is None


@pytest.mark.parametrize("path", ["README.md", "docs/a.RST", "n.ipynb"])
def test_rendered_files_are_asked_for_as_source(path: str) -> None:
    assert permalink(GITHUB, SHA, path, TWO) == f"{GITHUB}/blob/{SHA}/{path}?plain=1#L3-L7"
    assert permalink(GITLAB, SHA, path, TWO) == f"{GITLAB}/-/blob/{SHA}/{path}?plain=1#L3-7"
    source = f"{CODEBERG}/src/commit/{SHA}/{path}?display=source#L3-L7"
    assert permalink(CODEBERG, SHA, path, TWO) == source
    assert permalink(GITHUB, SHA, path, None) == f"{GITHUB}/blob/{SHA}/{path}"


@pytest.mark.parametrize(
    ("template", "with_lines", "without"),
    [
        ("https://h/{commit}/{path}#L{start}-{end}", f"https://h/{SHA}/a.py#L3-7", f"/{SHA}/a.py"),
        ("http://h:80/x/{path}?v=1&l={start}", "http://h:80/x/a.py?v=1&l=3", "/a.py?v=1"),
        ("https://h/{path}?l={start}&e={end}", "https://h/a.py?l=3&e=7", "https://h/a.py"),
        ("https://h/{path}#top", "https://h/a.py#top", "https://h/a.py#top"),
        ("https://h/?p={path}&v=%20{commit}", f"https://h/?p=a.py&v=%20{SHA}", f"%20{SHA}"),
    ],
)
def test_a_template(template: str, with_lines: str, without: str) -> None:
    assert template_error(template) is None
    assert permalink(GITHUB, SHA, "a.py", TWO, template) == with_lines
    whole = permalink(GITHUB, SHA, "a.py", None, template)
    assert whole is not None
    assert whole.endswith(without)
    assert "{" not in whole


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("", "https://"),
        ("/x/{path}", "https://"),
        ("//h/{path}", "https://"),
        ("javascript:{path}", "https://"),
        ("ftp://h/{path}", "https://"),
        ("https://h/x", "{path}"),
        ("https://h/{ref}/{path}", "{ref}"),
        ("https://h/{}/{path}", "{}"),
        ("https://h/{path!r}", "{path!r}"),
        ("https://{path}/x", "host"),
        ("https://{commit}.h/{path}", "host"),
        ("https://h/{path}/{start}", "{start}"),
        ("https://h/{{path}}", "not a URL"),
        ("https://h/{path}/}", "not a URL"),
        ("https://h/a b/{path}", "not a URL"),
        ('https://h/"{path}', "not a URL"),
        ("https://h/<{path}", "not a URL"),
        ("https://h/'{path}", "not a URL"),
        ("https://h/é/{path}", "not a URL"),
        ("https://h/{path}\n", "not a URL"),
        ("https://user@h/{path}", "not a URL"),
        ("https:///{path}", "not a URL"),
    ],
)
def test_a_wrong_template(template: str, words: str) -> None:
    assert words in (template_error(template) or "")
    assert permalink(GITHUB, SHA, "a.py", TWO, template) is None


REPOSITORIES = (
    st.sampled_from([GITHUB, GITLAB, BITBUCKET, CODEBERG, SOURCEHUT, AZURE, "git@github.com:o/r"])
    | st.text(max_size=20).map(lambda text: f"https://github.com/{text}")
    | st.text(max_size=20).map(lambda text: f"git@{text}:gitlab/x")
    | st.text(max_size=20).map(lambda text: f"https://{text}github.com/o/r")
    | st.text()
)
TEMPLATES = (
    st.none()
    | st.text()
    | st.lists(
        st.sampled_from(["{path}", "{commit}", "{start}", "{end}", "/", "?", "#", "&", "a"])
        | st.text(max_size=2),
        max_size=8,
    ).map(lambda parts: "https://h/" + "".join(parts))
)
ANYTHING = st.text(st.characters(), max_size=20)


@given(
    repository=REPOSITORIES,
    commit=ANYTHING | st.just(SHA),
    path=ANYTHING,
    lines=st.sampled_from([None, ONE, TWO]),
    template=TEMPLATES,
    directory=st.booleans(),
)
@settings(max_examples=500, deadline=None)
def test_links_are_plain_urls(
    repository: str,
    commit: str,
    path: str,
    lines: LineRange | None,
    template: str | None,
    directory: bool,
) -> None:
    for link in (
        permalink(repository, commit, path, lines, template, directory),
        commit_url(repository, commit),
        repository_url(repository),
    ):
        assert link is None or re.fullmatch(r"https?://[^\s\"'<>`\\^{}|\x00-\x20\x7f]+", link)
        assert link is None or link.isascii()


@pytest.mark.parametrize(
    ("url", "repository"),
    [
        ("https://github.com/o/n/tree/main", "o/n"),
        ("https://github.com/o/n/blob/main/README.md", "o/n"),
        ("https://github.example.com/o/n/pull/3", "o/n"),
        ("https://gitlab.com/o/n/-/tree/main", "o/n"),
        ("https://bitbucket.org/o/n/src/main/", "o/n"),
        ("https://codeberg.org/o/n/src/branch/main", "o/n"),
        ("https://git.sr.ht/~o/n/tree", "~o/n"),
    ],
)
def test_the_address_of_a_page_is_no_repository(url: str, repository: str) -> None:
    assert repository_error(url) == f"is that of a page of {repository}"


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/tree/blob",
        "https://gitlab.com/group/sub/tree",
        "https://gitlab.com/group/src/blob/name",
        "https://git.example.org/some/tree/name",
        "https://dev.azure.com/o/p/_git/src",
    ],
)
def test_a_repository_may_be_called_like_a_page(url: str) -> None:
    assert repository_error(url) is None
