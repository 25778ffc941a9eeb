# The issuance entrypoint: the shape of the answer, and the operator's hooks.
package issue_test

import data.fixture

test_a_plain_request_is_allowed_with_what_its_binding_holds if {
	r := fixture.issue({}) with data.svc.entitlements.bindings as fixture.bindings
	r == {
		"allow": true, "scopes": ["orders.read"], "resource": null, "resource_types": [],
		"authorization_details": [], "expires_in_override": null, "jit_single_use": false,
		"refresh": false, "obligations": {}, "deny_reasons": [], "matched_segments": ["binding:clients/crm"],
		"extensions": {}, "claims": {}, "jwt": {}, "opaque": [],
	}
}

# An answer is stored with every token and parsed again at each introspection.
test_an_answer_leaves_out_empty_members if {
	r := data.svc.decision.issue.result with input as fixture.issue_input
		with data.svc.entitlements.bindings as fixture.bindings
	object.keys(r) == {"allow", "scopes", "matched_segments"}
	denied := data.svc.decision.issue.result with input as fixture.issue_input
	object.keys(denied) == {"allow", "scopes", "deny_reasons"}
	timed := data.svc.decision.issue.result with input as fixture.issue_input
		with data.svc.entitlements.bindings as fixture.bindings
		with data.svc.operator.controls.lifetime as {"max_ttl": 60}
	object.keys(timed) == {"allow", "scopes", "matched_segments", "expires_in_override"}
}

test_the_plain_case_is_taken_for_a_plain_request if {
	general := {"allow": false}
	r := data.svc.decision.issue.result with input as fixture.issue_input
		with data.svc.entitlements.bindings as fixture.bindings
		with data.svc.decision.issue.general as general
	r.allow
}

test_the_answer_has_the_same_members_when_denied if {
	allowed := fixture.issue({}) with data.svc.entitlements.bindings as fixture.bindings
	denied := fixture.issue({})
	denied.allow == false
	object.keys(allowed) == object.keys(denied)
}

test_the_shipped_rows_grant_nothing_to_an_admin_client if {
	fixture.codes(fixture.issue({})) == {"grant_not_entitled", "scope_not_entitled"}
}

test_a_dcr_client_gets_the_shipped_entitlements if {
	r := fixture.issue({
		"client": {"registration": "DCR", "type": "public", "auth_method": "none"},
		"subject": {"type": "user", "id": "alice", "idp": "corp", "claims": {}},
		"request": {"grant_type": "authorization_code"},
		"scopes": {"requested": ["openid", "email", "orders.read"]},
	})
	r.allow
	r.scopes == ["email", "openid"]
	fixture.codes(r) == {"scope_not_entitled"}
	r.matched_segments == ["binding:registrations/DCR"]
}

test_scopes_are_granted_partially_with_a_reason_for_the_rest if {
	r := fixture.issue({"scopes": {"requested": ["orders.read", "admin"]}}) with data.svc.entitlements.bindings as fixture.bindings
	r.allow
	r.scopes == ["orders.read"]
	r.deny_reasons == [{
		"code": "scope_not_entitled", "category": "scope", "control": "entitlements",
		"message": "a requested scope is not granted", "detail": {"scope": "admin"},
	}]
}

test_all_scopes_refused_denies if {
	r := fixture.issue({"scopes": {"requested": ["admin"]}}) with data.svc.entitlements.bindings as fixture.bindings
	fixture.refused(r, "scope_not_entitled")
	r.scopes == []
}

# ---- authorization details (specification 4.2)

paying := fixture.bind("crm", {
	"grants": ["client_credentials"], "scopes": ["orders.read"], "authorization_details": ["payment"],
})

pay := {"authorization_details": [{"type": "payment", "actions": ["initiate"]}]}

pays(b, over) := r if {
	r := fixture.issue(object.union(pay, over)) with data.svc.entitlements.bindings as b
		with data.svc.registry.resource_types as fixture.registry
}

test_an_ungranted_scope_beside_entitled_details_is_left_out if {
	r := pays(paying, {"scopes": {"requested": ["admin"]}})
	r.allow
	r.scopes == []
	r.authorization_details == pay.authorization_details
	fixture.codes(r) == {"scope_not_entitled"}
	pays(paying, {"scopes": {"requested": ["admin", "orders.read"]}}).scopes == ["orders.read"]
	pays(paying, {"scopes": {"requested": ["orders.read"], "ceiling": []}}).allow
}

test_details_that_are_not_entitled_refuse_the_request if {
	fixture.refused(pays(fixture.bindings, {}), "rar_not_entitled")
	fixture.refused(pays(fixture.bindings, {"scopes": {"requested": ["admin"]}}), "rar_not_entitled")
	mixed := [pay.authorization_details[0], {"type": "other"}]
	fixture.refused(pays(paying, {"authorization_details": mixed}), "rar_type_unknown")
}

test_details_excuse_nothing_but_scopes if {
	fixture.refused(pays(paying, {"request": {"grant_type": "refresh_token"}}), "grant_not_entitled")
	fixture.refused(pays(paying, {"resource": {"indicator": "https://api.example"}}), "resource_not_entitled")
}

test_empty_details_count_as_absent if {
	every details in [[], null, false, {}] {
		fixture.refused(pays(paying, {"authorization_details": details, "scopes": {"requested": ["admin"]}}), "scope_not_entitled")
	}
}

test_an_omitted_scope_asks_for_the_default if {
	r := fixture.issue({"scopes": {"requested": [], "default": ["orders.write"]}}) with data.svc.entitlements.bindings as fixture.bindings
	r.scopes == ["orders.write"]
}

test_a_default_that_the_client_did_not_register_refuses_nothing if {
	r := fixture.issue({"scopes": {"requested": [], "default": ["admin"]}}) with data.svc.entitlements.bindings as fixture.bindings
	r.allow
	r.scopes == []
	fixture.codes(r) == {"scope_not_entitled"}
	registered := fixture.issue({"scopes": {"requested": [], "default": ["admin"], "ceiling": ["admin"]}}) with data.svc.entitlements.bindings as fixture.bindings
	fixture.refused(registered, "scope_not_entitled")
}

test_no_requested_and_no_default_scope_gives_a_token_without_scope if {
	r := fixture.issue({"scopes": {"requested": [], "default": []}}) with data.svc.entitlements.bindings as fixture.bindings
	r.allow
	r.scopes == []
}

test_a_request_without_scopes_denies if {
	every path in ["scopes", "scopes/requested"] {
		r := fixture.issue_without({}, [path]) with data.svc.entitlements.bindings as fixture.bindings
		r.allow == false
	}
}

test_the_other_evaluation_is_not_answered_here if {
	doc := object.union(fixture.issue_input, {"evaluation": "introspect"})
	r := data.svc.decision.issue.result with input as doc with data.svc.entitlements.bindings as fixture.bindings
	r.allow == false
}

test_the_ceiling_limits_the_scopes if {
	r := fixture.issue({"scopes": {"requested": ["orders.read", "orders.write"], "ceiling": ["orders.write"]}}) with data.svc.entitlements.bindings as fixture.bindings
	r.scopes == ["orders.write"]
}

test_an_empty_ceiling_leaves_nothing if {
	r := fixture.issue({"scopes": {"ceiling": []}}) with data.svc.entitlements.bindings as fixture.bindings
	fixture.refused(r, "scope_not_entitled")
}

test_a_repeated_scope_counts_once if {
	r := fixture.issue({"scopes": {"requested": ["orders.read", "orders.read"]}}) with data.svc.entitlements.bindings as fixture.bindings
	r.scopes == ["orders.read"]
	r.deny_reasons == []
}

# ---- hooks

test_a_custom_reason_denies if {
	reason := {"code": "frozen", "category": "client", "control": "mine", "message": "frozen", "detail": {"x": 1}}
	r := fixture.issue({}) with data.svc.entitlements.bindings as fixture.bindings
		with data.custom.issue.deny as {reason}
	r.allow == false
	r.deny_reasons == [reason]
}

test_a_custom_string_becomes_a_reason_of_category_policy if {
	r := fixture.issue({}) with data.svc.entitlements.bindings as fixture.bindings
		with data.custom.issue.deny as {"weekend"}
	r.deny_reasons == [{"code": "weekend", "category": "policy", "control": "custom", "message": "weekend"}]
}

test_a_custom_reason_is_completed if {
	r := fixture.issue({}) with data.svc.entitlements.bindings as fixture.bindings
		with data.custom.issue.deny as {{"code": "frozen", "other": true}}
	r.deny_reasons == [{"code": "frozen", "category": "policy", "control": "custom", "message": "frozen"}]
}

test_a_custom_reason_of_the_wrong_shape_denies if {
	every reason in [1, {"message": "no code"}, {"code": 1}, {"code": "x", "category": "nonsense"}, {"code": "x", "detail": []}] {
		r := fixture.issue({}) with data.svc.entitlements.bindings as fixture.bindings
			with data.custom.issue.deny as {reason}
		fixture.refused(r, "hook_invalid")
	}
}

test_an_empty_custom_deny_allows if {
	r := fixture.issue({}) with data.svc.entitlements.bindings as fixture.bindings
		with data.custom.issue.deny as set()
	r.allow
}

test_blocked_scopes_are_left_out if {
	r := fixture.issue({"scopes": {"requested": ["orders.read", "orders.write"]}}) with data.svc.entitlements.bindings as fixture.bindings
		with data.custom.issue.block_scopes as {"orders.write"}
	r.allow
	r.scopes == ["orders.read"]
	fixture.codes(r) == {"scope_not_entitled"}
}

test_blocking_all_scopes_denies if {
	r := fixture.issue({}) with data.svc.entitlements.bindings as fixture.bindings
		with data.custom.issue.block_scopes as {"orders.read"}
	fixture.refused(r, "scope_not_entitled")
}

test_custom_obligations_extensions_and_claims_are_answered if {
	r := fixture.issue({}) with data.svc.entitlements.bindings as fixture.bindings
		with data.custom.issue.obligations as {"log": [{"id": "o1", "type": "log"}]}
		with data.custom.issue.extensions as {"risk": "low"}
		with data.custom.issue.claims as {"tier": "gold"}
	r.allow
	r.obligations == {"log": [{"id": "o1", "type": "log"}]}
	r.extensions == {"risk": "low"}
	r.claims == {"tier": "gold"}
}

wrong_for_sets := [false, true, null, 1, "x", ["x"], {"x": 1}]

wrong_for_objects := [false, true, null, 1, "x", ["x"], {"x"}]

test_a_hook_of_the_wrong_type_denies_deny if {
	every hook in wrong_for_sets {
		r := fixture.issue({}) with data.svc.entitlements.bindings as fixture.bindings
			with data.custom.issue.deny as hook
		fixture.refused(r, "hook_invalid")
	}
}

test_a_hook_of_the_wrong_type_denies_block_scopes if {
	every hook in wrong_for_sets {
		r := fixture.issue({}) with data.svc.entitlements.bindings as fixture.bindings
			with data.custom.issue.block_scopes as hook
		fixture.refused(r, "hook_invalid")
	}
}

test_a_hook_of_the_wrong_type_denies_obligations if {
	every hook in wrong_for_objects {
		r := fixture.issue({}) with data.svc.entitlements.bindings as fixture.bindings
			with data.custom.issue.obligations as hook
		fixture.refused(r, "hook_invalid")
	}
}

test_a_hook_of_the_wrong_type_denies_extensions if {
	every hook in wrong_for_objects {
		r := fixture.issue({}) with data.svc.entitlements.bindings as fixture.bindings
			with data.custom.issue.extensions as hook
		fixture.refused(r, "hook_invalid")
	}
}

test_a_hook_of_the_wrong_type_denies_claims if {
	every hook in wrong_for_objects {
		r := fixture.issue({}) with data.svc.entitlements.bindings as fixture.bindings
			with data.custom.issue.claims as hook
		fixture.refused(r, "hook_invalid")
	}
}
