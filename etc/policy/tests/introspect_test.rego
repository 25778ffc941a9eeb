# The introspection entrypoint and the introspection control.
package introspect_test

import data.fixture

introspect(b, over) := r if {
	r := fixture.introspect(over) with data.svc.entitlements.bindings as b
		with data.svc.registry.resource_types as fixture.registry
}

set_row(row, over) := r if {
	r := fixture.introspect(over) with data.svc.entitlements.bindings as fixture.wide
		with data.svc.registry.resource_types as fixture.registry
		with data.svc.operator.controls.introspection as row
}

test_a_token_that_is_still_entitled_is_shown_as_it_is if {
	introspect(fixture.bindings, {}) == {
		"allow": true, "scopes": ["orders.read", "orders.write"], "resource": null, "resource_types": [],
		"authorization_details": [], "expires_in_override": null, "jit_single_use": false, "refresh": false,
		"obligations": {}, "deny_reasons": [], "matched_segments": ["binding:clients/crm"],
		"extensions": {}, "claims": {},
	}
}

# An issuance leaves empty members out; one that wrote them is read in the same way.
test_an_empty_member_of_the_baseline_counts_as_absent if {
	written := {
		"resource": null, "resource_types": [], "authorization_details": [], "expires_in_override": null,
		"jit_single_use": false, "obligations": {}, "extensions": {}, "claims": {},
	}
	introspect(fixture.bindings, {"baseline": written}) == introspect(fixture.bindings, {})
	introspect(fixture.wide, {"baseline": written}) == introspect(fixture.wide, {})
}

test_the_plain_case_is_taken_for_a_plain_token if {
	r := data.svc.decision.introspect.result with input as fixture.introspect_input
		with data.svc.entitlements.bindings as fixture.bindings
		with data.svc.decision.introspect.general as {"allow": false}
	r.allow
}

test_the_answer_has_the_same_members_when_denied if {
	allowed := introspect(fixture.bindings, {})
	every over in [{"client": {"enabled": false}}, {"token": false}] {
		object.keys(introspect(fixture.bindings, over)) == object.keys(allowed)
	}
}

test_the_other_evaluation_is_not_answered_here if {
	r := introspect(fixture.bindings, {"evaluation": "issue", "request": {"grant_type": "client_credentials"}, "scopes": {"requested": ["orders.read"]}})
	r.allow == false
}

test_a_baseline_without_scopes_denies if {
	r := fixture.introspect_without({}, ["baseline/scopes"]) with data.svc.entitlements.bindings as fixture.bindings
	r.allow == false
}

test_the_answer_repeats_the_tokens_single_use if {
	introspect(fixture.bindings, {"token": {"jit_single_use": true}}).jit_single_use == true
}

# ---- after a change of the data

test_a_scope_taken_away_is_no_longer_shown if {
	b := fixture.bind("crm", {"grants": ["client_credentials"], "scopes": ["orders.read"]})
	r := introspect(b, {})
	r.allow
	r.scopes == ["orders.read"]
	fixture.codes(r) == {"scope_not_entitled"}
}

test_a_scope_added_later_is_not_shown if {
	b := fixture.bind("crm", {"grants": ["client_credentials"], "scopes": ["orders.read", "orders.write", "admin"]})
	introspect(b, {}).scopes == ["orders.read", "orders.write"]
}

test_all_scopes_taken_away_denies if {
	b := fixture.bind("crm", {"grants": ["client_credentials"], "scopes": []})
	fixture.refused(introspect(b, {}), "policy_changed")
}

test_a_grant_taken_away_denies if {
	b := fixture.bind("crm", {"scopes": ["orders.read", "orders.write"]})
	fixture.codes(introspect(b, {})) == {"grant_not_entitled"}
}

test_a_binding_taken_away_denies if {
	b := {"clients": {"shop": fixture.bindings.clients.shop}}
	fixture.refused(introspect(b, {}), "grant_not_entitled")
}

test_a_resource_taken_away_denies if {
	over := {"baseline": {"resource": "https://api.example/orders"}}
	introspect(fixture.wide, over).allow
	fixture.refused(introspect(fixture.bindings, over), "resource_not_entitled")
}

test_a_token_without_scopes_stays_without if {
	r := introspect(fixture.bindings, {"baseline": {"scopes": []}, "token": {"scopes": []}})
	r.allow
	r.scopes == []
}

test_a_user_who_left_the_group_loses_the_scope if {
	b := object.union(fixture.bindings, {"scopes": {"orders.write": {"groups": ["corp/ops"]}}})
	user := {"issued": {"subject": {"type": "user", "id": "alice", "idp": "corp", "claims": {"groups": ["ops"]}}}}
	introspect(b, user).scopes == ["orders.read", "orders.write"]
	introspect(b, {}).scopes == ["orders.read"]
}

# ---- the caller

test_a_caller_without_the_endpoint_is_refused_for_live_and_dead_tokens if {
	every over in [{"caller": {"client_id": "crm"}}, {"caller": {"client_id": "nobody"}}] {
		fixture.codes(introspect(fixture.bindings, over)) == {"introspection_not_entitled"}
		dead := fixture.introspect_without(over, ["token"]) with data.svc.entitlements.bindings as fixture.bindings
		fixture.codes(dead) == {"introspection_not_entitled"}
		dead.allow == false
	}
}

test_an_unknown_token_is_not_shown_to_an_entitled_caller if {
	r := fixture.introspect_without({}, ["token", "baseline", "issued", "client"]) with data.svc.entitlements.bindings as fixture.bindings
	r.allow == false
	r.deny_reasons == []
}

test_a_caller_is_entitled_by_its_registration_or_software_too if {
	b := {
		"clients": {"crm": fixture.bindings.clients.crm},
		"registrations": {"DCR": {"endpoints": ["introspect"]}},
		"software": {"soft": {"endpoints": ["introspect"]}},
	}
	introspect(b, {"caller": {"registration": "DCR"}}).allow
	introspect(b, {"caller": {"software_id": "soft", "statement": {"iss": "https://as.example", "verified": true}}}).allow
	fixture.refused(introspect(b, {"caller": {"software_id": "soft"}}), "introspection_not_entitled")
	fixture.refused(introspect(b, {}), "introspection_not_entitled")
}

bearer(scopes) := {"caller": {"token": {"scopes": scopes}}}

holding(scopes) := fixture.bind("shop", {"scopes": scopes})

test_a_bearer_caller_is_entitled_by_its_tokens_scope if {
	introspect(holding(["introspection"]), bearer(["introspection"])).allow
	introspect(holding(["uma_protection"]), bearer(["openid", "uma_protection"])).allow
}

test_a_bearer_caller_without_the_scope_is_not_entitled if {
	every scopes in [[], ["openid"], ["introspection2"]] {
		fixture.refused(introspect(holding(["introspection"]), bearer(scopes)), "introspection_not_entitled")
	}
	fixture.refused(introspect(fixture.bindings, bearer([])), "introspection_not_entitled")
}

test_a_bearer_caller_that_lost_the_scope_is_not_entitled if {
	fixture.refused(introspect(holding([]), bearer(["introspection"])), "introspection_not_entitled")
}

test_only_listed_callers_may_introspect if {
	set_row({"allow_callers": ["shop"]}, {}).allow
	fixture.refused(set_row({"allow_callers": ["other"]}, {}), "caller_not_allowed")
	dead := fixture.introspect_without({}, ["token"]) with data.svc.entitlements.bindings as fixture.wide
		with data.svc.operator.controls.introspection as {"allow_callers": ["other"]}
	fixture.codes(dead) == {"caller_not_allowed"}
}

# ---- the audience

orders := {"baseline": {"resource_types": ["urn:r:orders"]}}

test_a_token_is_shown_to_its_resource if {
	introspect(fixture.wide, orders).allow
	introspect(fixture.wide, {"baseline": {"resource": "https://api.example/orders"}}).allow
	introspect(fixture.wide, {"baseline": {"resource": "https://orders.example"}}).allow
}

test_a_token_is_not_shown_to_another_resource if {
	every baseline in [{"resource_types": ["urn:r:stock"], "scopes": ["stock.read"]}, {"resource": "https://api.example"}] {
		fixture.refused(introspect(fixture.wide, {"baseline": baseline}), "caller_not_audience")
	}
}

test_a_token_is_shown_to_its_own_client if {
	b := json.patch(fixture.wide, [{"op": "add", "path": "clients/crm/endpoints", "value": ["introspect"]}])
	introspect(b, {"baseline": {"resource": "https://api.example"}, "caller": {"client_id": "crm"}}).allow
}

test_a_token_for_the_gateway_is_shown_to_a_caller_with_the_gateway_entitlement if {
	over := {"baseline": {"resource": "https://as.example/gateway/x"}}
	b := fixture.bind("crm", {"grants": ["client_credentials"], "scopes": ["orders.read", "orders.write"], "resources": ["urn:svc:gateway"]})
	fixture.refused(introspect(b, over), "caller_not_audience")
	introspect(json.patch(b, [{"op": "add", "path": "clients/shop/resources/-", "value": "urn:svc:gateway"}]), over).allow
}

test_the_audience_may_be_switched_off if {
	set_row({"require_audience": false}, {"baseline": {"resource": "https://api.example"}}).allow
	every row in [{}, {"require_audience": null}, {"require_audience": "no"}, {"require_audience": 0}] {
		fixture.refused(set_row(row, {"baseline": {"resource": "https://api.example"}}), "caller_not_audience")
	}
}

# ---- refresh tokens

refresh := {"token": {"kind": "refresh_token"}}

own_caller := {"caller": {"client_id": "crm"}}

# All clients here may introspect, and the caller `shop` is the audience of the resources.
entitled := json.patch(fixture.wide, [{"op": "add", "path": "clients/crm/endpoints", "value": ["introspect"]}])

test_a_refresh_token_is_shown_to_its_own_client if {
	introspect(entitled, object.union(refresh, own_caller)).allow
	introspect(entitled, object.union(refresh, object.union(own_caller, orders))).allow
}

test_a_refresh_token_is_shown_to_nobody_else if {
	every over in [{}, orders, {"baseline": {"resource": "https://api.example/orders"}}, {"baseline": {"scopes": []}}, {"context": {"scopes": ["orders.read"]}}] {
		fixture.refused(introspect(entitled, object.union(refresh, over)), "caller_not_audience")
	}
	fixture.refused(introspect(fixture.bindings, refresh), "caller_not_audience")
	bearing := object.union(refresh, bearer(["introspection"]))
	fixture.refused(introspect(holding(["introspection"]), bearing), "caller_not_audience")
}

test_no_row_shows_a_refresh_token_to_another_client if {
	every row in [{}, {"require_audience": false}, {"require_audience": true}, {"allow_callers": ["shop"]}, {"require_audience": false, "allow_callers": ["shop"]}] {
		fixture.refused(set_row(row, refresh), "caller_not_audience")
		fixture.refused(set_row(row, object.union(refresh, orders)), "caller_not_audience")
	}
}

test_no_hook_shows_a_refresh_token_to_another_client if {
	every hook in [{}, {"deny": set()}, {"claims": {"a": 1}}, {"obligations": {"a": []}}, {"extensions": {"a": 1}}, {"deny": {"frozen"}}] {
		r := introspect(entitled, refresh) with data.custom.introspect as hook
		fixture.refused(r, "caller_not_audience")
		r.scopes == []
	}
}

test_a_token_of_an_unknown_kind_is_shown_to_its_own_client_alone if {
	every kind in ["id_token", "", null, 1] {
		fixture.refused(introspect(entitled, {"token": {"kind": kind}}), "caller_not_audience")
	}
	r := fixture.introspect_without({}, ["token/kind"]) with data.svc.entitlements.bindings as fixture.bindings
	fixture.refused(r, "caller_not_audience")
}

# ---- authorization details

paid := {"baseline": {"authorization_details": [{"type": "payment", "actions": ["initiate"]}]}}

test_details_outlive_the_scopes_beside_them if {
	b := fixture.bind("crm", {"grants": ["client_credentials"], "authorization_details": ["payment"]})
	r := introspect(b, paid)
	r.allow
	r.scopes == []
	r.authorization_details == paid.baseline.authorization_details
	fixture.codes(r) == {"scope_not_entitled"}
	lost := fixture.bind("crm", {"grants": ["client_credentials"]})
	fixture.refused(introspect(lost, paid), "rar_not_entitled")
}

# ---- the context

test_the_context_narrows if {
	r := introspect(fixture.bindings, {"context": {"scopes": ["orders.write", "admin"]}})
	r.allow
	r.scopes == ["orders.write"]
	r.deny_reasons == []
}

test_a_context_with_nothing_in_common_denies if {
	fixture.codes(introspect(fixture.bindings, {"context": {"scopes": ["admin"]}})) == {"scope_not_in_token"}
}

test_a_context_with_an_empty_scope_list_is_shown_no_scope if {
	r := introspect(fixture.bindings, {"context": {"scopes": []}})
	r.allow
	r.scopes == []
}

test_a_context_that_is_required_must_be_there if {
	row := {"require_context": true}
	fixture.refused(set_row(row, {}), "context_missing")
	fixture.refused(set_row(row, {"context": {}}), "context_missing")
	set_row(row, {"context": {"scopes": ["orders.read"]}}).allow
	set_row({"require_context": false}, {}).allow
}

test_the_contexts_resource_must_be_the_tokens if {
	api := {"baseline": {"resource": "https://api.example/orders"}}
	introspect(fixture.wide, object.union(api, {"context": {"resource": "https://api.example/orders"}})).allow
	every other in ["https://api.example", "https://api.example/orders/", 1, null, ["https://api.example/orders"]] {
		fixture.refused(introspect(fixture.wide, object.union(api, {"context": {"resource": other}})), "context_resource_mismatch")
	}
	introspect(fixture.wide, object.union(orders, {"context": {"resource": "https://orders.example/"}})).allow
	fixture.refused(introspect(fixture.wide, object.union(orders, {"context": {"resource": "https://api.example"}})), "context_resource_mismatch")
}

test_the_contexts_resource_type_must_be_the_tokens if {
	introspect(fixture.wide, object.union(orders, {"context": {"resource_type": "urn:r:orders"}})).allow
	introspect(fixture.wide, {"baseline": {"resource": "https://orders.example"}, "context": {"resource_type": "urn:r:orders"}}).allow
	every other in ["urn:r:stock", "urn:r:none", 1, null] {
		fixture.refused(introspect(fixture.wide, object.union(orders, {"context": {"resource_type": other}})), "context_resource_mismatch")
	}
}

test_a_context_of_another_resource_or_type_is_no_match if {
	stock := {"baseline": {"resource_types": ["urn:r:stock"], "scopes": ["stock.read"]}}
	fixture.refused(introspect(fixture.wide, object.union(stock, {"context": {"resource": "https://orders.example"}})), "context_resource_mismatch")
	api := {"baseline": {"resource": "https://api.example/orders"}}
	fixture.refused(introspect(fixture.wide, object.union(api, {"context": {"resource_type": "urn:r:orders"}})), "context_resource_mismatch")
}

test_a_token_without_resource_fits_every_context if {
	introspect(fixture.bindings, {"context": {"resource": "https://x.example", "resource_type": "urn:r:stock"}}).allow
}

test_narrowing_to_the_contexts_resource_type if {
	over := {"context": {"resource_type": "urn:r:orders"}, "baseline": {"scopes": ["orders.read", "stock.read"]}}
	set_row({"narrow_to_context": true}, over).scopes == ["orders.read"]
	set_row({"narrow_to_context": false}, over).scopes == ["orders.read", "stock.read"]
	fixture.refused(set_row({"narrow_to_context": true}, {"context": {"resource_type": "urn:r:none"}}), "scope_not_in_token")
	set_row({"narrow_to_context": true}, {}).scopes == ["orders.read", "orders.write"]
}

# The limits of an issuance do not apply to tokens that were issued before.
test_the_ceiling_and_blocked_scopes_apply_at_issuance_only if {
	introspect(fixture.bindings, {"scopes": {"ceiling": []}}).scopes == ["orders.read", "orders.write"]
	r := fixture.introspect({}) with data.svc.entitlements.bindings as fixture.bindings
		with data.custom.issue.block_scopes as {"orders.read"}
	r.scopes == ["orders.read", "orders.write"]
}

# The context does not replace members of the token.
test_the_context_does_not_replace_the_baseline if {
	r := introspect(fixture.bindings, {"context": {
		"client": {"enabled": true}, "token": {"scopes": ["admin"]},
		"baseline": {"scopes": ["admin"]}, "caller": {"client_id": "crm"},
	}})
	r.allow
	r.scopes == ["orders.read", "orders.write"]
}

test_a_broken_row_denies if {
	every row in [[], "x", false, null, {"allow_callers": "shop"}, {"allow_callers": {}}, {"allow_callers": false}] {
		fixture.refused(set_row(row, {}), "caller_not_allowed")
	}
	every row in [{"require_context": "yes"}, {"require_context": null}, {"require_context": 1}] {
		fixture.refused(set_row(row, {}), "context_missing")
	}
}

# ---- hooks

hooked(name, value, over) := r if {
	r := fixture.introspect(over) with data.svc.entitlements.bindings as fixture.bindings
		with data.custom.introspect as {name: value}
}

test_a_custom_reason_denies if {
	hooked("deny", {"weekend"}, {}).deny_reasons == [{"code": "weekend", "category": "policy", "control": "custom", "message": "weekend"}]
	hooked("deny", set(), {}).allow
}

test_custom_members_are_added_to_those_of_issuance if {
	old := {"baseline": {"obligations": {"log": [1], "a": [2]}, "extensions": {"x": 1}, "claims": {"c": 1}}}
	hooked("obligations", {"log": [3], "b": [4]}, old).obligations == {"log": [1, 3], "a": [2], "b": [4]}
	hooked("extensions", {"x": 2, "y": 3}, old).extensions == {"x": 2, "y": 3}
	hooked("claims", {"d": 1}, old).claims == {"c": 1, "d": 1}
	introspect(fixture.bindings, old).obligations == old.baseline.obligations
	hooked("obligations", {"log": "all"}, old).obligations == {"log": "all", "a": [2]}
	hooked("claims", {"d": 1}, {"baseline": {"claims": null}}).claims == {"d": 1}
}

test_a_hook_of_the_wrong_type_denies if {
	every bad in [false, true, null, 1, "x", ["x"], {"x": 1}] {
		fixture.refused(hooked("deny", bad, {}), "hook_invalid")
	}
	every name in ["obligations", "extensions", "claims"] {
		every bad in [false, true, null, 1, "x", ["x"], {"x"}] {
			fixture.refused(hooked(name, bad, {}), "hook_invalid")
		}
	}
}
