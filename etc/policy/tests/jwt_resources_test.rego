# The control `jwt_resources` (world.md T1, T3): the resources that the row names have JWTs, and what stays opaque.
package jwt_resources_test

import data.fixture

bound := fixture.bind("crm", {
	"grants": ["client_credentials", "authorization_code"],
	"scopes": ["orders.read", "mcp", "introspection", "authzen"],
	"resources": ["https://api.example", "https://api.example/", "https://api.example/orders"],
})

asking(indicator, over) := object.union({"resource": {"indicator": indicator}}, over)

issue(indicator, row, over) := r if {
	r := fixture.issue(asking(indicator, over)) with data.svc.entitlements.bindings as bound
		with data.svc.registry.jwt_resources as row
	r.allow
}

named := {"https://api.example": {}}

plain := {"alg": "ES256", "ttl": 60, "claims": []}

test_the_shipped_row_names_no_resource if {
	r := fixture.issue(asking("https://api.example", {})) with data.svc.entitlements.bindings as bound
	r.allow
	r.jwt == {}
	r.opaque == []
}

test_a_named_resource_has_jwts if {
	issue("https://api.example", named, {}).jwt == plain
	issue("https://api.example", {"https://api.example": {"alg": "RS256", "ttl": 600, "claims": ["acr"]}}, {}).jwt == {
		"alg": "RS256", "ttl": 600, "claims": ["acr"],
	}
}

# oauth.md 2.7
test_the_slash_of_an_empty_path_does_not_matter_and_any_other_does if {
	issue("https://api.example/", named, {}).jwt == plain
	issue("https://api.example", {"https://api.example/": {}}, {}).jwt == plain
	issue("https://api.example/orders", named, {}).jwt == {}
	issue("https://api.example/orders", {"https://api.example/orders/": {}}, {}).jwt == {}
}

test_a_token_without_a_resource_is_opaque if {
	r := fixture.issue({}) with data.svc.entitlements.bindings as bound with data.svc.registry.jwt_resources as named
	r.allow
	r.jwt == {}
	r.opaque == []
}

test_other_clients_get_opaque_tokens if {
	issue("https://api.example", {"https://api.example": {"clients": ["crm"]}}, {}).jwt == plain
	every clients in [["shop"], [], "crm", null, {"crm": {}}] {
		r := issue("https://api.example", {"https://api.example": {"clients": clients}}, {})
		r.jwt == {}
	}
}

test_a_row_of_the_wrong_type_has_no_jwts if {
	every row in [[], null, "x", {"https://api.example": null}, {"https://api.example": []}, {"https://api.example": "x"}] {
		r := issue("https://api.example", row, {})
		object.get(r, "jwt", {}) in [{}, plain]
	}
}

test_two_equal_keys_are_no_jwts if {
	issue("https://api.example", {"https://api.example": {"ttl": 10}, "https://api.example/": {"ttl": 20}}, {}).jwt == {}
}

opaque(r, why) if {
	r.allow
	r.jwt == {}
	r.opaque == [why]
}

test_a_single_use_token_is_opaque if {
	r := fixture.issue(asking("https://api.example", {})) with data.svc.entitlements.bindings as fixture.bind("crm", object.union(bound.clients.crm, {"jit_single_use": true}))
		with data.svc.registry.jwt_resources as named
	opaque(r, "jit_single_use")
}

test_a_token_with_an_obligation_is_opaque if {
	r := fixture.issue(asking("https://api.example", {})) with data.svc.entitlements.bindings as bound
		with data.svc.registry.jwt_resources as named
		with data.custom.issue.obligations as {"log": [{"id": "o1", "type": "log"}]}
	opaque(r, "obligation")
}

test_a_token_with_a_scope_of_the_service_is_opaque if {
	every scope in ["mcp", "introspection", "authzen"] {
		opaque(issue("https://api.example", named, {"scopes": {"requested": ["orders.read", scope], "default": []}}), "scope")
	}
}

test_a_rule_keeps_tokens_opaque if {
	every reason in ["partner", {"code": "partner"}] {
		r := fixture.issue(asking("https://api.example", {})) with data.svc.entitlements.bindings as bound
			with data.svc.registry.jwt_resources as named
			with data.custom.issue.opaque as {reason}
		opaque(r, {"partner": "partner", {"code": "partner"}: "custom.issue.opaque"}[reason])
	}
}

test_a_reason_is_given_only_where_there_would_be_a_jwt if {
	r := fixture.issue(asking("https://api.example/orders", {})) with data.svc.entitlements.bindings as bound
		with data.svc.registry.jwt_resources as named
		with data.custom.issue.opaque as {"partner"}
	r.allow
	r.opaque == []
}

test_a_hook_of_the_wrong_type_denies if {
	every hook in [false, true, null, 1, "x", ["x"], {"x": 1}] {
		r := fixture.issue({}) with data.svc.entitlements.bindings as bound with data.custom.issue.opaque as hook
		fixture.refused(r, "hook_invalid")
	}
}

test_a_denial_has_neither if {
	r := fixture.issue(asking("https://api.example", {})) with data.svc.registry.jwt_resources as named
	r.allow == false
	r.jwt == {}
	r.opaque == []
}
