# Inputs, bindings and helpers that the tests share.
package fixture

issue_input := {
	"schema": 1,
	"evaluation": "issue",
	"issuer": "https://as.example",
	"request": {
		"id": "req-1", "flow_id": "flow-1", "endpoint": "/token", "grant_type": "client_credentials",
		"token_type": "access_token", "default_ttl": 3600,
		"now": 1795172400, "time_ns": 1795172400000000000, "time": "2026-11-20T11:00:00Z",
	},
	"client": {
		"id": "crm", "type": "confidential", "registration": "ADMIN",
		"auth_method": "client_secret_basic", "enabled": true,
	},
	"subject": {"type": "client", "id": "crm"},
	"scopes": {"requested": ["orders.read"], "default": []},
	"environment": {"ip": "192.0.2.7", "dpop": {"present": false, "valid": false, "required": false}},
	"baseline": null,
}

introspect_input := {
	"schema": 1,
	"evaluation": "introspect",
	"issuer": "https://as.example",
	"request": {
		"id": "req-2", "flow_id": "flow-1", "endpoint": "/introspect",
		"now": 1795172460, "time_ns": 1795172460000000000, "time": "2026-11-20T11:01:00Z",
	},
	"client": issue_input.client,
	"token": {
		"kind": "access_token", "iat": 1795172400, "exp": 1795176000,
		"scopes": ["orders.read", "orders.write"], "jit_single_use": false,
	},
	"baseline": {
		"allow": true, "scopes": ["orders.read", "orders.write"], "deny_reasons": [],
		"matched_segments": ["binding:clients/crm"], "revision": "r1-0123456789ab",
	},
	"issued": {
		"client": issue_input.client, "subject": issue_input.subject,
		"scopes": issue_input.scopes, "environment": issue_input.environment,
		"grant_type": "client_credentials",
	},
	"caller": {"client_id": "shop", "registration": "ADMIN", "type": "confidential", "auth_method": "client_secret_basic"},
	"context": {},
}

register_input := {
	"schema": 1,
	"evaluation": "register",
	"issuer": "https://as.example",
	"request": {
		"id": "req-3", "endpoint": "/register",
		"now": 1795172400, "time_ns": 1795172400000000000, "time": "2026-11-20T11:00:00Z",
	},
	"registration": {
		"mode": "plain",
		"redirect_uris": [{"uri": "https://app.example/cb", "scheme": "https", "loopback": false}],
		"grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
		"token_endpoint_auth_method": "client_secret_basic", "scope": "orders.read", "client_name": "App",
	},
	"environment": {"ip": "192.0.2.7"},
}

admin_input := {
	"schema": 1,
	"evaluation": "admin",
	"issuer": "https://as.example",
	"request": {
		"id": "req-6", "endpoint": "/admin/api/clients/{clientId}",
		"now": 1795172400, "time_ns": 1795172400000000000, "time": "2026-11-20T11:00:00Z",
	},
	"admin": {"role": "operator", "session": true},
	"subject": {"type": "user", "id": "ann", "idp": "corp", "claims": {"groups": ["ops"]}},
	"action": {
		"operation": "updateClient", "method": "PUT", "path": "/admin/api/clients/team-a", "values": ["team-a"],
	},
	"environment": {"ip": "192.0.2.7", "tls": true},
}

authzen_input := {
	"schema": 1,
	"evaluation": "authzen",
	"issuer": "https://as.example",
	"request": {
		"id": "req-4", "endpoint": "/access/v1/evaluation",
		"now": 1795172400, "time_ns": 1795172400000000000, "time": "2026-11-20T11:00:00Z",
	},
	"caller": {"client_id": "pep", "registration": "ADMIN", "type": "confidential", "auth_method": "client_secret_basic"},
	"authzen": {
		"subject": {"type": "user", "id": "alice"}, "action": {"name": "write"},
		"resource": {"type": "todo", "id": "t1"},
	},
	"environment": {"ip": "192.0.2.7"},
}

gateway_input := {
	"schema": 1,
	"evaluation": "gateway",
	"issuer": "https://as.example",
	"request": {
		"id": "req-5", "flow_id": "flow-1", "endpoint": "/gateway/mcp",
		"now": 1795172460, "time_ns": 1795172460000000000, "time": "2026-11-20T11:01:00Z",
		"mcp": {"version": "2026-07-28", "method": "tools/call"},
	},
	"client": {"id": "https://app.example/c.json", "type": "public", "registration": "CIMD", "auth_method": "none", "enabled": true},
	"subject": {"type": "user", "id": "alice", "idp": "corp"},
	"token": {
		"scopes": ["mcp", "github:write"], "resource": "https://as.example/gateway/mcp",
		"iat": 1795172400, "exp": 1795176000, "bound": false,
	},
	"resource": {"name": "github", "upstreamType": "REST", "status": "active", "linked": true},
	"action": {
		"kind": "tool", "name": "create_issue", "route": "create-issue", "method": "POST",
		"path": "/repos/a/b/issues", "requiredScopes": ["github:write"],
	},
	"arguments": {"owner": "a", "repo": "b", "title": "x"},
	"environment": {"ip": "192.0.2.7", "tls": true},
}

# A decision of the gateway.
gateway(over) := gateway_without(over, [])

gateway_without(over, paths) := answer if {
	doc := json.remove(object.union(gateway_input, over), paths)
	answer := wire(data.svc.decision.gateway.result) with input as doc
}

# The question about tools of two resources, the second of which does not serve.
gateway_tools_input(held, tools) := object.union(
	object.remove(gateway_input, ["resource", "action", "arguments", "token"]),
	{
		"evaluation": "gateway_tools",
		"token": object.union(gateway_input.token, {"scopes": held}),
		"resources": [
			gateway_input.resource,
			{"name": "old", "upstreamType": "MCP", "status": "error"},
		],
		"tools": tools,
	},
)

# A row by which alice may write todos.
roles := {
	"roles": {"editor": {"todo": ["read", "write"]}},
	"subjects": {"user": {"alice": {"roles": ["editor"]}}},
}

# A registration with a software statement of an issuer; claims may be replaced.
stated(claims) := {
	"registration": {"mode": "statement", "software_id": "soft"},
	"statement": {"iss": "https://statements.example", "verified": true, "claims": claims},
}

bindings := {
	"clients": {
		"crm": {"grants": ["client_credentials"], "scopes": ["orders.read", "orders.write"]},
		"pep": {"endpoints": ["authzen"], "scopes": ["authzen"]},
		"shop": {"endpoints": ["introspect"], "resources": ["https://api.example/orders"], "resource_types": ["urn:r:orders"]},
	},
	"registrations": {},
	"software": {},
	"scopes": {},
}

registry := {
	"resource": {"types": {
		"urn:r:orders": {"scopes": ["orders.read", "orders.write"], "indicator": "https://orders.example"},
		"urn:r:stock": {"scopes": ["stock.read"], "default_ttl": 120},
	}},
	"rar": {"types": {"payment": {"actions": ["initiate"]}}},
}

# The bindings, with those of one client replaced.
bind(client, binding) := json.patch(bindings, [{"op": "add", "path": ["clients", client], "value": binding}])

# A client with all types of the registry, and with the resources that the tests name.
wide := bind("crm", {
	"grants": ["client_credentials"],
	"scopes": ["orders.read", "orders.write", "stock.read"],
	"resource_types": ["urn:r:orders", "urn:r:stock"],
	"resources": ["https://api.example", "https://api.example/orders"],
})

# Decisions, with the members that an answer leaves out put back. The members of `over` replace those of
# the fixture; those of `without` are removed. A decision is undefined, and so the test fails, if the
# plain case and the general one differ.
issue(over) := issue_without(over, [])

issue_without(over, without) := answer if {
	doc := json.remove(object.union(issue_input, over), without)
	answer := object.union({"jwt": {}, "opaque": []}, full(wire(data.svc.decision.issue.result))) with input as doc
	answer == wire(data.svc.decision.issue.general) with input as doc
	reasons := data.svc.decision.issue.deny with input as doc
	agree(answer.allow, count(reasons))
}

introspect(over) := introspect_without(over, [])

introspect_without(over, without) := answer if {
	doc := json.remove(object.union(introspect_input, over), without)
	answer := full(wire(data.svc.decision.introspect.result)) with input as doc
	answer == object.union(silent, wire(data.svc.decision.introspect.general)) with input as doc
}

register(over) := register_without(over, [])

register_without(over, without) := answer if {
	doc := json.remove(object.union(register_input, over), without)
	answer := object.union({"grant_types": []}, full(wire(data.svc.decision.register.result))) with input as doc
	reasons := data.svc.decision.register.deny with input as doc
	agree(answer.allow, count(reasons))
}

# An access decision as the service reads it, and the one of the same request as the only one of a batch.
evaluate(over) := answer if {
	doc := object.union(authzen_input, over)
	answer := wire(data.svc.decision.authzen.result) with input as doc
	batched([answer], wire(data.svc.decision.authzen_batch.result)) with input as batch(doc, [doc.authzen])
}

batched([answer], whole) if whole == {"allow": true, "evaluations": [answer]}

batched([answer], whole) if whole == answer

batch(doc, requests) := object.union(
	object.filter(doc, object.keys(doc) - {"authzen"}),
	{"evaluation": "authzen_batch", "authzen": {"evaluations": requests}},
)

agree(false, _)

agree(true, 0)

# An answer has `allow` and `scopes`, and these unless they are empty.
silent := {
	"resource": null, "resource_types": [], "authorization_details": [], "expires_in_override": null,
	"jit_single_use": false, "refresh": false, "obligations": {}, "deny_reasons": [],
	"matched_segments": [], "extensions": {}, "claims": {},
}

full(answer) := object.union(silent, answer) if {
	is_boolean(answer.allow)
	is_array(answer.scopes)
	every name, value in silent {
		not object.get(answer, name, "absent") == value
	}
}

# The answer as the service reads it: sets are arrays.
wire(value) := json.unmarshal(json.marshal(value))

codes(answer) := {r.code | some r in answer.deny_reasons}

refused(answer, code) if {
	answer.allow == false
	code in codes(answer)
}

# The shipped schemas with each reference replaced by the definition that it refers to. A definition may
# refer to others that refer to none.
schemas[key] := resolved(json.remove(schema, ["$defs"]), definitions) if {
	some key, schema in data.shipped.schemas
	simple := object.get(schema, "$defs", {})
	definitions := {name: resolved(definition, simple) | some name, definition in simple}
}

resolved(body, definitions) := json.patch(body, [{"op": "replace", "path": path, "value": definitions[name]} |
	walk(body, [path, value])
	name := trim_prefix(value["$ref"], "#/$defs/")
])
