"""The documentation site: code blocks are code blocks, and the search works from disk without a network."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from tests.tools.browser import Browser, until

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    """The hook of the site, docs/hooks.py."""
    spec = importlib.util.spec_from_file_location("docs_hooks", ROOT / "docs" / "hooks.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site."""
    pytest.importorskip("mkdocs", reason="MkDocs is not installed (extra docs)")
    folder = tmp_path_factory.mktemp("docs") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    return folder


def test_each_fence_of_a_page_has_one_word(hooks: ModuleType) -> None:
    """A second word tells the tests how to run a block; the builder would take its fence for text."""
    marked = 0
    for path in sorted((ROOT / "docs").rglob("*.md")):
        page = path.read_text(encoding="utf-8")
        marked += len(re.findall(r"^ *```\w+ +\S", page, re.MULTILINE))
        built = hooks.on_page_markdown(re.sub("<!-- help: .*", "", page))
        assert not re.search(r"^ *```\w+ +\S", built, re.MULTILINE), path
        assert built.count("```") == re.sub("<!-- help: .*", "", page).count("```")
    assert marked > 20
    assert hooks.on_page_markdown("```bash needs-wmt\nx\n```\n") == "```bash\nx\n```\n"


def test_the_navigation_has_six_entries_and_every_page() -> None:
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    assert len(nav) == 6
    listed = [page for entry in nav for pages in entry.values() for page in pages]
    docs = ROOT / "docs"
    assert sorted(listed) == sorted(path.relative_to(docs).as_posix() for path in docs.rglob("*.md"))
    assert "![" in (docs / "index.md").read_text(encoding="utf-8")


def test_a_page_with_an_open_fence_is_refused(hooks: ModuleType) -> None:
    good = "<p>Text</p><code>x</code>"
    assert hooks.on_page_content(good) == good
    for bad in ("<p><code>bash needs-wmt\nx</code></p>", "<p>```bash setup</p>"):
        with pytest.raises(ValueError, match="a fence was not read as one"):
            hooks.on_page_content(bad)


def test_no_built_page_shows_a_fence(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 40
    for path in pages:
        assert not re.search(r"```|<code>(bash|python) (needs|setup)", path.read_text(encoding="utf-8")), path


def test_nothing_is_fetched(site: Path) -> None:
    for path in sorted(site.rglob("*.html")):
        text = path.read_text(encoding="utf-8")
        fetched = re.findall(r"<(?:script|img|iframe)[^>]+src=\"?(https?:[^\"\s>]+)", text)
        fetched += re.findall(r"<link[^>]+rel=\"?(?:stylesheet|preload|icon)[^>]+href=\"?(https?:[^\"\s>]+)", text)
        assert fetched == [], path


@pytest.mark.browser
@pytest.mark.parametrize("page", ["index.html", "verbs/score.html"])
def test_the_search_works_from_disk(browser: Browser, site: Path, page: str) -> None:
    browser.call("Emulation.setFocusEmulationEnabled", enabled=True)  # the theme starts its search at the focus
    browser.open(site / page)
    assert browser.run("getComputedStyle(document.querySelector('.md-search')).display") != "none"
    browser.run("document.querySelector('.md-search__input').focus()")
    until(lambda: browser.run("document.getElementById('__search').checked"))
    browser.run(
        "(() => { const q = document.querySelector('.md-search__input'); q.value = 'preference'; "
        "q.dispatchEvent(new KeyboardEvent('keyup', { bubbles: true })); })()"
    )
    links = "[...document.querySelectorAll('.md-search-result__link')].map((a) => a.href)"
    found = until(lambda: browser.run(links))
    assert all(link.startswith(site.as_uri()) for link in found)
    assert all(url.startswith(("file:", "blob:", "about:", "data:")) for url in browser.requests())
    assert browser.faults() == []
