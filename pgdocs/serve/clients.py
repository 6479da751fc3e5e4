"""The MCP clients: where each keeps its configuration, what our entry looks like there, and how it gets in and out.

A configuration is the user's: it is edited where it stands, what can't be read is left alone, a copy is kept beside it,
and it is replaced in one step, through links, with the mode that it had. Nothing here prints or asks.
"""

from __future__ import annotations

import difflib
import importlib
import json
import os
import re
import stat
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pgdocs.errors import PgdocsError
from pgdocs.serve import jsonc
from pgdocs.serve.library import CHECKOUT

tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

NAME = "pgdocs"
"""What our entry is called in every client; tools show up under it."""

DOCS = "PGDOCS_DOCS"

BACKUP = ".pgdocs-backup"
"""Appended to a configuration's name: the file as it was before our last change to it."""

MAX_LINE = 160
"""Characters of a line that are shown: a whole configuration may be one line."""

Files = Callable[["Home"], "list[Path]"]


class ClientError(PgdocsError):
    """A client's configuration can't be changed; it is as it was."""


@dataclass(frozen=True)
class Home:
    """Whose configuration, on which system: `platform` as in sys.platform, and the environment."""

    platform: str
    home: Path
    env: Mapping[str, str]

    @classmethod
    def here(cls) -> Home:
        """The user's own. Raises ClientError where there is no home."""
        try:
            return cls(sys.platform, Path.home(), os.environ)
        except RuntimeError as error:
            raise ClientError("There is no home folder to look for clients in: set HOME.") from error

    def named(self, variable: str, *default: str) -> Path:
        """The folder that an environment variable names, else one below the home."""
        value = self.env.get(variable)
        with suppress(RuntimeError):  # ~nobody-of-that-name
            return Path(value).expanduser() if value else self.home.joinpath(*default)
        return Path(str(value))

    @property
    def programs(self) -> Path:
        """Where this system's desktop programs keep their settings."""
        if self.platform == "win32":
            return self.named("APPDATA", "AppData", "Roaming")
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        return self.named("XDG_CONFIG_HOME", ".config")


@dataclass(frozen=True)
class Server:
    """How a client starts us: absolute paths only, because it does so from any folder, with almost no environment."""

    command: str
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Client:
    """A client. `files` are the places that it reads, the first that exists is used, else the last; `key` names the
    object (the table) that holds its servers, `kind` the type that its entries state."""

    name: str
    label: str
    key: str
    files: Files
    kind: str = ""

    def file(self, home: Home) -> Path:
        """The configuration to edit."""
        places = self.files(home)
        return next((place for place in places if place.exists()), places[-1])

    def is_here(self, home: Home) -> bool:
        """Whether there is a trace of the client: a configuration, or the folder it would lie in."""
        return any(f.exists() or (f.parent != home.home and f.parent.is_dir()) for f in self.files(home))

    def entry(self, server: Server) -> dict[str, Any]:
        """Our entry in its words."""
        kind = {"type": self.kind} if self.kind else {}
        if self.kind == "local":
            command: dict[str, Any] = {"command": [server.command, *server.args], "enabled": True}
        else:
            command = {"command": server.command, "args": list(server.args)}
        return {**kind, **command, **({self.env: dict(server.env)} if server.env else {})}

    @property
    def env(self) -> str:
        return "environment" if self.kind == "local" else "env"


def _claude_code(home: Home) -> list[Path]:
    folder = home.named("CLAUDE_CONFIG_DIR", ".claude")
    return [folder / ".config.json", home.named("CLAUDE_CONFIG_DIR") / ".claude.json"]


def _claude_desktop(home: Home) -> list[Path]:
    """Installed from its site or the store, the Windows program sees its own copy of AppData and nothing else."""
    name = "claude_desktop_config.json"
    if home.platform == "win32":
        packages = home.named("LOCALAPPDATA", "AppData", "Local") / "Packages"
        if packaged := sorted(packages.glob("Claude_*")):
            return [package / "LocalCache" / "Roaming" / "Claude" / name for package in packaged]
    return [home.programs / "Claude" / name]


def _opencode(home: Home) -> list[Path]:
    """~/.config on every system."""
    xdg = home.named("XDG_CONFIG_HOME", ".config") / "opencode"
    folder = home.named("OPENCODE_CONFIG_DIR") if home.env.get("OPENCODE_CONFIG_DIR") else xdg
    return [folder / "opencode.jsonc", folder / "config.json", folder / "opencode.json"]


CLIENTS = {
    client.name: client
    for client in (
        Client("claude-code", "Claude Code", "mcpServers", _claude_code, "stdio"),
        Client("claude-desktop", "Claude Desktop", "mcpServers", _claude_desktop),
        Client("cursor", "Cursor", "mcpServers", lambda home: [home.home / ".cursor" / "mcp.json"], "stdio"),
        Client("vscode", "VS Code", "servers", lambda home: [home.programs / "Code" / "User" / "mcp.json"], "stdio"),
        Client("codex", "Codex", "mcp_servers", lambda home: [home.named("CODEX_HOME", ".codex") / "config.toml"]),
        Client(
            "gemini",
            "Gemini CLI",
            "mcpServers",
            lambda home: [home.named("GEMINI_CLI_HOME") / ".gemini" / "settings.json"],
        ),
        Client("opencode", "opencode", "mcp", _opencode, "local"),
    )
}


def server_command(docs: Path | None = None) -> Server:
    """How to start this very installation; `docs` where it serves another folder than its own. Raises ClientError."""
    env = ((DOCS, str(docs.expanduser().absolute())),) if docs else ()
    door = CHECKOUT / "server.py"
    if door.is_file() and (CHECKOUT / "pyproject.toml").is_file():
        return Server(str(Path(sys.executable).absolute()), (str(door),), env)
    name = "pgdocs-mcp.exe" if sys.platform == "win32" else "pgdocs-mcp"
    for script in (Path(sysconfig.get_path("scripts")) / name, Path(sys.argv[0]).absolute().with_name(name)):
        if any(part.startswith("archive-v") for part in script.parts):
            raise ClientError("uvx runs us from its cache, which is swept: `uv tool install pgdocs-mcp` first.")
        if script.is_file():  # the script, not `-m`: that would look for our modules in the client's folder first
            return Server(str(script), ("serve",), env)
    raise ClientError(f"There is no {name} beside {sys.executable}: install pgdocs-mcp, with pip or uv tool install.")


# --- what to change ---------------------------------------------------------------------------------------


class Change(NamedTuple):
    """What becomes of a file: its bytes before and after, None where there is none; `folder` goes with the file, if
    that leaves it empty."""

    file: Path
    before: bytes | None
    after: bytes | None
    folder: Path | None = None


def folders(client: Client, home: Home) -> list[str]:
    """Where the client has our entry for work in that folder only, as `claude mcp add` puts it by default."""
    with suppress(ClientError, AttributeError):  # other shapes are not ours to judge
        file = client.file(home)
        projects = _data(file, _text(file, _read(file))).get("projects", {})
        return [name for name, project in projects.items() if NAME in project.get(client.key, {})]
    return []


def state(client: Client, home: Home, server: Server) -> str:
    """`connected`, `differs` (another command is there), `broken`, `in part` (see `folders`), `found`, `not found`."""
    try:
        change = install(client, home, server)
        if change.before == change.after:
            return "connected"
        if _entry(client, change.file, change.before) is not None:
            return "differs"
        if folders(client, home):
            return "in part"
        return "found" if client.is_here(home) else "not found"
    except ClientError:
        return "broken"


def install(client: Client, home: Home, server: Server) -> Change:
    """The configuration with our entry in it; what else the user has put into that entry stays. Raises ClientError."""
    file = client.file(home)
    before = _read(file)
    text = _text(file, before)
    wanted = client.entry(server)
    old = _entry(client, file, before)
    if isinstance(old, dict) and "command" in old:
        kept = {key: value for key, value in dict(old.get(client.env) or {}).items() if key != DOCS}
        env = {**kept, **wanted.get(client.env, {})}
        wanted = {**old, **wanted, **({client.env: env} if env or client.env in old else {})}
        if old.get("enabled") is False:
            wanted["enabled"] = False  # whoever switched it off did so on purpose
    if old == wanted:
        return Change(file, before, before)
    after = _with(client, file, text, old, wanted)
    _check(client, file, text, after, wanted)
    return Change(file, before, after.encode())


def uninstall(client: Client, home: Home) -> Change:
    """The configuration without our entry: to the letter what it was, where nothing else has changed since; no file
    where there was none. Raises ClientError."""
    file = client.file(home)
    before = _read(file)
    old = _entry(client, file, before)
    if before is None or old is None:
        return Change(file, before, before)
    backup = _read(_backup(file))
    if backup is not None and _gives(client, file, backup, old, before):
        return Change(file, before, backup)
    text = _text(file, before)
    after = _without(client, file, text)
    _check(client, file, text, after, None)
    if backup is None and not any(_data(file, after).values()):
        own = {home.home, *map(home.named, home.env)}  # folders that the user named are the user's, however empty
        return Change(file, before, None, None if file.parent in own else file.parent)
    return Change(file, before, after.encode())


def _gives(client: Client, file: Path, backup: bytes, entry: Any, before: bytes) -> bool:
    """Whether putting the entry into the backup makes the file of today: then the backup is what was there."""
    try:
        text = _text(file, backup)
        return _entry(client, file, backup) is None and _with(client, file, text, None, entry).encode() == before
    except ClientError:
        return False


def diff(change: Change) -> str:
    """What a change does, as a unified diff of the lines that change and no others: those nearby may hold keys."""
    before, after = (
        (content or b"").decode("utf-8", "replace").splitlines() for content in (change.before, change.after)
    )
    names = (str(change.file) if change.before is not None else "(no file)", str(change.file))
    lines = difflib.unified_diff(before, after, *names, n=0, lineterm="")
    return "\n".join(line if len(line) <= MAX_LINE else line[:MAX_LINE] + "…" for line in lines)


def write(change: Change) -> Path | None:
    """Do it; the backup where one was made. Raises ClientError, with the file as it was."""
    target = change.file.resolve()  # a link into somebody's dotfiles stays one
    try:
        if _read(target) != change.before:
            raise ClientError(f"{change.file} has just been changed by somebody else: run this again.")
        if change.after is None:
            target.unlink()
            if change.folder:
                with suppress(OSError):  # it holds something: then it stays
                    change.folder.rmdir()
            return None
        backup = _backup(change.file)
        if change.before is None:
            target.parent.mkdir(parents=True, exist_ok=True)
            _replace(target, change.after, 0o600)  # whatever keys it gets to hold later
            return None
        mode = stat.S_IMODE(target.stat().st_mode)
        if _read(backup) == change.after:
            _replace(target, change.after, mode)
            backup.unlink()  # it is the file again
            return None
        _replace(backup, change.before, mode)
        _replace(target, change.after, mode)
        return backup
    except OSError as error:
        raise ClientError(f"{change.file} can't be changed: {error.strerror or error}.") from error


def _replace(file: Path, content: bytes, mode: int) -> None:
    handle, temporary = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(content)
        Path(temporary).chmod(mode)
        Path(temporary).replace(file)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise


def _backup(file: Path) -> Path:
    return file.with_name(file.name + BACKUP)


# --- reading and editing, JSON and TOML alike ---------------------------------------------------------------


def _read(file: Path) -> bytes | None:
    try:
        if file.exists() and not file.is_file():  # a pipe would be waited for
            raise ClientError(f"{file} is left alone, for it is no file: put one in its place, then run again.")
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ClientError(f"{file} can't be read: {error.strerror or error}.") from error


def _text(file: Path, content: bytes | None) -> str:
    try:
        return (content or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise ClientError(
            f"{file} is left alone, for it is no UTF-8 text: save it as UTF-8, then run again."
        ) from error


def _is_toml(file: Path) -> bool:
    return file.suffix == ".toml"


def _data(file: Path, text: str) -> dict[str, Any]:
    try:
        data = tomllib.loads(text.removeprefix("\ufeff")) if _is_toml(file) else jsonc.loads(text)
    except ValueError as error:  # BadJson and TOMLDecodeError
        kind = "TOML" if _is_toml(file) else "JSON"
        raise ClientError(f"{file} is left alone, for it is no {kind} ({error}): mend it, then run again.") from error
    if not isinstance(data, dict | None):
        raise ClientError(f"{file} is left alone, for it holds no object: mend it, then run again.")
    return data or {}


def _entry(client: Client, file: Path, content: bytes | None) -> Any:
    """Our entry as it stands there, or None."""
    servers = _data(file, _text(file, content)).get(client.key, {})
    if not isinstance(servers, dict):
        raise ClientError(f"{file} is left alone, for its {client.key!r} is no object: mend it, then run again.")
    return servers.get(NAME)


def _with(client: Client, file: Path, text: str, old: Any, entry: dict[str, Any]) -> str:
    if _is_toml(file):
        return _edit_toml(text, client.key, entry)
    if not isinstance(old, dict) or "command" not in old:
        return jsonc.put(text, (client.key, NAME), entry)
    for key, value in entry.items():
        if key not in old or old[key] != value:
            text = jsonc.put(text, (client.key, NAME, key), value)
    return text


def _without(client: Client, file: Path, text: str) -> str:
    return _edit_toml(text, client.key, None) if _is_toml(file) else jsonc.take(text, (client.key, NAME))


def _edit_toml(text: str, key: str, entry: dict[str, Any] | None) -> str:
    """Our table goes in at the end, which any TOML bears, and comes out line by line; nothing else is touched."""
    newline = "\r\n" if "\r\n" in text else "\n"
    if f"[{key}.{NAME}" in text:
        text = _without_table(text, re.compile(rf"[ \t]*\[{key}\.{NAME}[.\]]"))
    if entry is None:
        return text
    gap = "" if not text.strip() else newline if text.endswith("\n") else 2 * newline
    return text + gap + newline.join(_table((key, NAME), entry)) + newline


def _without_table(text: str, ours: re.Pattern[str]) -> str:
    kept: list[str] = []
    skipped: list[str] | None = None
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("["):
            if skipped and not ours.match(line):  # comments above the next table are its own
                own = next((n for n, held in enumerate(reversed(skipped)) if held.strip()[:1] not in ("", "#")), 0)
                kept += skipped[len(skipped) - own :]
            skipped = [] if ours.match(line) else None
        (kept if skipped is None else skipped).append(line)
    text = "".join(kept)
    return re.sub(r"(\r?\n)(?:\r?\n)+\Z", r"\1", text) if skipped else text


def _table(path: tuple[str, ...], table: Mapping[str, Any]) -> list[str]:
    lines = [f"[{'.'.join(map(_toml_key, path))}]"]
    lines += [f"{_toml_key(key)} = {_toml_value(value)}" for key, value in table.items() if not isinstance(value, dict)]
    for key, value in table.items():
        if isinstance(value, dict):
            lines += ["", *_table((*path, key), value)]
    return lines


def _toml_key(key: str) -> str:
    return key if re.fullmatch(r"[\w-]+", key, re.ASCII) else json.dumps(key, ensure_ascii=False)


def _toml_value(value: Any) -> str:
    """Texts, numbers, truths and lists of them are written as in JSON. What else there may be, `_check` refuses."""
    return json.dumps(value, ensure_ascii=False, default=str)


def _check(client: Client, file: Path, before: str, after: str, entry: dict[str, Any] | None) -> None:
    """Nothing but our entry may have changed: whatever an edit does to a file that nobody thought of, it stops here."""
    expected = json.loads(json.dumps(_data(file, before), default=str))
    servers = expected.setdefault(client.key, {})
    if entry is None:
        servers.pop(NAME, None)
    else:
        servers[NAME] = entry
    found: dict[str, Any] = {}
    with suppress(ClientError):
        found = {client.key: {}, **json.loads(json.dumps(_data(file, after), default=str))}
    if found != expected:
        raise ClientError(f"{file} is left alone, for it can't be edited safely: edit {client.key!r} by hand.")
