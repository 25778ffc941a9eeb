package entitlements_test

import data.fixture

issue(b, over) := r if {
	r := fixture.issue(over) with data.svc.entitlements.bindings as b
		with data.svc.registry.resource_types as fixture.registry
}

mine(binding, over) := issue(fixture.bind("crm", binding), over)

cc := {"grants": ["client_credentials"], "scopes": ["orders.read"]}

with_cc(binding) := object.union(cc, binding)

# ---- which bindings apply

test_bindings_of_client_registration_and_software_are_united if {
	b := {
		"clients": {"crm": {"grants": ["client_credentials"]}},
		"registrations": {"STATEMENT": {"scopes": ["orders.read"]}},
		"software": {"soft": {"scopes": ["orders.write"]}},
	}
	over := {
		"client": {"registration": "STATEMENT", "software_id": "soft", "statement": {"iss": "https://as.example", "verified": true, "claims": {}}},
		"scopes": {"requested": ["orders.read", "orders.write"]},
	}
	r := issue(b, over)
	r.allow
	r.scopes == ["orders.read", "orders.write"]
	r.matched_segments == ["binding:clients/crm", "binding:registrations/STATEMENT", "binding:software/soft"]
}

test_a_software_id_without_a_verified_statement_gives_nothing if {
	b := {"software": {"soft": cc}}
	issue(b, {"client": {"software_id": "soft", "statement": {"iss": "https://as.example", "verified": true, "claims": {}}}}).allow
	fixture.refused(issue(b, {"client": {"software_id": "soft"}}), "grant_not_entitled")
	fixture.refused(issue(b, {"client": {"software_id": "soft", "statement": {"iss": "https://as.example", "verified": false, "claims": {}}}}), "grant_not_entitled")
}

test_another_clients_binding_gives_nothing if {
	r := issue(fixture.bindings, {"client": {"id": "other"}})
	fixture.codes(r) == {"grant_not_entitled", "scope_not_entitled"}
}

test_the_binding_of_another_kind_of_registration_gives_nothing if {
	r := issue({"registrations": {"DCR": cc}}, {})
	fixture.refused(r, "grant_not_entitled")
}

test_a_grant_outside_the_binding_is_refused if {
	r := mine({"grants": ["authorization_code"], "scopes": ["orders.read"]}, {})
	fixture.codes(r) == {"grant_not_entitled"}
	r.deny_reasons[0].category == "grant"
}

test_a_broken_row_denies if {
	every row in [[], "x", false, null, {"clients": []}, {"clients": {"crm": []}}, {"clients": {"crm": false}}, {"clients": {"crm": {"grants": "client_credentials", "scopes": "orders.read"}}}] {
		r := issue(row, {})
		r.allow == false
		"grant_not_entitled" in fixture.codes(r)
	}
}

test_a_broken_scopes_list_of_a_binding_gives_nothing if {
	every scopes in ["orders.read", {"orders.read": 1}, null, true] {
		fixture.refused(mine({"grants": ["client_credentials"], "scopes": scopes}, {"scopes": {"requested": ["orders.read"]}}), "scope_not_entitled")
	}
}

# The top-level list restricts, so it denies if it cannot be read.
test_a_broken_scopes_restriction_denies if {
	every scopes in [[], "x", false, null, ["orders.read"]] {
		b := object.union(fixture.bindings, {"scopes": scopes})
		fixture.refused(issue(b, {}), "scope_not_entitled")
	}
	every entry in [false, null, [], "x", {}, {"groups": "corp/ops"}] {
		b := object.union(fixture.bindings, {"scopes": {"orders.read": entry}})
		fixture.refused(issue(b, {}), "scope_not_entitled")
	}
}

# ---- scopes reserved for groups

grouped := object.union(fixture.bindings, {"scopes": {"orders.read": {"groups": ["corp/ops"]}}})

user(groups) := {"subject": {"type": "user", "id": "alice", "idp": "corp", "claims": {"groups": groups}}}

test_a_user_in_the_group_gets_the_scope if {
	r := issue(grouped, user(["staff", "ops"]))
	r.scopes == ["orders.read"]
}

test_a_user_outside_the_group_does_not if {
	fixture.refused(issue(grouped, user(["staff"])), "scope_not_entitled")
	fixture.refused(issue(grouped, user([])), "scope_not_entitled")
}

test_a_group_of_another_provider_does_not if {
	other := object.union(user(["ops"]), {"subject": {"idp": "other"}})
	fixture.refused(issue(grouped, other), "scope_not_entitled")
}

test_a_client_subject_does_not if fixture.refused(issue(grouped, {}), "scope_not_entitled")

test_a_workload_that_claims_groups_does_not if {
	other := object.union(user(["ops"]), {"subject": {"type": "workload"}})
	fixture.refused(issue(grouped, other), "scope_not_entitled")
}

test_a_restriction_grants_nothing if {
	b := object.union(fixture.bindings, {"scopes": {"extra": {"groups": ["corp/ops"]}}})
	r := issue(b, object.union(user(["ops"]), {"scopes": {"requested": ["extra"]}}))
	fixture.refused(r, "scope_not_entitled")
}

# ---- bindings with resource types

test_a_typed_scope_needs_a_registered_type_that_is_named if {
	b := with_cc({"resource_types": ["urn:r:orders", "urn:r:stock"], "scopes": ["orders.read", "stock.read"]})
	asked := {"scopes": {"requested": ["orders.read", "stock.read"]}}
	all := mine(b, asked)
	all.scopes == ["orders.read", "stock.read"]
	one := mine(b, object.union(asked, {"resource": {"types": ["urn:r:stock"]}}))
	one.scopes == ["stock.read"]
	one.resource_types == ["urn:r:stock"]
	"urn:r:stock#stock.read" in one.matched_segments
}

test_a_typed_scope_that_the_registry_does_not_list_is_not_given if {
	b := with_cc({"resource_types": ["urn:r:stock"]})
	fixture.refused(mine(b, {}), "scope_not_entitled")
}

test_a_typed_scope_must_be_in_the_binding_too if {
	r := mine(with_cc({"resource_types": ["urn:r:orders"]}), {"scopes": {"requested": ["orders.read", "orders.write"]}})
	r.scopes == ["orders.read"]
}

always := ["openid", "profile", "email", "offline_access", "introspection", "uma_protection", "delegation_management", "authzen"]

test_a_binding_with_types_gives_the_scopes_that_belong_to_no_resource if {
	b := with_cc({"resource_types": ["urn:r:stock"], "scopes": array.concat(always, ["stock.read"])})
	every scope in always {
		mine(b, {"scopes": {"requested": [scope]}}).scopes == [scope]
		mine(b, {"scopes": {"requested": [scope]}, "resource": {"types": ["urn:r:stock"]}}).scopes == [scope]
		r := mine(with_cc({"resource_types": ["urn:r:stock"], "scopes": ["stock.read"]}), {"scopes": {"requested": [scope]}})
		fixture.refused(r, "scope_not_entitled")
	}
	mine(b, {"scopes": {"requested": ["openid", "stock.read", "address"]}}).scopes == ["openid", "stock.read"]
}

test_the_introspection_of_a_binding_with_types_shows_the_scopes_that_belong_to_no_resource if {
	b := fixture.bind("crm", with_cc({"resource_types": ["urn:r:stock"], "scopes": ["openid", "stock.read"]}))
	r := fixture.introspect({"baseline": {"scopes": ["openid", "stock.read", "email"]}}) with data.svc.entitlements.bindings as b
		with data.svc.registry.resource_types as fixture.registry
	r.allow
	r.scopes == ["openid", "stock.read"]
}

test_a_scope_that_belongs_to_no_resource_is_still_cut if {
	b := with_cc({"resource_types": ["urn:r:stock"], "scopes": ["openid", "email"]})
	mine(b, {"scopes": {"requested": ["openid", "email"], "ceiling": ["email"]}}).scopes == ["email"]
}

test_an_unverified_software_id_matches_no_segment if {
	b := object.union(fixture.bindings, {"software": {"soft": {}}})
	r := issue(b, {"client": {"software_id": "soft"}})
	r.matched_segments == ["binding:clients/crm"]
}

test_an_untyped_binding_gives_its_scopes_as_they_are if {
	b := {
		"clients": {"crm": {"grants": ["client_credentials"], "resource_types": ["urn:r:stock"]}},
		"registrations": {"ADMIN": {"scopes": ["orders.read"]}},
	}
	r := issue(b, {"resource": {"types": ["urn:r:stock"]}})
	r.scopes == ["orders.read"]
}

# ---- resources

named(indicator) := {"resource": {"indicator": indicator}}

test_a_listed_resource_is_entitled if {
	r := mine(with_cc({"resources": ["https://api.example/orders"]}), named("https://api.example/orders"))
	r.allow
	r.resource == "https://api.example/orders"
	r.resource_types == []
}

test_another_resource_is_not if {
	every indicator in ["https://api.example", "https://api.example/orders/1", "https://api.example/Orders", "https://evil.example", "urn:svc:gateway2", ""] {
		r := mine(with_cc({"resources": ["https://api.example/orders"]}), named(indicator))
		fixture.refused(r, "resource_not_entitled")
	}
}

test_a_client_without_resources_may_name_none if fixture.refused(mine(cc, named("https://api.example")), "resource_not_entitled")

test_an_empty_path_and_a_slash_are_one_resource if {
	mine(with_cc({"resources": ["https://api.example"]}), named("https://api.example/")).allow
	mine(with_cc({"resources": ["https://api.example/"]}), named("https://api.example")).allow
	mine(with_cc({"resources": ["http://api.example:8080/"]}), named("http://api.example:8080")).allow
}

test_any_other_trailing_slash_names_another_resource if {
	every pair in [
		["https://api.example/orders", "https://api.example/orders/"],
		["https://api.example/orders/", "https://api.example/orders"],
		["https://api.example/", "https://api.example//"],
		["https://api.example?a", "https://api.example?a/"],
		["https://api.example#a", "https://api.example#a/"],
		["urn:x", "urn:x/"],
		["https:", "https:/"],
		["https://", "https:///"],
	] {
		fixture.refused(mine(with_cc({"resources": [pair[0]]}), named(pair[1])), "resource_not_entitled")
	}
}

test_a_types_indicator_names_the_type if {
	r := mine(with_cc({"resource_types": ["urn:r:orders"]}), named("https://orders.example/"))
	r.allow
	r.resource == "https://orders.example/"
	r.resource_types == ["urn:r:orders"]
	r.matched_segments == ["binding:clients/crm", "urn:r:orders#orders.read"]
}

test_the_indicator_of_a_type_that_is_not_the_clients_is_refused if {
	fixture.refused(mine(with_cc({"resource_types": ["urn:r:stock"]}), named("https://orders.example")), "resource_not_entitled")
}

test_a_type_that_is_not_the_clients_is_refused if {
	r := mine(with_cc({"resource_types": ["urn:r:orders"]}), {"resource": {"types": ["urn:r:orders", "urn:r:stock"]}})
	fixture.codes(r) == {"resource_not_entitled"}
}

gateway := with_cc({"resources": ["urn:svc:gateway"]})

test_the_gateway_entitlement_covers_the_gateways_resources if {
	mine(gateway, named("https://as.example/gateway/mcp/notes")).allow
	mine(gateway, named("https://as.example/gateway/x")).allow
}

# gateway-admin.md 1.4
test_a_slash_at_the_end_of_an_address_below_the_gateway_changes_nothing if {
	every path in ["mcp", "mcp/notes", "x"] {
		bare := concat("", ["https://as.example/gateway/", path])
		mine(with_cc({"resources": [concat("", [bare, "/"])]}), named(bare)).allow
		mine(with_cc({"resources": [bare]}), named(concat("", [bare, "/"]))).allow
		fixture.refused(mine(with_cc({"resources": [concat("", [bare, "//"])]}), named(bare)), "resource_not_entitled")
		fixture.refused(mine(with_cc({"resources": [concat("", [bare, "/y"])]}), named(bare)), "resource_not_entitled")
	}
	fixture.refused(mine(with_cc({"resources": ["https://as.example/gateway/"]}), named("https://as.example/gateway/mcp")), "resource_not_entitled")
	fixture.refused(mine(with_cc({"resources": ["https://as.example/gateway/"]}), named("https://as.example/gateway")), "resource_not_entitled")
}

test_the_gateway_entitlement_covers_nothing_else if {
	every indicator in [
		"https://as.example/gateway", "https://as.example/gateway/", "https://as.example/gatewayx/y",
		"https://as.example.evil/gateway/x", "https://other.example/gateway/x",
		"https://as.example/gateway/../admin", "https://as.example/gateway/x/..", "https://as.example/gateway/./x",
		"https://as.example/gateway/%2e%2e/admin", "https://as.example/gateway/%2E./x",
		"https://as.example/gateway/..\\admin",
	] {
		fixture.refused(mine(gateway, named(indicator)), "resource_not_entitled")
	}
	fixture.refused(mine(cc, named("https://as.example/gateway/x")), "resource_not_entitled")
}

# A browser writes an address in one way, whatever the issuer's setting looks like (WHATWG URL; SDK of MCP).
test_the_gateways_resources_are_recognized_in_every_spelling_of_the_issuer if {
	every issuer in ["https://as.example", "https://AS.Example", "https://as.example:443", "HTTPS://as.example/"] {
		mine(gateway, object.union(named("https://as.example/gateway/mcp"), {"issuer": issuer})).allow
	}
	every issuer in ["https://as.example:8443", "http://as.example", "https://as.example/auth"] {
		r := mine(gateway, object.union(named("https://as.example/gateway/mcp"), {"issuer": issuer}))
		fixture.refused(r, "resource_not_entitled")
	}
	mine(gateway, object.union(named("https://as.example/auth/gateway/mcp"), {"issuer": "https://as.example/auth"})).allow
	every indicator in ["https://as.example/Gateway/mcp", "https://as.example:80/gateway/mcp", "https://as.example:4430/gateway/mcp"] {
		fixture.refused(mine(gateway, named(indicator)), "resource_not_entitled")
	}
}

# ---- scopes of managed resources

managed(patterns, asked, indicator) := mine(
	{"grants": ["client_credentials"], "scopes": ["openid", "mcp"], "gateway_scopes": patterns, "resources": ["urn:svc:gateway", "https://api.example"]},
	object.union({"scopes": {"requested": asked, "default": []}}, named(indicator)),
)

github := "https://as.example/gateway/mcp/github"

test_scopes_of_managed_resources_need_no_entry_each if {
	managed(["*"], ["mcp", "github:read", "x"], github).scopes == ["github:read", "mcp", "x"]
	managed(["github:*"], ["github:read", "github:write"], github).scopes == ["github:read", "github:write"]
}

test_a_pattern_grants_only_scopes_that_begin_so if {
	managed(["github:*"], ["github:read", "gitlab:read", "github", "xgithub:read"], github).scopes == ["github:read"]
	fixture.refused(managed(["github:*"], ["gitlab:read"], github), "scope_not_entitled")
	fixture.refused(managed([], ["github:read"], github), "scope_not_entitled")
}

test_a_pattern_counts_for_resources_behind_the_gateway_alone if {
	fixture.refused(managed(["*"], ["github:read"], "https://api.example"), "scope_not_entitled")
	fixture.refused(mine({"grants": ["client_credentials"], "gateway_scopes": ["*"]}, {"scopes": {"requested": ["github:read"], "default": []}}), "scope_not_entitled")
}

test_a_pattern_without_the_resource_of_the_gateway_is_told if {
	asked := {"scopes": {"requested": ["github:read"], "default": []}}
	told := mine({"grants": ["client_credentials"], "gateway_scopes": ["*"]}, object.union(asked, named(github)))
	some first in told.deny_reasons
	endswith(first.message, "its binding has gateway_scopes, but not the resource urn:svc:gateway")
	untold := {
		mine({"grants": ["client_credentials"]}, object.union(asked, named(github))),
		mine({"grants": ["client_credentials"], "gateway_scopes": []}, object.union(asked, named(github))),
		mine({"grants": ["client_credentials"], "gateway_scopes": ["*"]}, object.union(asked, named("https://api.example"))),
		managed(["*"], ["github:read"], "https://other.example"),
	}
	every answer in untold {
		some reason in answer.deny_reasons
		reason.message == "the client is not entitled to this resource"
	}
}

# A token with one of these would open an endpoint of the service.
test_no_pattern_grants_a_scope_of_the_services_own_endpoints if {
	every s in ["introspection", "uma_protection", "delegation_management", "authzen", "offline_access", "profile"] {
		fixture.refused(managed(["*"], [s], github), "scope_not_entitled")
	}
}

test_a_pattern_without_an_asterisk_or_of_a_wrong_type_grants_nothing if {
	every patterns in [["github:read"], ["*read"], [""], "*", [["*"]], [null]] {
		fixture.refused(managed(patterns, ["github:read"], github), "scope_not_entitled")
	}
}

test_a_scope_for_groups_needs_the_group_whatever_the_pattern if {
	restricted := object.union(
		fixture.bind("crm", {"grants": ["client_credentials"], "gateway_scopes": ["*"], "resources": ["urn:svc:gateway"]}),
		{"scopes": {"github:write": {"groups": ["corp/dev"]}}},
	)
	r := fixture.issue(object.union({"scopes": {"requested": ["github:read", "github:write"], "default": []}}, named(github))) with data.svc.entitlements.bindings as restricted
		with data.svc.registry.resource_types as fixture.registry
	r.scopes == ["github:read"]
}

test_a_binding_with_types_grants_the_base_scope if {
	r := mine(
		{"grants": ["client_credentials"], "scopes": ["mcp"], "resource_types": ["urn:r:orders"], "resources": ["urn:svc:gateway"]},
		object.union({"scopes": {"requested": ["mcp"], "default": []}}, named(github)),
	)
	r.scopes == ["mcp"]
}

# ---- software statements

statement(claims, over) := mine(
	{"grants": ["client_credentials"], "scopes": ["orders.read", "orders.write", "stock.read"], "resources": ["https://api.example", "urn:svc:gateway"]},
	object.union({"client": {"registration": "STATEMENT", "statement": {"iss": "https://pub.example", "verified": true, "claims": claims}}}, over),
)

test_a_statement_without_claims_limits_nothing if statement({}, {}).allow

test_a_statements_grants_limit_the_grants if {
	statement({"grants": ["client_credentials"]}, {}).allow
	every grants in [["authorization_code"], [], "client_credentials"] {
		fixture.refused(statement({"grants": grants}, {}), "grant_not_entitled")
	}
}

test_a_statements_scope_limits_the_scopes if {
	asked := {"scopes": {"requested": ["orders.read", "orders.write"]}}
	statement({"scope": "orders.write openid"}, asked).scopes == ["orders.write"]
	fixture.refused(statement({"scope": ""}, asked), "scope_not_entitled")
	fixture.refused(statement({"scope": "orders"}, asked), "scope_not_entitled")
}

test_a_statements_resources_limit_indicators if {
	statement({"resources": ["https://api.example/"]}, named("https://api.example")).allow
	fixture.refused(statement({"resources": ["https://other.example"]}, named("https://api.example")), "resource_not_entitled")
	fixture.refused(statement({"resources": []}, named("https://api.example")), "resource_not_entitled")
}

test_a_statements_resources_limit_the_gateway if {
	statement({"resources": ["urn:svc:gateway"]}, named("https://as.example/gateway/x")).allow
	statement({"resources": ["https://as.example/gateway/x"]}, named("https://as.example/gateway/x")).allow
	fixture.refused(statement({"resources": ["https://as.example/gateway/y"]}, named("https://as.example/gateway/x")), "resource_not_entitled")
}

typed_statement(claims, over) := mine(
	{"grants": ["client_credentials"], "scopes": ["orders.read"], "resource_types": ["urn:r:orders"]},
	object.union({"client": {"registration": "STATEMENT", "statement": {"iss": "https://pub.example", "verified": true, "claims": claims}}}, over),
)

test_a_statements_resources_limit_types if {
	typed := {"resource": {"types": ["urn:r:orders"]}}
	typed_statement({"resources": ["urn:r:orders"]}, typed).allow
	typed_statement({"resources": ["https://orders.example"]}, typed).allow
	typed_statement({"resources": ["urn:r:orders"]}, named("https://orders.example")).allow
	fixture.refused(typed_statement({"resources": ["urn:r:stock"]}, typed), "resource_not_entitled")
	fixture.refused(typed_statement({"resources": ["urn:r:stock"]}, named("https://orders.example")), "resource_not_entitled")
}

test_a_statement_limits_only_statement_clients if {
	r := mine(cc, {"client": {"registration": "ADMIN", "statement": {"verified": true, "claims": {"grants": [], "scope": "", "resources": []}}}})
	r.allow
}
