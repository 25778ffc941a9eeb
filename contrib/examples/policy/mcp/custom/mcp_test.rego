package custom.mcp_test

reader := {
	"mcp_server": ["initialize", "server/discover", "tools/list", "resources/list", "resources/templates/list", "prompts/list"],
	"resource": ["resources/read"],
	"prompt": ["prompts/get", "completion/complete"],
}

# As the shipped row, which another recipe may have replaced.
row := {
	"roles": {"mcp_reader": reader, "mcp_caller": {"tool": ["tools/call"]}},
	"subjects": {"identity": {"alice": {"roles": ["mcp_reader", "mcp_caller"]}, "bob": {"roles": ["mcp_reader"]}}},
}

permitted(subject, agent, method, type, id) if {
	answer := data.svc.controls.authzen.answer with input as {"evaluation": "authzen", "authzen": {
		"subject": {"type": "identity", "id": subject},
		"action": {"name": method},
		"resource": {"type": type, "id": id},
		"context": {"agent": agent},
	}}
		with data.svc.operator.controls.authzen as row
	answer.allow
}

server := "https://mcp.example/mcp"

test_a_caller_calls_tools_of_the_agent if permitted("alice", "assistant", "tools/call", "tool", "list_orders")

test_an_agent_has_no_tool_of_another if {
	not permitted("alice", "assistant", "tools/call", "tool", "cancel_order")
	permitted("alice", "backoffice", "tools/call", "tool", "cancel_order")
}

test_an_unknown_agent_calls_nothing if not permitted("alice", "unknown", "tools/call", "tool", "list_orders")

test_a_call_of_no_tool_is_denied if not permitted("alice", "assistant", "tools/call", "prompt", "list_orders")

test_a_reader_calls_nothing if not permitted("bob", "backoffice", "tools/call", "tool", "list_orders")

test_a_reader_reads if {
	permitted("bob", "assistant", "tools/list", "mcp_server", server)
	permitted("bob", "assistant", "resources/read", "resource", "file:///orders")
	permitted("bob", "assistant", "prompts/get", "prompt", "summary")
	permitted("bob", "assistant", "completion/complete", "prompt", "summary")
}

test_unknown_methods_are_denied if {
	not permitted("alice", "backoffice", "tools/remove", "tool", "list_orders")
	not permitted("alice", "backoffice", "logging/setLevel", "mcp_server", server)
}

test_a_stranger_gets_nothing if {
	not permitted("mallory", "backoffice", "tools/list", "mcp_server", server)
	not permitted("mallory", "backoffice", "tools/call", "tool", "list_orders")
}
