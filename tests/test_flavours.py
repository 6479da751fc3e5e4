"""`pgdocs add`: folders of MkDocs, Terraform and plain pages become pages like a manual's, and nothing else is read."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from added import add, cleaned, page, pages, put
from test_mdx import MDX

from pgdocs.errors import BadQuery
from pgdocs.pages import split_sections
from pgdocs.scrape.flavours import FLAVOURS
from pgdocs.scrape.folder import MAX_DEPTH, Folder
from pgdocs.search.context import context
from pgdocs.search.index import DocumentSearchIndex

# --- MkDocs -------------------------------------------------------------------------------------------------

MKDOCS = {
    "docs/en/mkdocs.yml": "site_name: Teahouse\nsite_url: https://teahouse.example/\n",
    "docs_src/brew.py": (
        "from teahouse import Pot\n\n# --8<-- [start:pour]\npot = Pot()\n# --8<-- [end:pour]\npot.pour()\n"
    ),
    "docs/en/docs/index.md": "# Teahouse\n\nBrews. See [the first steps](tutorial/first-steps.md#run-it).\n",
    "docs/en/docs/release-notes.md": "# Release notes\n\n## 0.2\n\nMore tea.\n",
    "docs/en/docs/_llm-test.md": "# A part\n",
    "docs/en/docs/tutorial/index.md": "# Tutorial\n\nStart here.\n",
    "docs/en/docs/parts/warm.md": 'Warm the pot.\n\n--8<-- "docs_src/brew.py:pour"\n',
    "docs/en/docs/tutorial/first-steps.md": """---
title: unused
---
# First Steps { #first-steps }

The simplest file:

{* ../../docs_src/brew.py ln[1:1] hl[1] *}

!!! warning "Hot: mind it"
    Never `pour()` **before**:

    ```python
    if x < 3:
        wait()
    ```

    it is warm.

??? note
    A hidden one.

=== "Python 3.12"

    ```python
    x: int | None = None
    ```

=== "Older"

    Use `Optional`.

/// tip | Also good

Add <abbr title="a leaf">tea</abbr> with <kbd>Enter</kbd>.

//// tab | Inner

Inner text.

////

///

## Run it { #run-it }

<div class="termy">

```console
$ <font color="#4E9A06">teahouse</font> run
```

</div>

--8<-- "parts/warm.md"

## Recap

A list:

* item

    ```yaml
    a: 1
    ```

Vec<T> and a [link](index.md){target=_blank} :material-check: stay. <!-- not this -->

## Recap

*[TEA]: a drink
::: teahouse.Pot
    options:
      show: true
""",
}


@pytest.fixture
def teahouse(tmp_path: Path) -> Path:
    """A MkDocs site in a repository: pages in one folder, the code that they include in another."""
    docs = tmp_path / "out"
    assert add(docs, "teahouse", put(tmp_path / "repo", MKDOCS), "--subdir=docs/en/docs") == 0
    return docs


def test_mkdocs_pages_get_names_addresses_and_a_path(teahouse: Path) -> None:
    """As on their site; release notes and parts of pages are no pages."""
    assert pages(teahouse) == [
        "teahouse__index",
        "teahouse__parts__warm",
        "teahouse__tutorial",
        "teahouse__tutorial__first-steps",
    ]
    first = page(teahouse, "teahouse__tutorial__first-steps")
    assert (first.title, first.anchor, first.kind) == ("First Steps", "first-steps", "tutorial")
    assert first.url == "https://teahouse.example/tutorial/first-steps/"
    assert first.path == ("Teahouse", "Tutorial")
    assert "(https://teahouse.example/tutorial/first-steps/#run-it)" in page(teahouse, "teahouse__index").body


def test_mkdocs_includes_are_part_of_the_page(teahouse: Path) -> None:
    """Code files, pages with includes of their own, and a marked part of a file."""
    body = page(teahouse, "teahouse__tutorial__first-steps").body
    assert "```python\nfrom teahouse import Pot\n```" in body
    assert "Warm the pot.\n\npot = Pot()" in body
    assert "8<" not in body
    assert "pot.pour()" not in body


def test_mkdocs_admonitions_and_tabs_become_markdown(teahouse: Path) -> None:
    """A quotation with its title; a tab's name above what it shows; fences stay fences, to the letter."""
    body = page(teahouse, "teahouse__tutorial__first-steps").body
    assert "> **Hot: mind it:** Never `pour()` **before**:" in body
    assert "```python\nif x < 3:\n    wait()\n```" in body
    assert "> it is warm." in body
    assert "> **Note:** A hidden one." in body
    assert "**Python 3.12**\n\n```python\nx: int | None = None\n```" in body
    assert "**Older**\n\nUse `Optional`." in body
    assert "> **Also good:** Add tea with Enter." in body
    assert "> **Inner**" in body
    assert not any(
        mark in body for mark in ("!!!", "???", "===", "///", "<div", "<abbr", ":material", "not this", "*[TEA]")
    )


def test_mkdocs_code_and_text_stay_as_they_are(teahouse: Path) -> None:
    """What looks like a tag in code or in prose, lists and their code."""
    body = page(teahouse, "teahouse__tutorial__first-steps").body
    assert "```console\n$ teahouse run\n```" in body  # its site shows this one as HTML
    assert "Vec<T> and a [link](https://teahouse.example/tutorial/)" in body
    assert "\n```yaml\na: 1\n```" in body
    assert "`teahouse.Pot`" in body
    assert "show: true" not in body


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("```{ .dockerfile .annotate hl_lines='2' }\nFROM tea\n```", "```dockerfile\nFROM tea\n```"),
        ("```console\n$ echo '<b>&lt;</b>'\n```", "```console\n$ echo '<b>&lt;</b>'\n```"),
        ("Use `#!python pour()`, not `#!/bin/sh`.", "Use `pour()`, not `#!/bin/sh`."),
        ('!!! tip "Mind **it**"\n    Hot.', "> **Mind it:** Hot."),
        ("## Pot { #pot }\n\nHot.", "## Pot {#pot}\n\nHot."),
    ],
)
def test_what_mkdocs_writes_beside_markdown(text: str, becomes: str) -> None:
    """One construct each."""
    assert cleaned(text, "mkdocs") == becomes


def test_the_configuration_beside_a_folder_tells_what_it_is(tmp_path: Path) -> None:
    """`pgdocs add handbook handbook/docs`: mkdocs.yml lies above it, and is all that is read there."""
    put(tmp_path, {"h/mkdocs.yml": "site_name: House\n", "h/a.py": "secret = 1\n"})
    put(tmp_path, {"h/docs/a.md": "# A\n\n!!! note\n    Hot.\n\n{* ../a.py *}\n"})
    assert add(tmp_path / "docs", "h", tmp_path / "h" / "docs") == 0
    written = page(tmp_path / "docs", "h__a")
    assert (written.path, written.body.strip()) == (("House",), "> **Note:** Hot.")


@pytest.mark.parametrize(
    ("told", "label"),
    [
        ("", "h"),
        ("docs_dir: docs\n", "h"),
        ("docs_dir: /\n", "h"),
        ("docs_dir: pages\n", "House"),
        ("docs_dir: './pages/'  # not docs\n", "House"),
    ],
)
def test_a_configuration_above_is_another_projects_unless_it_names_the_folder(
    tmp_path: Path, told: str, label: str
) -> None:
    """`pgdocs add x /tmp/pages`: what somebody puts into /tmp decides neither the label nor the address to cite."""
    put(tmp_path, {"mkdocs.yml": f"site_name: House\nsite_url: https://house.example\n{told}", "pages/a.md": "# A\n"})
    assert add(tmp_path / "out", "h", tmp_path / "pages") == 0
    written = page(tmp_path / "out", "h__a")
    assert (written.path, written.url) == ((label,), "https://house.example/a/" if label == "House" else "")


def test_every_heading_can_be_linked_to(teahouse: Path) -> None:
    """By the id that the page gives it, else by the one that site generators make; twice the same title, two ids."""
    found = [section.anchor for section in split_sections(page(teahouse, "teahouse__tutorial__first-steps"))]
    assert found == ["first-steps", "run-it", "recap", "recap-1"]


# --- Terraform ----------------------------------------------------------------------------------------------

TERRAFORM = {
    "website/docs/r/cup.html.markdown": """---
subcategory: "Pottery"
layout: "tea"
page_title: "Tea: tea_cup"
description: |-
  Provides a cup.
---

# Resource: tea_cup

Provides a cup.

-> **Note:** Wash it first,
and dry it.

~> **WARNING** It breaks.

## Argument Reference

* `size` - (Required) The size. See [pot](../d/pot.html.markdown).
""",
    "website/docs/d/cup.html.markdown": "---\nsubcategory: Pottery\n---\n# Data Source: tea_cup\n\nReads a cup.\n",
    "website/docs/d/pot.html.markdown": "# Data Source: tea\\_pot\n\nReads a pot.\n",
    "website/docs/guides/washing.html.md": "---\npage_title: Washing up\n---\nHow to wash a cup.\n",
    "website/docs/functions/fill.md": "# Function: fill\n\nFills a cup.\n",
    "website/docs/cdktf/python/r/cup.html.markdown": "# The same again\n",
    "website/docs/index.html.markdown": "# Tea Provider\n\nManages cups.\n",
    "website/docs/CHANGELOG.md": "# 1.0\n\ncup\n",
    "website/docs/CONTRIBUTING.md": "# Contributing\n\ncup\n",
}
REGISTRY = "https://registry.example/docs/{path}"


@pytest.fixture
def tea(tmp_path: Path) -> Path:
    docs, folder = tmp_path / "out", put(tmp_path / "repo", TERRAFORM)
    assert add(docs, "tea", folder, "--subdir=website/docs", "--label=Terraform Tea 1.0", f"--url={REGISTRY}") == 0
    return docs


def test_terraform_pages_have_kinds_and_subcategories(tea: Path) -> None:
    """What the registry calls them; changelog, contributing and the other languages' copies are left out."""
    assert {name: page(tea, name).kind for name in pages(tea)} == {
        "tea__data-sources__cup": "datasource",
        "tea__data-sources__pot": "datasource",
        "tea__functions__fill": "function",
        "tea__guides__washing": "guide",
        "tea__index": "guide",
        "tea__resources__cup": "resource",
    }
    cup = page(tea, "tea__resources__cup")
    assert cup.path == ("Terraform Tea 1.0", "Resources", "Pottery")
    assert cup.url == "https://registry.example/docs/resources/cup"
    assert (cup.title, page(tea, "tea__data-sources__pot").title) == ("Resource: tea_cup", "Data Source: tea_pot")
    assert page(tea, "tea__guides__washing").title == "Washing up"


def test_terraform_notes_and_links(tea: Path) -> None:
    """Its arrows are notes; links between pages lead to the registry; the front matter is not text."""
    body = page(tea, "tea__resources__cup").body
    assert "> **Note:** Wash it first,\n> and dry it." in body
    assert "> **Warning:** It breaks." in body
    assert "[pot](https://registry.example/docs/data-sources/pot)" in body
    assert "subcategory" not in body


def test_what_was_added_is_searched_beside_the_manuals(tea: Path) -> None:
    """As one more source, by name, by URL and by its words; the search names no manual."""
    shutil.copytree(Path(__file__).parent / "fixtures" / "docs", tea, dirs_exist_ok=True)
    index = DocumentSearchIndex(tea)
    assert "Terraform Tea 1.0" in {source.label for source in index.sources()}
    assert index.search("tea_cup", source="tea")[0].title in ("Resource: tea_cup", "Data Source: tea_cup")
    assert index.search("how do I wash a cup")[0].doc_name == "tea__guides__washing"
    assert index.page("tea/resources/cup").title == "Resource: tea_cup"
    assert index.page("https://registry.example/docs/data-sources/cup#x").title == "Data Source: tea_cup"


def test_a_kind_of_page_is_asked_for(tea: Path) -> None:
    """The resource and the data source of one name are told apart; an unknown kind is refused with those that are."""
    index = DocumentSearchIndex(tea)
    for kind, folder in {"resource": "resources", "datasource": "data-sources"}.items():
        assert {result.kind for result in index.search("tea_cup", kind=kind)} == {kind}
        assert REGISTRY.format(path=f"{folder}/cup") in context(index, "what is tea_cup", kind=kind).text
    with pytest.raises(BadQuery, match="use one of datasource, function, guide, resource or all"):
        index.search("cup", kind="chapter")


# --- plain markdown -----------------------------------------------------------------------------------------


def test_a_plain_folder_needs_nothing(tmp_path: Path) -> None:
    """No configuration, no addresses: titles from headings or names, GitHub's notes as quotations."""
    files = {"a.md": "Just text.\n", "b/c.md": "# See\n\n> [!TIP]\n> Try it.\n\n# More\n\nText.\n"}
    assert add(tmp_path / "out", "notes", put(tmp_path / "in", files)) == 0
    assert page(tmp_path / "out", "notes__a").title == "a"
    see = page(tmp_path / "out", "notes__b__c")
    assert (see.title, see.url, see.path) == ("See", "", ("notes", "B"))
    assert "> **Tip:** Try it." in see.body
    assert "## More {#more}" in see.body


@pytest.mark.parametrize("flavour", sorted(FLAVOURS))
def test_cleaning_twice_changes_nothing(flavour: str) -> None:
    """No rule eats what another one made."""
    for text in (*MKDOCS.values(), *MDX.values(), *TERRAFORM.values()):
        once = cleaned(text, flavour)
        assert cleaned(once, flavour) == once


@pytest.mark.parametrize("flavour", sorted(FLAVOURS))
def test_odd_pages_are_survived(flavour: str) -> None:
    """Whatever ends too early or not at all: a page, not an error, and in no time."""
    begun = [
        "",
        "\n",
        "---\n",
        "```",
        "!!! note",
        "/// tip",
        ":::",
        "::: a",
        "<",
        "<A",
        "{",
        "import x from",
        '=== "',
        "\0",
    ]
    endless = ["<A " * 3000, "{" * 3000, "`" * 999, "<a href='" * 999, "-> " * 999, "> [!NOTE]\n" * 999, "<A a={" * 999]
    for text in begun + endless:
        cleaned(text, flavour)


# --- staying inside -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["../secret.py", "../../secret.py", "/secret.py", "{outside}", "link.py", "linked/secret.py", "x" * 5000, "a\0b"],
)
def test_includes_never_leave_the_folder(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither `..`, nor absolute paths, nor links lead to somebody's keys; the page says nothing of them."""
    put(tmp_path, {"secret.py": "KEY = 1\n", "in/mkdocs.yml": ""})
    (tmp_path / "in" / "link.py").symlink_to(tmp_path / "secret.py")
    (tmp_path / "in" / "linked").symlink_to(tmp_path)
    name = name.replace("{outside}", str(tmp_path / "secret.py"))
    put(tmp_path / "in", {"a.md": f'# A\n\n{{* {name} *}}\n\n--8<-- "{name}"\n\n{{! {name} !}}\n\nThe rest.\n'})
    assert add(tmp_path / "out", "a", tmp_path / "in") == 0
    assert page(tmp_path / "out", "a__a").body == "The rest."
    assert "a.md: " in capsys.readouterr().err


def test_pages_that_are_links_to_elsewhere_are_no_pages(tmp_path: Path) -> None:
    """A link in a repository may point anywhere on this machine."""
    put(tmp_path, {"secret.md": "# Keys\n", "in/a.md": "# A\n", "elsewhere/b.md": "# B\n"})
    (tmp_path / "in" / "c.md").symlink_to(tmp_path / "secret.md")
    (tmp_path / "in" / "d").symlink_to(tmp_path / "elsewhere")
    assert add(tmp_path / "out", "a", tmp_path / "in") == 0
    assert pages(tmp_path / "out") == ["a__a"]


def test_names_with_blanks_and_capitals_are_pages_with_addresses(tmp_path: Path) -> None:
    """An address with a blank in it ends there for everyone who follows it."""
    put(tmp_path, {"h/First Pot.MD": "# First\n", "h/Ä.md": "# A\n"})
    assert add(tmp_path / "docs", "h", tmp_path / "h", "--url=https://teahouse.example/{path}/") == 0
    urls = {page(tmp_path / "docs", name).url for name in pages(tmp_path / "docs")}
    assert urls == {"https://teahouse.example/First%20Pot/", "https://teahouse.example/%C3%84/"}


def test_a_page_that_git_lfs_keeps_is_told_not_indexed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Three lines of hashes would answer nobody."""
    put(tmp_path, {"h/a.md": "# A\n", "h/b.md": "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"})
    assert add(tmp_path / "docs", "h", tmp_path / "h") == 0
    assert pages(tmp_path / "docs") == ["h__a"]
    assert "b.md: is kept in Git LFS" in capsys.readouterr().err


def test_the_subdir_never_leaves_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--subdir ..` would index what nobody named."""
    put(tmp_path, {"in/a.md": "# A\n", "b.md": "# B\n"})
    assert add(tmp_path / "out", "a", tmp_path / "in", "--subdir=..") == 1
    assert "There is no folder .." in capsys.readouterr().err


def test_includes_end(tmp_path: Path) -> None:
    """A page that includes itself, or twice one that includes twice another, ends at a depth and a size."""
    bomb = {f"_{n}.md": f'--8<-- "_{n + 1}.md"\n' * 20 + "x" * 2000 for n in range(MAX_DEPTH)}
    start = {"bomb.md": '# Bomb\n\n--8<-- "_0.md"\n', "loop.md": '# Loop\n\n--8<-- "loop.md"\n\nEnd.\n'}
    files = {"mkdocs.yml": "", **start, **bomb}
    root = put(tmp_path / "in", files)
    folder = Folder("a", root, root, "mkdocs", "A")
    found = {page.title: page for page in folder.read()}
    assert found["Loop"].body.count("End.") == MAX_DEPTH + 1
    assert len(found["Bomb"].body) < 1_000_000
    assert folder.problems


# --- git ----------------------------------------------------------------------------------------------------


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a MkDocs site, tagged 1.0."""
    if not shutil.which("git"):
        pytest.skip("git is not here")
    folder = put(tmp_path / "origin", {**MKDOCS, "src/large.bin": "x" * 1000})
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for arguments in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "x"], ["tag", "1.0"]):
        subprocess.run(["git", *arguments], cwd=folder, env=env, check=True)
    return folder


def test_a_repository_is_fetched_in_part(repository: Path, tmp_path: Path) -> None:
    """One version of two folders; what it was made from stands in the manifest."""
    docs = tmp_path / "out"
    where = ["--git", repository.as_uri(), "--subdir=docs/en/docs", "--also=docs_src"]
    assert add(docs, "teahouse", *where, "--ref=1.0") == 0
    assert "from teahouse import Pot" in page(docs, "teahouse__tutorial__first-steps").body
    told = json.loads((docs / ".manifest.json").read_text(encoding="utf-8"))["teahouse"]
    assert (told["version"], told["from"], told["pages"]) == ("1.0", repository.as_uri(), 4)


def test_a_repository_that_can_not_be_had_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence with git's own words; an address is never an option or a command to git."""
    for url in ((tmp_path / "nowhere").as_uri(), "--upload-pack=touch x", "ext::sh -c true"):
        assert add(tmp_path / "out", "a", f"--git={url}", "--subdir=x") == 1
        assert "git clone failed (" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


# --- again and wrong ----------------------------------------------------------------------------------------


def test_adding_again_brings_the_pages_up_to_date(tmp_path: Path) -> None:
    """New pages come, gone ones go, other sources and unchanged pages stay."""
    root, docs = put(tmp_path / "in", {"a.md": "# A\n", "b.md": "# B\n"}), tmp_path / "out"
    put(docs, {"pg__x.md": "# X\n"})
    add(docs, "notes", root)
    before = (docs / "notes__a.md").stat().st_mtime_ns
    (root / "b.md").rename(root / "c.md")
    add(docs, "notes", root)
    assert pages(docs) == ["notes__a", "notes__c", "pg__x"]
    assert (docs / "notes__a.md").stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["Big Name", "."], "use up to 30 small letters"),
        (["pg", "."], "is a manual's name"),
        (["postgis3.4", "."], "pgdocs scrape --add postgis3.4"),
        (["a", "nowhere"], "there is no folder nowhere"),
        (["a"], "name a FOLDER or a repository"),
        (["a", ".", "--flavour=rst"], "invalid choice"),
        (["a", ".", "--ref=v1"], "--ref and --also are for a repository"),
    ],
)
def test_wrong_usage_is_told(
    arguments: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2 and what to do instead."""
    with pytest.raises(SystemExit) as exit_:
        add(tmp_path / "out", *arguments)
    assert exit_.value.code == 2
    assert says in capsys.readouterr().err


def test_a_folder_without_pages_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was there before stays, and the sentence says what to name."""
    docs = put(tmp_path / "out", {"notes__a.md": "# A\n"})
    (tmp_path / "in").mkdir()
    assert add(docs, "notes", tmp_path / "in") == 1
    assert "name the folder that holds the pages with --subdir" in capsys.readouterr().err
    assert pages(docs) == ["notes__a"]
    put(tmp_path / "in", {"a.md": "# A\n"})
    assert add(docs, "notes", tmp_path / "in", "--url=https://example.org/") == 1
    assert "{path}" in capsys.readouterr().err
