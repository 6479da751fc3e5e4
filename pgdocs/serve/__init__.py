"""From search results to agents and people: MCP, the shell, and the guard in between."""
