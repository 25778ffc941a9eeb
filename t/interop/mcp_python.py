"""An MCP server of FastMCP or of the MCP SDK for Python, at /mcp/ with the final slash. Settings: PORT, KIND (fastmcp, sdk)."""

import os

KIND, PORT, PATH = os.environ["KIND"], int(os.environ["PORT"]), "/mcp/"
if KIND == "fastmcp":
    from fastmcp import FastMCP

    server = FastMCP("desk")
else:
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("desk")


@server.tool()
def echo(text: str) -> str:
    """Say the same."""
    return text


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


if KIND == "fastmcp":
    server.run(transport="http", host="127.0.0.1", port=PORT, path=PATH, show_banner=False)
else:
    server.run(transport="streamable-http", host="127.0.0.1", port=PORT, streamable_http_path=PATH)
