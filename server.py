"""Door to the MCP server:  claude mcp add pgdocs -- /path/to/.venv/bin/python /path/to/server.py

Behind it: pgdocs/serve/mcp_server.py (tools, resources, prompt, completion), over the index of pgdocs/search.
"""

from __future__ import annotations

from pgdocs.serve.mcp_server import instructions, main, make_server

__all__ = ["instructions", "main", "make_server"]

if __name__ == "__main__":
    main()
