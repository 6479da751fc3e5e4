"""The clients that people use, as they are: installed from npm, started with a home of their own, offline otherwise."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from clients.messages_api import Model
from conftest import PAGES, ROOT, SERVER, call, said, search, serving
from mcp_types import methods

PACKAGES = [
    "@modelcontextprotocol/inspector@2",
    "@modelcontextprotocol/sdk@1",
    "@modelcontextprotocol/client@2",
    "@anthropic-ai/claude-code@2",
]
NODE = 22
"""What the Inspector needs; where the system's is older, npm brings one."""

PATIENCE = 120
"""Seconds for npm; more means that it can't be reached."""

ERAS = ["legacy", "modern"]
VERSIONS = {"legacy": "2025-11-25", "modern": "2026-07-28"}


class Node:
    """A folder with node_modules, and how to run what is in it: with a home of its own, and none of our environment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.path = os.environ["PATH"]
        self.home.mkdir()
        (folder / "package.json").write_text("{}", encoding="utf-8")

    def run(
        self, *command: str, env: Mapping[str, str] | None = None, timeout: float = 60
    ) -> subprocess.CompletedProcess[str]:
        bare = {name: os.environ[name] for name in ("SYSTEMROOT", "TEMP") if name in os.environ}
        bare |= {"PATH": self.path, "HOME": str(self.home), "USERPROFILE": str(self.home)}
        return subprocess.run(
            [shutil.which(command[0], path=self.path) or command[0], *command[1:]],
            cwd=self.folder,
            env=bare | dict(env or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=timeout,
            check=False,
        )

    def npm(self, *arguments: str, timeout: float) -> None:
        """With our environment, which knows the way out. Skips the test where there is none."""
        env = {**os.environ, "PATH": self.path, "HOME": str(self.home)}
        try:
            done = self.run("npm", *arguments, env=env, timeout=timeout)
        except (OSError, subprocess.TimeoutExpired) as error:
            pytest.skip(f"npm can't be reached: {error}")
        if done.returncode:
            pytest.skip(f"npm can't be reached: {done.stderr.strip()[-300:]}")

    def install(self, *packages: str) -> None:
        self.npm("install", "--no-audit", "--no-fund", *packages, timeout=PATIENCE)

    def use(self, folder: Path) -> None:
        self.path = f"{folder}{os.pathsep}{self.path}"


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Node:
    if not shutil.which("npm"):
        pytest.skip("there is no npm")
    node = Node(tmp_path_factory.mktemp("node"))
    node.npm("view", PACKAGES[0], "version", timeout=20)
    installed = re.match(r"v(\d+)", node.run("node", "--version").stdout)
    if not installed or int(installed[1]) < NODE:
        node.install(f"node@{NODE}")
        node.run(
            "node", "node_modules/node/installArchSpecificPackage.js"
        )  # npm no longer runs what a package asks for
        node.use(node.folder / "node_modules" / "node" / "bin")
    node.install(*PACKAGES)
    node.run("node", "node_modules/@anthropic-ai/claude-code/install.cjs")
    node.use(node.folder / "node_modules" / ".bin")
    return node


def inspector(node: Node, docs: Path, era: str, *options: str) -> subprocess.CompletedProcess[str]:
    era_options = ["--protocol-era", era]
    return node.run("mcp-inspector", "--cli", "-e", f"PGDOCS_DOCS={docs}", *SERVER, *era_options, *options)


# --- the Inspector ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
def test_the_inspector_finds_nothing_to_complain_about(node: Node, indexed: Path, era: str) -> None:
    """`--strict` checks that every schema works in every client; it connects, lists, calls and reads in both eras."""
    listed = inspector(node, indexed, era, "--method", "tools/list", "--strict")
    assert listed.returncode == 0, listed.stderr
    assert len(json.loads(listed.stdout)["tools"]) == 4
    shaken = json.loads(inspector(node, indexed, era, "--method", "initialize").stdout)
    assert shaken["protocolVersion"] == VERSIONS[era]
    asked = ["--tool-name", "search_docs", "--tool-arg", "query=first row of each group"]
    found = json.loads(inspector(node, indexed, era, "--method", "tools/call", *asked).stdout)
    assert "sql-select.html#SQL-DISTINCT" in found["content"][0]["text"]
    wrong = inspector(
        node, indexed, era, "--method", "tools/call", "--tool-name", "get_doc", "--tool-arg", "page=nosuch"
    )
    assert wrong.returncode == 5
    assert "There is no page" in wrong.stdout
    page = inspector(node, indexed, era, "--method", "resources/read", "--uri", "pgdocs://docs/pg/sql-select")
    assert json.loads(page.stdout)["contents"][0]["text"] == (PAGES / "pg__sql-select.md").read_text(encoding="utf-8")
    lists = ("resources/list", "resources/templates/list", "prompts/list")
    assert [inspector(node, indexed, era, "--method", method).returncode for method in lists] == [0, 0, 0]


def test_the_inspectors_load_is_borne(node: Node, indexed: Path) -> None:
    """500 calls, eight at once: no error."""
    asked = ["--tool-name", "search_docs", "--tool-arg", "query=select", "--load-requests", "500"]
    loaded = inspector(node, indexed, "auto", "--method", "tools/call", *asked, "--load", "--load-concurrency", "8")
    report = json.loads(loaded.stdout)
    assert (report["ok"], report["errors"], report["toolErrors"]) == (500, 0, 0)


# --- the SDKs -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("major", ["1", "2"])
def test_the_typescript_sdk_gets_everything(node: Node, indexed: Path, major: str) -> None:
    """Its strict schemas admit every result, and the answers are those of the wire."""
    shutil.copy2(Path(__file__).parent / "sdk.mjs", node.folder)
    done = node.run("node", "sdk.mjs", major, *SERVER, str(indexed))
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    with serving(indexed) as session:
        session.initialize()
        assert told["found"] == search(session)
        assert told["wrong"] == said(session.call("search_docs", {"q": "x"}))
    assert told["tools"] == ["search_docs", "get_function_signature", "how_do_i", "get_doc"]
    assert told["page"] == (PAGES / "pg__sql-select.md").read_text(encoding="utf-8")
    assert told["prompt"].startswith("Explain recursive queries")
    assert told["slugs"] == ["ST_Buffer", "ST_DWithin"]
    assert told["templates"] == ["pgdocs://docs/{source}", "pgdocs://docs/{source}/{slug}"]
    assert told["server"]["name"] == "pgdocs"


COMPLETION = {
    "ref": {"type": "ref/resource", "uri": "pgdocs://docs/{source}/{slug}"},
    "argument": {"name": "slug", "value": "st"},
}
REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("tools/list", {}),
    *(("tools/call", call(0, tool, **{name: "select"})["params"]) for tool, name in [("search_docs", "query")]),
    ("tools/call", call(0, "get_function_signature", name="jsonb_set")["params"]),
    ("tools/call", call(0, "how_do_i", task="first row of each group")["params"]),
    ("tools/call", call(0, "get_doc", page="nosuch")["params"]),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": "pgdocs://docs/pg/sql-select"}),
    ("prompts/list", {}),
    ("prompts/get", {"name": "explain_feature", "arguments": {"feature": "select"}}),
    ("completion/complete", COMPLETION),
]


@pytest.mark.parametrize("options", [[], ["--structured"]], ids=["text", "structured"])
@pytest.mark.parametrize("era", ERAS)
def test_every_result_is_what_the_specification_says(indexed: Path, era: str, options: list[str]) -> None:
    """Each raw result, before any client has touched it, fits the types that are made from that version's schema."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": VERSIONS["modern"],
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    with serving(indexed, *options) as session:
        first = session.request("server/discover", {"_meta": meta}) if era == "modern" else session.initialize()
        methods.validate_server_result(
            "server/discover" if era == "modern" else "initialize", VERSIONS[era], first["result"]
        )
        for method, params in REQUESTS:
            answer = session.request(method, {**params, "_meta": meta} if era == "modern" else params)
            methods.validate_server_result(method, VERSIONS[era], answer["result"])


# --- Claude Code --------------------------------------------------------------------------------------------


@contextmanager
def claude(node: Node, name: str) -> Iterator[dict[str, str]]:
    """The environment of a Claude Code with a configuration of its own, that never leaves this machine."""
    home = node.folder / name
    home.mkdir()
    quiet = {"DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    yield {"HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / ".claude"), **quiet}


def test_claude_code_adds_lists_and_shows_the_server(node: Node, indexed: Path) -> None:
    """The line of the README works as it stands, and `claude mcp list` really connects."""
    with claude(node, "claude-mcp") as env:
        added = node.run("claude", "mcp", "add", "pgdocs", "-e", f"PGDOCS_DOCS={indexed}", "--", *SERVER, env=env)
        assert added.returncode == 0, added.stdout + added.stderr
        listed = node.run("claude", "mcp", "list", env=env)
        assert re.search(r"pgdocs: .*server\.py.*Connected", listed.stdout), listed.stdout + listed.stderr
        shown = node.run("claude", "mcp", "get", "pgdocs", env=env)
        assert "Connected" in shown.stdout
        assert str(ROOT / "server.py") in shown.stdout


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search_docs", {"query": "first row of each group"}),
        ("get_doc", {"page": "nosuch"}),
    ],
)
def test_claude_code_shows_its_model_exactly_our_text(
    node: Node, indexed: Path, tmp_path: Path, tool: str, arguments: dict[str, Any]
) -> None:
    """A scripted model calls a tool: what it is shown is the answer's text to the letter, errors too, and no JSON."""
    config = tmp_path / "mcp.json"
    command = {"command": SERVER[0], "args": SERVER[1:], "env": {"PGDOCS_DOCS": str(indexed)}}
    config.write_text(json.dumps({"mcpServers": {"pgdocs": command}}), encoding="utf-8")
    with serving(indexed) as session:
        session.initialize()
        expected = said(session.call(tool, arguments))
    with claude(node, tmp_path.name) as env, Model(f"mcp__pgdocs__{tool}", arguments) as model:
        env |= {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "dummy-key", "ENABLE_TOOL_SEARCH": "false"}
        options = ["--mcp-config", str(config), "--strict-mcp-config", "--allowedTools", "mcp__pgdocs"]
        done = node.run("claude", "-p", "look it up", *options, "--output-format", "json", env=env)
        results = model.tool_results()
        offered = {tool["name"]: tool for body in model.seen for tool in body.get("tools") or []}
    assert results, done.stdout + done.stderr
    shown = results[0] if isinstance(results[0], str) else "".join(part["text"] for part in results[0])
    assert shown.strip() == expected.strip()
    assert {f"mcp__pgdocs__{name}" for name in ("search_docs", "get_function_signature", "how_do_i", "get_doc")} <= {
        *offered
    }
    assert offered["mcp__pgdocs__search_docs"]["description"].startswith("Use first to look anything up in")


# --- further clients, by hand: pytest tests/clients --slow ------------------------------------------------------

MORE = ["@google/gemini-cli", "opencode-ai@1", "@openai/codex"]

SCENARIOS = {
    "2025-11-25": "server-initialize ping tools-list resources-list prompts-list completion-complete "
    "dns-rebinding-protection",
    "2026-07-28": "tools-list resources-list prompts-list completion-complete sep-2164-resource-not-found caching "
    "dns-rebinding-protection http-header-validation input-required-result-unsupported-methods "
    "input-required-result-ignore-extra-params",
}
"""Of the conformance suite. The others need tools of a server made for the suite (test_…), sessions, or what we
don't claim to have: logging and subscriptions of the older version."""


@pytest.fixture(scope="session")
def more(node: Node, slow: bool) -> Node:
    if not slow:
        pytest.skip("further clients are for --slow")
    node.install(*MORE)
    node.run("node", "node_modules/opencode-ai/postinstall.mjs")
    return node


def test_opencode_connects(more: Node, indexed: Path) -> None:
    """`opencode mcp list` starts the server."""
    command = {"type": "local", "command": SERVER, "environment": {"PGDOCS_DOCS": str(indexed)}, "enabled": True}
    (more.folder / "opencode.json").write_text(json.dumps({"mcp": {"pgdocs": command}}), encoding="utf-8")
    assert re.search(r"pgdocs\W.*connected", more.run("opencode", "mcp", "list").stdout)


def test_gemini_connects(more: Node, indexed: Path) -> None:
    """`gemini mcp list` starts the server."""
    command = {"command": SERVER[0], "args": SERVER[1:], "env": {"PGDOCS_DOCS": str(indexed)}}
    (more.home / ".gemini").mkdir()
    (more.home / ".gemini" / "settings.json").write_text(
        json.dumps({"mcpServers": {"pgdocs": command}}), encoding="utf-8"
    )
    listed = more.run("gemini", "mcp", "list", env={"GEMINI_CLI_TRUST_WORKSPACE": "true"})
    assert re.search(r"pgdocs: .*server\.py.*Connected", listed.stdout + listed.stderr)


def test_codex_asks_for_the_tools(more: Node, indexed: Path) -> None:
    """Before its first request to a model (which goes nowhere here) it greets the server and lists its tools."""
    heard = more.folder / "heard"
    script = "import subprocess, sys\nserver = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE)\n"
    script += "for line in sys.stdin.buffer:\n    open(sys.argv[1], 'ab').write(line)\n"
    script += "    server.stdin.write(line)\n    server.stdin.flush()\n"
    listening = [SERVER[0], "-c", script, str(heard), *SERVER]
    added = more.run("codex", "mcp", "add", "pgdocs", "--env", f"PGDOCS_DOCS={indexed}", "--", *listening)
    assert added.returncode == 0, added.stderr
    nowhere = 'model_providers.x={name="x",base_url="http://127.0.0.1:9/v1",env_key="KEY",wire_api="responses"}'
    with suppress(subprocess.TimeoutExpired):
        options = ["--skip-git-repo-check", "-c", nowhere, "-c", "model_provider=x", "hello"]
        more.run("codex", "exec", *options, env={"KEY": "dummy"}, timeout=20)
    assert [json.loads(line)["method"] for line in heard.read_bytes().splitlines()][:3] == [
        "initialize",
        "notifications/initialized",
        "tools/list",
    ]


def test_fastmcp_lists_and_calls(more: Node, indexed: Path, tmp_path: Path) -> None:
    """The other Python client, from an environment of its own."""
    venv.create(tmp_path / "venv", with_pip=True)
    programs = tmp_path / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
    installed = subprocess.run([programs / "pip", "install", "-q", "fastmcp>=4,<5"], capture_output=True, check=False)
    if installed.returncode:
        pytest.skip("PyPI can't be reached")
    command = {"command": SERVER[0], "args": SERVER[1:], "env": {"PGDOCS_DOCS": str(indexed)}}
    (more.folder / "fastmcp.json").write_text(json.dumps({"mcpServers": {"pgdocs": command}}), encoding="utf-8")
    fastmcp = str(programs / "fastmcp")
    listed = more.run(fastmcp, "list", "fastmcp.json", "--resources", "--prompts")
    assert all(name in listed.stdout for name in ("search_docs", "how_do_i", "pgdocs://docs", "explain_feature"))
    called = more.run(fastmcp, "call", "fastmcp.json", "search_docs", "query=first row of each group", "--json")
    assert "sql-select.html#SQL-DISTINCT" in json.loads(called.stdout)["content"][0]["text"]


@pytest.mark.parametrize(("version", "scenario"), [(v, s) for v, names in SCENARIOS.items() for s in names.split()])
def test_the_conformance_suite_is_content(more: Node, indexed: Path, version: str, scenario: str) -> None:
    """Over HTTP, by the protocol's own suite, all scenarios that apply to a server of documents."""
    more.install("@modelcontextprotocol/conformance@0.2.0-alpha.12")
    command = [*SERVER, "--transport", "http", "--port", "0"]
    env = {**os.environ, "PGDOCS_DOCS": str(indexed)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env) as process:
        assert process.stderr
        url = process.stderr.readline().split()[-1]
        done = more.run("conformance", "server", "--url", url, "--spec-version", version, "--scenario", scenario)
        process.kill()
        process.stderr.read()
    assert done.returncode == 0, done.stdout[-3_000:]
    assert re.search(r"Passed: [1-9]\d*/\d+, 0 failed", done.stdout)
