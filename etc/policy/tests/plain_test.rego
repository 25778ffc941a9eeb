# The plain case of each entrypoint does not apply if anything but the plain is requested or configured.
# The fixture compares its answer with the general one; here each of its lines meets an input that it
# alone excludes.
package plain_test

import data.fixture

issue(b, over) := r if {
	r := fixture.issue(over) with data.svc.entitlements.bindings as b
		with data.svc.registry.resource_types as fixture.registry
}

introspect(b, over) := r if {
	r := fixture.introspect(over) with data.svc.entitlements.bindings as b
		with data.svc.registry.resource_types as fixture.registry
}

statement := {"client": {"registration": "STATEMENT", "statement": {"verified": true, "claims": {"scope": "orders.write"}}}}

registered := object.union(fixture.bindings, {"registrations": {"ADMIN": {}}})

typed := fixture.bind("crm", {
	"grants": ["client_credentials"], "scopes": ["orders.read", "orders.write"], "resource_types": ["urn:r:stock"],
})

malformed := object.union(fixture.bindings, {"scopes": ["orders.read"]})

test_issue_type if fixture.refused(issue(fixture.bindings, {"client": {"type": "public"}}), "client_type_not_allowed")

# Detected by an answer that differs from `general`.
taken(over) := r.allow if {
	doc := object.union(fixture.issue_input, over)
	r := data.svc.decision.issue.result with input as doc
		with data.svc.entitlements.bindings as fixture.bind("crm", {
			"grants": ["client_credentials", "authorization_code", "refresh_token"],
			"scopes": ["orders.read", "orders.write"],
		})
		with data.svc.decision.issue.general as {"allow": "general", "scopes": []}
}

user := {"type": "user", "id": "alice", "iss": "https://idp.example", "idp": "corp", "claims": {}}

test_issue_is_plain_for_users if {
	every type in ["confidential", "public"] {
		every grant in ["authorization_code", "refresh_token"] {
			taken({"client": {"type": type}, "request": {"grant_type": grant}, "subject": user}) == true
		}
	}
}

test_issue_is_plain_under_a_ceiling if {
	taken({"scopes": {"ceiling": ["orders.read"]}}) == true
	taken({"scopes": {"requested": ["orders.write", "orders.read"], "ceiling": ["orders.read", "x", "orders.write"]}}) == true
}

test_issue_ceiling if {
	every ceiling in [[], ["orders.write"], ["orders"], {"orders.read": "x"}, "orders.read", false, null] {
		taken({"scopes": {"ceiling": ceiling}}) == "general"
	}
	taken({"scopes": {"requested": ["orders.read", "orders.write"], "ceiling": ["orders.read"]}}) == "general"
	r := issue(fixture.bindings, {"scopes": {"requested": ["orders.read", "orders.write"], "ceiling": ["orders.read"]}})
	r.scopes == ["orders.read"]
	fixture.refused(issue(fixture.bindings, {"scopes": {"ceiling": ["orders.write"]}}), "scope_not_entitled")
}

test_issue_scopes_that_are_no_list if {
	taken({"scopes": {"requested": {"a": "orders.read"}}}) == "general"
}

test_issue_resource if fixture.refused(issue(fixture.bindings, {"resource": {"types": ["urn:r:orders"]}}), "resource_not_entitled")

test_issue_details if fixture.refused(issue(fixture.bindings, {"authorization_details": [{"type": "payment"}]}), "rar_not_entitled")

test_issue_statement if fixture.refused(issue(fixture.bindings, statement), "scope_not_entitled")

test_issue_registration if {
	issue(registered, {}).matched_segments == ["binding:clients/crm", "binding:registrations/ADMIN"]
}

test_issue_typed_binding if fixture.refused(issue(typed, {}), "scope_not_entitled")

test_issue_malformed_restriction if fixture.refused(issue(malformed, {}), "scope_not_entitled")

test_introspect_type if {
	fixture.refused(introspect(fixture.bindings, {"client": {"type": "public"}}), "client_type_not_allowed")
}

test_introspect_resource_type if {
	fixture.refused(introspect(fixture.bindings, {"baseline": {"resource_types": ["urn:r:orders"]}}), "resource_not_entitled")
}

test_introspect_resource if {
	fixture.refused(introspect(fixture.bindings, {"baseline": {"resource": "https://api.example/orders"}}), "resource_not_entitled")
}

test_introspect_details if {
	fixture.refused(introspect(fixture.bindings, {"baseline": {"authorization_details": [{"type": "payment"}]}}), "rar_not_entitled")
}

test_introspect_statement if {
	introspect(fixture.bindings, statement).scopes == ["orders.write"]
}

test_introspect_registration if {
	introspect(registered, {}).matched_segments == ["binding:clients/crm", "binding:registrations/ADMIN"]
}

test_introspect_typed_binding if fixture.refused(introspect(typed, {}), "policy_changed")

test_introspect_malformed_restriction if fixture.refused(introspect(malformed, {}), "policy_changed")

test_introspect_row if {
	every row in [{"allow_callers": ["other"]}, {"allow_callers": ["other"], "require_audience": true}] {
		r := fixture.introspect({}) with data.svc.entitlements.bindings as fixture.bindings
			with data.svc.operator.controls.introspection as row
		fixture.refused(r, "caller_not_allowed")
	}
}

# `general` is the reference, so the plain case must not be stricter either.
test_introspect_context_of_a_token_without_resource if {
	r := introspect(fixture.bindings, {"context": {"resource": "https://x.example", "resource_type": "urn:r:orders", "scopes": ["orders.read"]}})
	r.allow
	r.scopes == ["orders.read"]
}
