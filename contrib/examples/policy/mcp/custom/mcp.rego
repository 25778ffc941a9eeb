# Calls of MCP that a gateway of others asks about. What a person may do stands in the row svc.operator.controls.authzen; which tools
# an agent may call for anyone stands in the row example.mcp.agents. The gateway sends the client of the token as context.agent.
package custom.authzen

deny contains "the agent may not call this tool" if {
	input.authzen.action.name == "tools/call"
	not agent_has_tool
}

agent_has_tool if {
	input.authzen.resource.type == "tool"
	input.authzen.resource.id in data.example.mcp.agents[input.authzen.context.agent].tools
}
