# The control exchange, and the part of the control trust that concerns exchanged tokens.
package exchange_test

import data.fixture

urn := "urn:ietf:params:oauth:grant-type:token-exchange"

given := {
	"request": {"grant_type": urn},
	"client": {"id": "gate"},
	"subject": {"type": "user", "id": "alice", "iss": "https://idp.example", "idp": "corp", "claims": {}},
	"actor": {"type": "client", "id": "gate"},
	"act": {"sub": "gate"},
	"subject_token": {"type": "access_token", "client_id": "web", "scopes": ["orders.read", "orders.write"]},
	"scopes": {"requested": ["orders.read"], "default": [], "ceiling": ["orders.read", "orders.write"]},
}

bindings := fixture.bind("gate", {
	"grants": [urn], "scopes": ["orders.read", "orders.write"], "resource_types": [],
	"resources": ["https://api.example/orders"],
})

answer(over, row) := r if {
	r := fixture.issue(object.union(given, over)) with data.svc.entitlements.bindings as bindings
		with data.svc.registry.resource_types as fixture.registry
		with data.svc.operator.controls.exchange as row
}

allowed(over, row) if {
	r := answer(over, row)
	r.allow == true
	r.scopes == ["orders.read"]
}

denied(over, row, code) if {
	r := answer(over, row)
	fixture.refused(r, code)
	r.scopes == []
}

with_entry(entry) := {"allowed": [object.union(
	{
		"actor": "gate", "resource_types": [], "scopes": ["orders.read", "orders.write"],
	},
	entry,
)]}

test_an_exchange_within_the_binding_is_allowed if {
	allowed({}, {})
	allowed({}, {"allowed": [], "max_depth": 4, "require_may_act": false})
}

test_without_the_row_nobody_may_act if {
	r := fixture.issue(given) with data.svc.entitlements.bindings as bindings
		with data.svc.operator.controls as {"lifetime": {}, "environment": {}, "client": {}}
	fixture.refused(r, "actor_not_allowed")
}

test_the_grant_of_the_binding_is_the_permission if {
	other := fixture.bind("gate", {"grants": ["client_credentials"], "scopes": ["orders.read"]})
	r := fixture.issue(given) with data.svc.entitlements.bindings as other
	fixture.refused(r, "grant_not_entitled")
}

test_the_bindings_of_the_actor_limit_the_scopes if {
	less := fixture.bind("gate", {"grants": [urn], "scopes": ["orders.write"]})
	r := fixture.issue(given) with data.svc.entitlements.bindings as less
	fixture.refused(r, "scope_not_entitled")
}

test_no_refresh_token_comes_with_an_exchange if {
	renewing := fixture.bind("gate", {"grants": [urn, "refresh_token"], "scopes": ["orders.read"]})
	r := fixture.issue(given) with data.svc.entitlements.bindings as renewing
	r.allow == true
	r.refresh == false
}

# ---- allowed

test_one_entry_must_match if {
	allowed({}, with_entry({}))
	allowed({}, with_entry({"subject_client": "web"}))
	allowed({}, {"allowed": [with_entry({"actor": "x"}).allowed[0], with_entry({}).allowed[0]]})
	every entry in [{"actor": "web"}, {"subject_client": "gate"}, {"scopes": ["orders.write"]}, {"scopes": []}] {
		denied({}, with_entry(entry), "actor_not_allowed")
	}
}

test_two_entries_are_not_put_together if {
	both := {"scopes": {"requested": ["orders.read", "orders.write"]}}
	row := {"allowed": [with_entry({"scopes": ["orders.read"]}).allowed[0], with_entry({"scopes": ["orders.write"]}).allowed[0]]}
	denied(both, row, "actor_not_allowed")
	answer(both, with_entry({})).scopes == ["orders.read", "orders.write"]
}

test_an_entry_with_a_subject_client_matches_no_id_token if {
	token := {"subject_token": {"type": "id_token", "client_id": null, "scopes": null, "claims": {"iss": "https://idp.example"}}}
	r := answer(token, with_entry({"subject_client": "web"})) with data.svc.operator.controls.trust as {"trusted_issuers": ["https://idp.example"]}
	fixture.refused(r, "actor_not_allowed")
}

test_an_entry_limits_the_resource_types if {
	typed := fixture.bind("gate", {"grants": [urn], "scopes": ["orders.read"], "resource_types": ["urn:r:orders"]})
	named := object.union(given, {"resource": {"types": ["urn:r:orders"]}})
	r := fixture.issue(named) with data.svc.entitlements.bindings as typed
		with data.svc.registry.resource_types as fixture.registry
		with data.svc.operator.controls.exchange as with_entry({"resource_types": ["urn:r:orders"]})
	r.allow == true
	s := fixture.issue(named) with data.svc.entitlements.bindings as typed
		with data.svc.registry.resource_types as fixture.registry
		with data.svc.operator.controls.exchange as with_entry({"resource_types": ["urn:r:stock"]})
	fixture.refused(s, "actor_not_allowed")
}

test_a_list_of_the_wrong_type_denies if {
	every wrong in [null, false, "gate", {}, {"gate": {}}, [null], ["gate"], [{}]] {
		denied({}, {"allowed": wrong}, "actor_not_allowed")
	}
}

# ---- may_act (RFC 8693 4.4)

test_a_may_act_claim_must_name_the_actor if {
	allowed({"may_act": {"sub": "gate"}}, {})
	allowed({"may_act": {"sub": "gate", "iss": "https://as.example"}}, {})
	every wrong in [{}, {"sub": "web"}, {"sub": null}, {"sub": ["gate"]}, {"sub": "gate", "iss": "https://idp.example"}, null, "gate"] {
		denied({"may_act": wrong}, {}, "actor_not_allowed")
	}
}

test_a_may_act_claim_may_be_required if {
	denied({}, {"require_may_act": true}, "actor_not_allowed")
	allowed({"may_act": {"sub": "gate"}}, {"require_may_act": true})
	denied({}, {"require_may_act": "no"}, "actor_not_allowed")
	denied({}, {"require_may_act": null}, "actor_not_allowed")
}

# ---- the chain

test_the_chain_has_a_limit if {
	two := {"act": {"sub": "gate", "act": {"sub": "web"}}}
	allowed(two, {"max_depth": 2})
	denied(two, {"max_depth": 1}, "chain_too_deep")
	allowed({}, {"max_depth": 1})
	four := {"act": {"sub": "a", "act": {"sub": "b", "act": {"sub": "c", "act": {"sub": "d"}}}}}
	allowed(four, {})
	denied({"act": {"sub": "e", "act": four.act}}, {}, "chain_too_deep")
}

test_other_members_of_an_actor_are_not_counted if {
	allowed({"act": {"sub": "gate", "x": {"act": {"act": {}}}}}, {"max_depth": 1})
}

test_a_limit_of_the_wrong_type_denies if {
	every wrong in ["9", null, [8], true] {
		denied({}, {"max_depth": wrong}, "chain_too_deep")
	}
}

# ---- never more than the subject token has (the service refuses it before)

test_a_subject_token_of_the_wrong_type_denies if {
	every wrong in [false, null, "x", []] {
		denied({"subject_token": wrong}, {}, "scope_exceeds_subject")
	}
}

test_a_scope_beyond_the_subject_token_denies if {
	denied({"subject_token": {"scopes": ["orders.write"]}}, {}, "scope_exceeds_subject")
	denied({"subject_token": {"scopes": null}}, {}, "scope_exceeds_subject")
	denied({"subject_token": {"type": "other"}}, {}, "scope_exceeds_subject")
}

# ---- ID tokens

id_token := {"subject_token": {"type": "id_token", "scopes": null, "claims": {"iss": "https://idp.example", "sub": "a"}}}

test_the_bindings_are_the_limit_for_an_id_token if {
	r := answer(id_token, {}) with data.svc.operator.controls.trust as {"trusted_issuers": ["https://idp.example"]}
	r.allow == true
}

test_the_issuer_of_an_id_token_must_be_trusted if {
	every trust in [{}, {"trusted_issuers": []}, {"trusted_issuers": ["https://idp.example/"]}, {"trusted_issuers": "https://idp.example"}, {"statement_issuers": ["https://idp.example"]}] {
		r := answer(id_token, {}) with data.svc.operator.controls.trust as trust
		fixture.refused(r, "issuer_not_trusted")
	}
	r := answer(id_token, {}) with data.svc.operator.controls.trust as {"trusted_issuers": [{"issuer": "https://idp.example"}]}
	r.allow == true
}

# ---- introspection

shown(token, trust) := r if {
	r := fixture.introspect({
		"client": {"id": "gate"},
		"baseline": {"scopes": ["orders.read"]},
		"issued": {"grant_type": urn, "subject_token": token},
	}) with data.svc.entitlements.bindings as bindings
		with data.svc.operator.controls.trust as trust
}

of_idp(type) := {"type": type, "claims": {"iss": "https://idp.example"}}

test_an_exchanged_token_is_shown if {
	shown({"type": "access_token", "client_id": "web"}, {}).scopes == ["orders.read"]
}

test_a_token_ends_with_the_trust_in_the_issuer_that_its_chain_began_with if {
	every type in ["id_token", "access_token"] {
		shown(of_idp(type), {"trusted_issuers": ["https://idp.example"]}).scopes == ["orders.read"]
		fixture.refused(shown(of_idp(type), {"trusted_issuers": []}), "issuer_not_trusted")
		fixture.refused(shown(of_idp(type), {}), "issuer_not_trusted")
	}
}
