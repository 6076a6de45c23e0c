"""The library's tools behind the Model Context Protocol, over standard input and output; it sends spans of its own."""

from __future__ import annotations

import desk
import telemetry

try:
    from mcp.server.mcpserver import MCPServer
except ImportError:
    from mcp.server.fastmcp import FastMCP as MCPServer

with telemetry.recorded() as provider:
    telemetry.instrument_mcp(provider)
    server = MCPServer("catalogue")
    for function in desk.functions():
        server.add_tool(function)
    server.run()
