# Access decisions of AuthZEN: the caller, the roles of the row, and the operator's hooks.
package authzen_test

import data.fixture

evaluate(over) := r if {
	r := fixture.evaluate(over) with data.svc.entitlements.bindings as fixture.bindings
		with data.svc.operator.controls.authzen as fixture.roles
}

bound(binding, over) := r if {
	r := fixture.evaluate(over) with data.svc.entitlements.bindings as fixture.bind("pep", binding)
		with data.svc.operator.controls.authzen as fixture.roles
}

row(value) := r if {
	r := fixture.evaluate({}) with data.svc.entitlements.bindings as fixture.bindings
		with data.svc.operator.controls.authzen as value
}

asked(over) := evaluate({"authzen": over})

# ---- the caller

token(scopes) := {"caller": {"auth_method": "bearer", "token": {"scopes": scopes, "resource_types": []}}}

test_an_entitled_client_may_ask if evaluate({}) == {"allow": true}

test_a_token_with_the_scope_may_ask if evaluate(token(["authzen"])) == {"allow": true}

test_a_client_without_the_endpoint_may_not_ask if {
	every binding in [{}, {"endpoints": []}, {"endpoints": ["introspect"]}, {"scopes": ["authzen"]}, {"endpoints": "authzen"}] {
		r := bound(binding, {})
		fixture.refused(r, "authzen_not_entitled")
	}
}

test_a_token_needs_the_scope_and_a_binding_that_still_grants_it if {
	fixture.refused(evaluate(token(["introspection"])), "authzen_not_entitled")
	fixture.refused(evaluate(token([])), "authzen_not_entitled")
	fixture.refused(bound({"endpoints": ["authzen"]}, token(["authzen"])), "authzen_not_entitled")
}

test_an_unknown_client_may_not_ask if {
	fixture.refused(evaluate({"caller": {"client_id": "nobody"}}), "authzen_not_entitled")
}

# `service` marks the service itself, which never asks here.
test_the_service_is_no_caller_of_authzen if {
	fixture.refused(evaluate({"caller": {"client_id": "nobody", "service": true}}), "authzen_not_entitled")
}

test_a_caller_that_may_not_ask_learns_nothing_else if {
	r := evaluate({"caller": {"client_id": "nobody"}}) with data.custom.authzen.context as {"secret": 1}
		with data.custom.authzen.deny as {"stop"}
	object.keys(r) == {"allow", "deny_reasons"}
	fixture.codes(r) == {"authzen_not_entitled"}
}

test_a_registration_may_be_entitled if {
	r := fixture.evaluate({"caller": {"client_id": "other"}}) with data.svc.entitlements.bindings as {"registrations": {"ADMIN": {"endpoints": ["authzen"]}}}
		with data.svc.operator.controls.authzen as fixture.roles
	r == {"allow": true}
}

# ---- roles and subjects

test_a_role_permits_its_actions_on_its_types_alone if {
	asked({"action": {"name": "read"}}).allow
	every over in [
		{"action": {"name": "delete"}}, {"action": {"name": "WRITE"}}, {"resource": {"type": "user"}},
		{"subject": {"type": "service"}}, {"subject": {"id": "bob"}}, {"subject": {"id": "Alice"}},
	] {
		r := asked(over)
		r.allow == false
		fixture.codes(r) == {"no_rule_matched"}
	}
}

test_a_row_of_the_wrong_form_permits_nothing if {
	every value in [
		{}, {"roles": fixture.roles.roles}, {"subjects": fixture.roles.subjects}, [], "x", null,
		object.union(fixture.roles, {"roles": {"editor": ["todo"]}}),
		object.union(fixture.roles, {"roles": {"editor": {"todo": "write"}}}),
		object.union(fixture.roles, {"subjects": {"user": {"alice": ["editor"]}}}),
		object.union(fixture.roles, {"subjects": {"user": {"alice": {"roles": "editor"}}}}),
		object.union(fixture.roles, {"subjects": {"user": ["alice"]}}),
	] {
		fixture.refused(row(value), "no_rule_matched")
	}
}

test_the_shipped_row_permits_nothing if {
	fixture.refused(row(data.shipped.rows["svc.operator.controls.authzen"]), "no_rule_matched")
}

test_a_request_without_a_member_is_not_permitted if {
	every name in ["subject", "action", "resource"] {
		doc := json.remove(fixture.authzen_input, [concat("/", ["authzen", name])])
		r := fixture.wire(data.svc.decision.authzen.result) with input as doc
			with data.svc.entitlements.bindings as fixture.bindings
			with data.svc.operator.controls.authzen as fixture.roles
		fixture.refused(r, "no_rule_matched")
	}
}

# ---- the operator's rules

test_an_operators_rule_permits if {
	r := row({}) with data.custom.authzen.allow as true
	r == {"allow": true}
}

test_an_operators_rule_that_is_not_true_permits_nothing if {
	fixture.refused(row({}), "no_rule_matched") with data.custom.authzen.allow as false
}

test_an_operators_deny_overrides_a_role_and_his_own_allow if {
	r := evaluate({}) with data.custom.authzen.deny as {"frozen"}
		with data.custom.authzen.allow as true
	fixture.refused(r, "frozen")
	r.deny_reasons == [{"code": "frozen", "category": "policy", "control": "custom", "message": "frozen"}]
}

test_a_hook_of_the_wrong_type_denies if {
	every value in ["true", 1, {}, [], null] {
		r := evaluate({}) with data.custom.authzen.allow as value
		fixture.refused(r, "hook_invalid")
	}
	every value in ["stop", ["stop"], {"stop": true}, true, null] {
		r := evaluate({}) with data.custom.authzen.deny as value
		fixture.refused(r, "hook_invalid")
	}
	every value in ["x", [], {"a"}, true, null] {
		r := evaluate({}) with data.custom.authzen.context as value
		fixture.refused(r, "hook_invalid")
	}
}

test_an_operators_context_is_in_every_answer if {
	r := evaluate({}) with data.custom.authzen.context as {"reason_user": {"en": "hello"}}
	r == {"allow": true, "context": {"reason_user": {"en": "hello"}}}
	denied := asked({"subject": {"id": "bob"}}) with data.custom.authzen.context as {"obligations": []}
	denied.context == {"obligations": []}
}

# ---- batches

batch(requests) := r if {
	doc := fixture.batch(fixture.authzen_input, requests)
	r := fixture.wire(data.svc.decision.authzen_batch.result) with input as doc
		with data.svc.entitlements.bindings as fixture.bindings
		with data.svc.operator.controls.authzen as fixture.roles
}

one(id) := object.union(fixture.authzen_input.authzen, {"subject": {"id": id}})

test_a_batch_is_decided_in_its_order if {
	r := batch([one("alice"), one("bob"), one("alice"), one("bob")])
	r.allow == true
	[e.allow | some e in r.evaluations] == [true, false, true, false]
}

test_a_hook_sees_each_request_of_a_batch_as_a_single_one if {
	doc := fixture.batch(
		object.union(fixture.authzen_input, {"request": {"id": "hooked"}}),
		[object.union(one("alice"), {"context": {"n": n}}) | some n in [1, 2, 3]],
	)
	r := fixture.wire(data.svc.decision.authzen_batch.result) with input as doc
		with data.svc.entitlements.bindings as fixture.bindings
	[e.context | some e in r.evaluations] == [{"n": n, "evaluation": "authzen"} | some n in [1, 2, 3]]
}

test_a_batch_of_a_caller_that_may_not_ask_decides_nothing if {
	doc := object.union(fixture.batch(fixture.authzen_input, [one("alice")]), {"caller": {"client_id": "nobody"}})
	r := fixture.wire(data.svc.decision.authzen_batch.result) with input as doc
		with data.svc.entitlements.bindings as fixture.bindings
		with data.svc.operator.controls.authzen as fixture.roles
	object.keys(r) == {"allow", "deny_reasons"}
	fixture.refused(r, "authzen_not_entitled")
}

test_the_entrypoints_answer_their_own_questions_only if {
	not answered(object.union(fixture.authzen_input, {"evaluation": "issue"}))
	not answered_batch(object.union(fixture.batch(fixture.authzen_input, [one("alice")]), {"evaluation": "authzen"}))
}

answered(doc) if {
	data.svc.decision.authzen.result.allow with input as doc
		with data.svc.entitlements.bindings as fixture.bindings
		with data.svc.operator.controls.authzen as fixture.roles
}

answered_batch(doc) if {
	data.svc.decision.authzen_batch.result.allow with input as doc
		with data.svc.entitlements.bindings as fixture.bindings
		with data.svc.operator.controls.authzen as fixture.roles
}
