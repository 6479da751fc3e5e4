"""`pgdocs add`: MDX pages become pages like a manual's, components and snippets as their text."""

from __future__ import annotations

from pathlib import Path

import pytest
from added import add, cleaned, page, pages, put

from pgdocs.pages import Page, scan_lines

MDX = {
    "contents/docs/_snippets/install.mdx": "import Key from './key.mdx'\n\nInstall with `{props.tool}`:\n\n<Key />\n",
    "contents/docs/_snippets/key.mdx": "---\ntitle: part\n---\nYour **key** goes here.\n",
    "contents/docs/setup.mdx": """---
title: Set up the kettle
sidebarTitle: no
---
import Install from './\\_snippets/install.mdx'
import { Callout, CalloutBox } from 'components'
import Tabs from "components/Tabs"
import TabItem from '@theme/TabItem'
import logo from './logo.png'

export const version = {
  a: 1,
}

Before {/* a comment */} you start: it costs {" "}nothing{version.a}.

<Install tool="npm" />

<CalloutBox icon="x" title="Beware" type={{ a: { b: 1 } }} onClick={() => go()}>
    Boiling water.
</CalloutBox>

<Tabs>
  <Tab title="Web">

    ```js
    import Kettle from 'kettle'
    const k = { a: `<Kettle />` }
    ```

  </Tab>
  <Tab title="iOS">Nothing yet.</Tab>
</Tabs>

:::note Small print
Applies to <b>all</b> kettles.
:::

Inline `<Tab title="x">` and `{braces}` stay.

## Next &amp; last {#next-steps}

1. Do this
   and go on

   ```bash
   kettle on
   ```
""",
}


@pytest.fixture
def kettle(tmp_path: Path) -> Page:
    docs = tmp_path / "out"
    folder = put(tmp_path / "repo", MDX)
    assert add(docs, "kettle", folder, "--subdir=contents/docs", "--url=https://kettle.example/docs/{path}") == 0
    assert pages(docs) == ["kettle__setup"]
    return page(docs, "kettle__setup")


def test_mdx_snippets_are_resolved_before_anything_is_cut(kettle: Page) -> None:
    """A snippet of a snippet, with the attributes of the tag that uses it; their front matter and imports vanish."""
    assert (kettle.title, kettle.url) == ("Set up the kettle", "https://kettle.example/docs/setup")
    assert "Install with `npm`:\n\nYour **key** goes here." in kettle.body
    assert not any(word in kettle.body for word in ("_snippets", "title: part", "from 'components'", "export const"))


def test_mdx_components_become_their_text(kettle: Page) -> None:
    """Titles and children stay, tags, expressions and comments go."""
    body = kettle.body
    assert "you start: it costs nothing." in " ".join(body.split()).replace("costs  ", "costs ")
    assert "**Beware**\n\nBoiling water." in body
    assert "**iOS**\n\nNothing yet." in body
    assert "> **Small print:** Applies to **all** kettles." in body
    prose = "\n".join(line for line, fence in scan_lines(body) if not fence).replace('`<Tab title="x">`', "")
    assert "<" not in prose
    assert "onClick" not in prose


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        (
            '<CodeBlock language="js" title="a.js">\n  {`pour(\\`x\\`);\n\nlet y = {a: 1};`}\n</CodeBlock>',
            "**a.js**\n\n```js\npour(`x`);\n\nlet y = {a: 1};\n```",
        ),
        ("```jsx\n<CodeBlock>{`x`}</CodeBlock>\n```", "```jsx\n<CodeBlock>{`x`}</CodeBlock>\n```"),
        ("```mdx-code-block\n<Pot>\n\nHot.\n\n</Pot>\n```", "Hot."),
        ('<Tabs>\n<TabItem value="green">\n\nLeaves.\n\n</TabItem>\n</Tabs>', "**green**\n\nLeaves."),
        (
            "<Tab.Group tabs={['A', 'B']}>\n<Tab.List>\n<Tab>A</Tab>\n<Tab>B</Tab>\n</Tab.List>\n<Tab.Panels>\n"
            "<Tab.Panel>\none\n</Tab.Panel>\n<Tab.Panel>\ntwo\n</Tab.Panel>\n</Tab.Panels>\n</Tab.Group>",
            "**A**\n\none\n\n**B**\n\ntwo",
        ),
        (":::note[Mind **it**]{.hot}\n\nHot.\n\n:::", "> **Mind it:** Hot."),
        ("## Pot {/* #pot */}\n\nHot.", "## Pot {#pot}\n\nHot."),
        ("export const Pot = () => (\n  <b\n    style={{\n\n      a: 1,\n    }}>\n\n  </b>\n\n);\n\nHot.", "Hot."),
        ("$$\n\\frac{a}{b}\n$$\n\nIs $\\sqrt{a}$ of {x}.", "$$\n\\frac{a}{b}\n$$\n\nIs $\\sqrt{a}$ of ."),
    ],
)
def test_what_mdx_writes_beside_markdown(text: str, becomes: str) -> None:
    """One construct each."""
    assert cleaned(text, "mdx") == becomes


def test_mdx_code_of_a_file_is_part_of_the_page(tmp_path: Path) -> None:
    """`!!raw-loader!` imports a file as it is; one outside of the folder is not read."""
    put(tmp_path, {"h/_x.js": "pour({a: 1})\n", "y.js": "secret\n"})
    imports = "import x from '!!raw-loader!./_x.js';\nimport y from '!!raw-loader!../y.js';\n"
    blocks = '<CodeBlock language="js">{x}</CodeBlock>\n\n<CodeBlock>{y}</CodeBlock>\n'
    put(tmp_path, {"h/a.mdx": f"{imports}\n# A\n\n{blocks}"})
    assert add(tmp_path / "docs", "h", tmp_path / "h") == 0
    assert page(tmp_path / "docs", "h__a").body.strip() == "```js\npour({a: 1})\n```"


def test_mdx_code_stays_to_the_letter(kettle: Page) -> None:
    """Fences begin at the margin; imports, tags and braces in code are code."""
    assert "```js\nimport Kettle from 'kettle'\nconst k = { a: `<Kettle />` }\n```" in kettle.body
    assert "```bash\nkettle on\n```" in kettle.body
    assert 'Inline `<Tab title="x">` and `{braces}` stay.' in kettle.body
    assert "## Next & last {#next-steps}" in kettle.body
