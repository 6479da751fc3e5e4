"""`pgdocs install`: real configuration files in homes of their own, by the rules of all three systems."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from pgdocs.serve import clients, jsonc
from pgdocs.serve.cli import CLIENT_NAMES
from pgdocs.serve.clients import CLIENTS, Client, ClientError, Home, Server

SERVER = Server("/opt/pgdocs/python", ("/opt/pgdocs/server.py",))
OTHER = Server("/home/me/bin/pgdocs-mcp", ("serve",), (("PGDOCS_DOCS", "/home/me/docs"),))
POSIX = sys.platform != "win32"

COMMENTED = """\
// my own settings
{
\t"theme": "dark", // easy on the eyes
\t/* servers */
\t"KEY": {
\t\t"other": {"command": "x", "args": [1, 2,]} // keep this one
\t},
}
"""
CONFIGURATIONS = {
    "none": None,
    "empty": "",
    "blank": "\n",
    "object": "{}",
    "compact": '{"a":1,"KEY":{"other":{"command":"x"}}}',
    "no servers": '{\n    "a": [1, {"b": null}],\n    "c": "\\u00e9 é // no comment"\n}\n',
    "empty servers": '{\n  "KEY": {},\n  "z": 1\n}',
    "comments": COMMENTED,
    "windows": COMMENTED.replace("\n", "\r\n"),
    "byte order mark": '\ufeff{\n  "a": 1\n}\n',
    "only a comment": '{\n  "KEY": {\n    // none yet\n  }\n}\n',
}
TOML = {
    "none": None,
    "empty": "",
    "no line end": 'model = "x"',
    "comments": "# mine\nmodel = 'x' # best\n\n[mcp_servers.other]\ncommand = 'c'\n\n# later\n[z]\nb = 1979-05-27\n",
    "windows": '[mcp_servers.other]\r\ncommand = "c"\r\n\r\n[tui]\r\nx = 1\r\n',
    "dotted": 'mcp_servers.other.command = "c"\nq = 1\n',
}


def home(tmp_path: Path, platform: str = "linux", **env: str) -> Home:
    return Home(platform, tmp_path, env)


def configured(client: Client, place: Home, text: str | None) -> Path:
    file = client.file(place)
    if text is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    return file


def data(file: Path) -> dict[str, object]:
    text = file.read_bytes().decode()
    found = clients.tomllib.loads(text) if file.suffix == ".toml" else jsonc.loads(text)
    assert isinstance(found, dict)
    return found


CASES = [
    pytest.param(client, text and text.replace("KEY", client.key), id=f"{client.name}: {name}")
    for client in CLIENTS.values()
    for name, text in (TOML if client.name == "codex" else CONFIGURATIONS).items()
]


@pytest.mark.parametrize(("client", "text"), CASES)
def test_what_is_put_in_comes_out_again(tmp_path: Path, client: Client, text: str | None) -> None:
    """Install, install again, uninstall: our entry and nothing else, then to the letter what was there before."""
    place = home(tmp_path)
    file = configured(client, place, text)
    before = data(file) if text and text.strip() else {}
    backup = clients.write(clients.install(client, place, SERVER))
    assert (backup.read_bytes() if backup else None) == (text.encode() if text is not None else None)
    servers = {**dict(before.get(client.key) or {}), "pgdocs": client.entry(SERVER)}  # type: ignore[call-overload]
    assert data(file) == {**before, client.key: servers}
    again = clients.install(client, place, SERVER)
    assert again.before == again.after
    assert clients.state(client, place, SERVER) == "connected"
    clients.write(clients.uninstall(client, place))
    assert (file.read_bytes() if file.exists() else None) == (text.encode() if text is not None else None)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [file] * (text is not None)
    assert text is not None or not client.is_here(place)  # a folder that we made would pass for a trace of the client


def test_no_folder_of_the_users_goes_with_our_entry(tmp_path: Path) -> None:
    """Neither one that CODEX_HOME names (Codex doesn't start without it), nor one above ours, nor an empty home."""
    there, client = tmp_path / "srv" / "x" / "codex", CLIENTS["codex"]
    there.mkdir(parents=True)
    place = home(tmp_path / "home", CODEX_HOME=str(there))
    clients.write(clients.install(client, place, SERVER))
    clients.write(clients.uninstall(client, place))
    assert list(there.iterdir()) == []
    place, client = home(tmp_path / "me"), CLIENTS["vscode"]
    (above := place.programs / "Code").mkdir(parents=True)
    clients.write(clients.install(client, place, SERVER))
    clients.write(clients.uninstall(client, place))
    assert list(above.iterdir()) == []
    place, client = home(tmp_path / "empty"), CLIENTS["claude-code"]
    place.home.mkdir()
    clients.write(clients.install(client, place, SERVER))
    clients.write(clients.uninstall(client, place))
    assert list(place.home.iterdir()) == []


@pytest.mark.parametrize(("client", "text"), CASES)
def test_a_file_that_its_owner_changed_since_loses_our_entry_only(
    tmp_path: Path, client: Client, text: str | None
) -> None:
    """A client rewrites its configuration all the time: the backup is not put over what has come in since."""
    place = home(tmp_path)
    file = configured(client, place, text)
    clients.write(clients.install(client, place, SERVER))
    if file.suffix == ".toml":
        file.write_bytes(b"since = 1\n" + file.read_bytes())
    else:
        file.write_bytes(jsonc.put(file.read_bytes().decode(), ("since",), 1).encode())
    now = data(file)
    backup = clients.write(clients.uninstall(client, place))
    assert backup
    assert json.dumps(now, default=str) == json.dumps(data_of(backup, file.suffix), default=str)
    left = dict(now[client.key])  # type: ignore[call-overload]
    del left["pgdocs"]
    assert {client.key: {}, **data(file)} == {**now, client.key: left}


def data_of(backup: Path, suffix: str) -> object:
    text = backup.read_bytes().decode()
    return clients.tomllib.loads(text) if suffix == ".toml" else jsonc.loads(text)


def test_comments_and_the_rest_of_the_text_stay(tmp_path: Path) -> None:
    """Every line of a commented file is there afterwards, as it was."""
    client, place = CLIENTS["vscode"], home(tmp_path)
    text = COMMENTED.replace("KEY", client.key)
    file = configured(client, place, text)
    clients.write(clients.install(client, place, SERVER))
    lines = file.read_text(encoding="utf-8").splitlines()
    for line in text.splitlines():
        assert line in lines or line.replace("} // keep", "}, // keep") in lines
    assert '\t\t\t"command": "/opt/pgdocs/python",' in lines


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_another_command_replaces_ours_and_keeps_what_the_user_added(tmp_path: Path, client: Client) -> None:
    """Moved the checkout: the paths change; a timeout or a variable that somebody added stays, and so does "off"."""
    place = home(tmp_path)
    entry = {**client.entry(OTHER), "timeout": 9, client.env: {"PGDOCS_DOCS": "/old", "MINE": "1"}, "enabled": False}
    if client.name == "codex":
        text = "\n".join(clients._table(("mcp_servers", "pgdocs"), entry)) + "\n\n# next\n[z]\na = 1\n"
    else:
        text = json.dumps({client.key: {"pgdocs": entry}}, indent=2).replace('"timeout"', '// slow disk\n"timeout"')
    file = configured(client, place, text)
    assert clients.state(client, place, SERVER) == "differs"
    clients.write(clients.install(client, place, SERVER))
    expected = {**entry, **client.entry(SERVER), client.env: {"MINE": "1"}, "enabled": False}
    assert data(file)[client.key] == {"pgdocs": expected}
    assert ("# next\n[z]" if client.name == "codex" else "// slow disk") in file.read_text(encoding="utf-8")


PLACES = {
    ("linux", "claude-code"): ".claude.json",
    ("linux", "claude-desktop"): ".config/Claude/claude_desktop_config.json",
    ("linux", "cursor"): ".cursor/mcp.json",
    ("linux", "vscode"): ".config/Code/User/mcp.json",
    ("linux", "codex"): ".codex/config.toml",
    ("linux", "gemini"): ".gemini/settings.json",
    ("linux", "opencode"): ".config/opencode/opencode.json",
    ("darwin", "claude-code"): ".claude.json",
    ("darwin", "claude-desktop"): "Library/Application Support/Claude/claude_desktop_config.json",
    ("darwin", "cursor"): ".cursor/mcp.json",
    ("darwin", "vscode"): "Library/Application Support/Code/User/mcp.json",
    ("darwin", "codex"): ".codex/config.toml",
    ("darwin", "gemini"): ".gemini/settings.json",
    ("darwin", "opencode"): ".config/opencode/opencode.json",
    ("win32", "claude-code"): ".claude.json",
    ("win32", "claude-desktop"): "AppData/Roaming/Claude/claude_desktop_config.json",
    ("win32", "cursor"): ".cursor/mcp.json",
    ("win32", "vscode"): "AppData/Roaming/Code/User/mcp.json",
    ("win32", "codex"): ".codex/config.toml",
    ("win32", "gemini"): ".gemini/settings.json",
    ("win32", "opencode"): ".config/opencode/opencode.json",
}


@pytest.mark.parametrize(("platform", "name"), PLACES)
def test_each_system_has_its_places(tmp_path: Path, platform: str, name: str) -> None:
    """What the client itself reads, on Linux, macOS and Windows; not there yet, then there."""
    place, client = home(tmp_path, platform), CLIENTS[name]
    file = tmp_path / PLACES[platform, name]
    assert client.file(place) == file
    assert clients.state(client, place, SERVER) == "not found"
    (tmp_path / ".claude" if name == "claude-code" else file.parent).mkdir(parents=True)
    assert clients.state(client, place, SERVER) == "found"
    clients.write(clients.install(client, place, SERVER))
    assert clients.state(client, place, SERVER) == "connected"


@pytest.mark.parametrize(
    ("platform", "name", "variable", "below"),
    [
        ("linux", "claude-code", "CLAUDE_CONFIG_DIR", ".claude.json"),
        ("linux", "claude-desktop", "XDG_CONFIG_HOME", "Claude/claude_desktop_config.json"),
        ("win32", "claude-desktop", "APPDATA", "Claude/claude_desktop_config.json"),
        ("win32", "vscode", "APPDATA", "Code/User/mcp.json"),
        ("linux", "codex", "CODEX_HOME", "config.toml"),
        ("darwin", "gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("win32", "opencode", "XDG_CONFIG_HOME", "opencode/opencode.json"),
        ("linux", "opencode", "OPENCODE_CONFIG_DIR", "opencode.json"),
    ],
)
def test_a_client_that_was_told_another_folder_is_followed(
    tmp_path: Path, platform: str, name: str, variable: str, below: str
) -> None:
    """The clients' own environment variables count here too."""
    place = home(tmp_path / "home", platform, **{variable: str(tmp_path / "there")})
    assert CLIENTS[name].file(place) == tmp_path / "there" / below


def test_claude_desktop_from_its_installer_has_its_own_appdata(tmp_path: Path) -> None:
    """Packaged for Windows it never sees the file in AppData/Roaming, so that one is left alone."""
    place, client = home(tmp_path, "win32"), CLIENTS["claude-desktop"]
    old = configured(client, place, "{}")
    package = tmp_path / "AppData/Local/Packages/Claude_pzs8sxrjxfjjc"
    package.mkdir(parents=True)
    clients.write(clients.install(client, place, SERVER))
    assert data(package / "LocalCache/Roaming/Claude/claude_desktop_config.json")["mcpServers"]
    assert old.read_text(encoding="utf-8") == "{}"


def test_the_file_that_a_client_has_is_the_one_that_is_edited(tmp_path: Path) -> None:
    """opencode.jsonc rather than a second opencode.json; Claude Code's older .config.json where that is used."""
    place = home(tmp_path)
    for name, other in (("opencode", ".config/opencode/opencode.jsonc"), ("claude-code", ".claude/.config.json")):
        (tmp_path / other).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / other).write_text("{ /* mine */ }", encoding="utf-8")
        assert CLIENTS[name].file(place) == tmp_path / other


BROKEN = [
    ("cursor", b'{"mcpServers": {"a": 1}', "line 1, column 24: a comma or } is expected"),
    ("cursor", b'{"mcpServers": {}} {}', "nothing more is expected"),
    ("cursor", b"{'a': 1}", "a name in quotes or } is expected"),
    ("cursor", b'{"a": "b\n"}', "a string that ends is expected"),
    ("cursor", b'{"a": 01}', "a comma or } is expected"),
    ("cursor", b"[]", "holds no object"),
    ("cursor", b'{"mcpServers": []}', "'mcpServers' is no object"),
    ("cursor", b'{"mcpServers": null}', "'mcpServers' is no object"),
    ("cursor", b'{"a": "\xff"}', "no UTF-8"),
    ("cursor", b"[" * 100_000, "less nesting is expected"),
    ("codex", b"[mcp_servers\n", "no TOML"),
    ("codex", b"mcp_servers = 1\n", "'mcp_servers' is no object"),
    ("codex", b'mcp_servers = { a = { command = "x" } }\n', "can't be edited safely"),
    ("codex", b'["mcp_servers".pgdocs]\ncommand = "x"\n', "can't be edited safely"),
]


@pytest.mark.parametrize(("name", "content", "told"), BROKEN, ids=[f"{b[0]}: {b[2]}" for b in BROKEN])
def test_a_broken_configuration_is_left_alone(tmp_path: Path, name: str, content: bytes, told: str) -> None:
    """A sentence names the file and the place, and not a byte is written."""
    client, place = CLIENTS[name], home(tmp_path)
    file = client.file(place)
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    with pytest.raises(ClientError) as error:
        clients.write(clients.install(client, place, SERVER))
    assert str(file) in str(error.value)
    assert told in str(error.value)
    assert clients.state(client, place, SERVER) == "broken"
    assert [(left.name, left.read_bytes()) for left in file.parent.iterdir()] == [(file.name, content)]


@pytest.mark.skipif(not POSIX, reason="modes and links of POSIX")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644])
def test_modes_and_links_stay(tmp_path: Path, mode: int) -> None:
    """These files hold keys: neither they nor their copies become readable to more people; dotfiles stay links."""
    client, place = CLIENTS["cursor"], home(tmp_path)
    real = tmp_path / "dotfiles" / "cursor.json"
    real.parent.mkdir()
    real.write_text("{}", encoding="utf-8")
    real.chmod(mode)
    file = client.file(place)
    file.parent.mkdir()
    file.symlink_to(real)
    backup = clients.write(clients.install(client, place, SERVER))
    assert backup
    assert file.is_symlink()
    assert data(real)["mcpServers"]
    assert {stat.S_IMODE(one.stat().st_mode) for one in (real, backup)} == {mode}
    clients.write(clients.uninstall(client, place))
    assert file.is_symlink()
    assert real.read_text(encoding="utf-8") == "{}"
    assert stat.S_IMODE(real.stat().st_mode) == mode


def test_a_file_that_changed_under_our_hands_is_not_overwritten(tmp_path: Path) -> None:
    """While somebody reads the diff, the client may write: its version wins."""
    client, place = CLIENTS["claude-code"], home(tmp_path)
    file = configured(client, place, '{"a": 1}')
    change = clients.install(client, place, SERVER)
    file.write_text('{"a": 2}', encoding="utf-8")
    with pytest.raises(ClientError, match="run this again"):
        clients.write(change)
    assert file.read_text(encoding="utf-8") == '{"a": 2}'


@pytest.mark.skipif(not POSIX or os.geteuid() == 0, reason="nothing is forbidden to this user")
def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    """Not a stack trace, and the file is as it was."""
    client, place = CLIENTS["cursor"], home(tmp_path)
    file = configured(client, place, "{}")
    file.parent.chmod(0o500)
    try:
        with pytest.raises(ClientError, match="can't be changed"):
            clients.write(clients.install(client, place, SERVER))
        assert file.read_text(encoding="utf-8") == "{}"
    finally:
        file.parent.chmod(0o700)


def test_the_diff_shows_no_key_of_other_servers(tmp_path: Path) -> None:
    """Lines nearby are not shown: a terminal's scroll-back and a bug report are read by others."""
    client, place = CLIENTS["cursor"], home(tmp_path)
    text = '{\n  "mcpServers": {\n    "a": {\n      "env": {\n        "TOKEN": "s3cret"\n      }\n    }\n  }\n}\n'
    configured(client, place, text)
    diff = clients.diff(clients.install(client, place, SERVER))
    assert '+    "pgdocs": {' in diff
    assert "s3cret" not in diff
    configured(client, place, json.dumps({"token": "s3cret", "long": "x" * 500}))
    assert max(map(len, clients.diff(clients.install(client, place, SERVER)).splitlines())) <= clients.MAX_LINE + 1


def test_the_command_is_this_installation() -> None:
    """Absolute paths that exist, since a client starts us from anywhere with next to no environment."""
    server = clients.server_command(Path("some/docs"))
    assert Path(server.command).is_absolute()
    assert Path(server.command).is_file()
    assert all(Path(argument).is_file() for argument in server.args if argument != "serve")
    assert dict(server.env) == {"PGDOCS_DOCS": str(Path.cwd() / "some" / "docs")}
    assert clients.server_command().env == ()


def test_the_shell_knows_every_client() -> None:
    """The names to choose from are those of the module that does it."""
    assert tuple(CLIENTS) == CLIENT_NAMES


# --- at the shell -------------------------------------------------------------------------------------------


def pgdocs(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    variables = {"HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "XDG_CONFIG_HOME", "CODEX_HOME", "PGDOCS_DOCS"}
    ours = {key: value for key, value in os.environ.items() if key not in {*variables, "CLAUDE_CONFIG_DIR"}}
    environment = {**ours, "HOME": str(place), "USERPROFILE": str(place), "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-m", "pgdocs.serve.cli", "install", *arguments]
    return subprocess.run(
        command, capture_output=True, env=environment, stdin=subprocess.DEVNULL, encoding="utf-8", check=False
    )


def test_without_a_client_it_lists_what_it_found(tmp_path: Path) -> None:
    """And changes nothing."""
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text("[", encoding="utf-8")
    listed = pgdocs(tmp_path)
    assert listed.returncode == 0
    assert "cursor          found      " in listed.stdout
    assert "codex           broken     " in listed.stdout
    assert "pgdocs install --client cursor" in listed.stdout
    found = {row["client"]: row["state"] for row in json.loads(pgdocs(tmp_path, "--json").stdout)}
    assert found["cursor"] == "found"
    assert found["gemini"] == "not found"
    assert not list((tmp_path / ".cursor").iterdir())


def test_an_entry_for_one_folder_is_seen(tmp_path: Path) -> None:
    """`claude mcp add` without --scope user writes one: the list names the folder rather than saying not connected."""
    configuration = {"projects": {"/home/me/app": {"mcpServers": {"pgdocs": {}}}, "/b": {"mcpServers": {}}, "/c": {}}}
    (tmp_path / ".claude.json").write_text(json.dumps(configuration), encoding="utf-8")
    listed = pgdocs(tmp_path).stdout
    assert "claude-code     in part    " in listed
    assert [line.strip() for line in listed.splitlines() if line.strip().startswith("in ")] == ["in /home/me/app"]
    assert json.loads(pgdocs(tmp_path, "--json").stdout)[0]["folders"] == ["/home/me/app"]


@pytest.mark.skipif(not POSIX, reason="named pipes of POSIX")
def test_a_pipe_in_place_of_a_configuration_is_not_waited_for(tmp_path: Path) -> None:
    """It never ends: the client is shown as broken, and installing says why it is left alone."""
    os.mkfifo(tmp_path / ".claude.json")
    assert "claude-code     broken " in pgdocs(tmp_path).stdout
    assert "it is no file" in pgdocs(tmp_path, "--client", "claude-code", "--yes").stderr


def test_a_folder_of_nobody_is_a_folder(tmp_path: Path) -> None:
    """CLAUDE_CONFIG_DIR=~nobody-of-that-name: no trace."""
    place = home(tmp_path, CLAUDE_CONFIG_DIR="~nobody-of-that-name/x")
    assert clients.state(CLIENTS["claude-code"], place, SERVER) == "not found"


def test_it_asks_unless_told_not_to(tmp_path: Path) -> None:
    """Where nobody can answer nothing is changed, and the sentence says what to add; --yes shows the diff, and does."""
    refused = pgdocs(tmp_path, "--client", "cursor")
    assert refused.returncode == 1
    assert "say --yes" in refused.stderr
    assert not (tmp_path / ".cursor").exists()
    done = pgdocs(tmp_path, "--client", "cursor", "--yes")
    assert done.returncode == 0
    assert '+    "pgdocs": {' in done.stdout
    again = pgdocs(tmp_path, "--client", "cursor", "--yes", "--json")
    assert [row["changed"] for row in json.loads(again.stdout)] == [False]
    gone = pgdocs(tmp_path, "--uninstall", "--yes", "--json")
    assert [(row["client"], row["changed"]) for row in json.loads(gone.stdout)] == [("cursor", True)]
    assert not (tmp_path / ".cursor").exists()


def test_one_broken_file_does_not_keep_the_others_from_being_changed(tmp_path: Path) -> None:
    """Each client by itself; the exit code tells that one was left out."""
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor" / "mcp.json").write_text("{", encoding="utf-8")
    done = pgdocs(tmp_path, "--client", "cursor", "--client", "gemini", "--yes")
    assert done.returncode == 1
    assert "Cursor: " in done.stderr
    assert "is left alone, for it is no JSON (line 1, column 2" in done.stderr
    assert (tmp_path / ".cursor" / "mcp.json").read_text(encoding="utf-8") == "{"
    assert data(tmp_path / ".gemini" / "settings.json")["mcpServers"]
