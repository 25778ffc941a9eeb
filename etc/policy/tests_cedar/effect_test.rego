# The effect of Cedar rules: the module effect_module.rego is made of effect.cedar.
package effect_test

import data.fixture
import data.svc.cedar.request
import data.svc.cedar.value

crm := {
	"grants": ["client_credentials", "authorization_code"], "scopes": ["orders.read", "orders.write"],
	"resource_types": ["urn:r:orders"], "resources": ["https://orders.example"],
}

# A type and an id as the key of an entity.
key(type, id) := concat("::\"", [type, id])

entities := {
	key("Action", "write"): {"attrs": {}, "tags": {}, "anc": {key("Action", "edit"): true}},
	key("User", "alice"): {
		"attrs": {"level": 3, "amr": ["otp"]}, "tags": {"site": "north"},
		"anc": {key("Group", "staff"): true, key("Group", "all"): true},
	},
	key("User", "bob"): {"attrs": {"level": 1}, "tags": {"site": "north"}, "anc": {key("Group", "staff"): true}},
	key("todo", "t9"): {"attrs": {"owner": {"__entity": {"id": "bob", "type": "User"}}}, "tags": {}, "anc": {key("Folder", "frozen"): true}},
}

types := {"user": "User", "urn:x:order": "Shop::Order", "urn:x:bad": "no name"}

decide(evaluation, over, row) := answer if {
	answer := fixture.wire(data.svc.decision[evaluation].result) with input as object.union(fixture[concat("", [evaluation, "_input"])], over)
		with data.svc.entitlements.bindings as fixture.bind("crm", crm)
		with data.svc.operator.controls.authzen as object.union(fixture.roles, row)
		with data.svc.registry.resource_types as fixture.registry
		with data.svc.cedar_data.entities as entities
		with data.svc.cedar_data.types as types
}

issue(over) := decide("issue", over, {})

introspect(over) := decide("introspect", over, {})

asked(over) := decide("authzen", {"authzen": over}, {})

sourced(over) := decide("authzen", {"authzen": over}, {"cedar_mode": "source"})

forbidden(answer, id, action) if {
	answer.allow == false
	some r in answer.deny_reasons
	object.remove(r, ["detail"]) == {"code": "cedar_forbid", "category": "policy", "control": "cedar", "message": "a Cedar rule forbids this"}
	object.remove(r.detail, ["action", "actions"]) == {"policy": id, "path": "acme/effect.cedar"}
	action in object.get(r.detail, "actions", [object.get(r.detail, "action", "")])
}

test_one_denial_is_one_reason_with_all_of_its_actions if {
	r := issue(user)
	[reason.detail.actions | some reason in r.deny_reasons; reason.detail.policy == "weak"] == [["issue:access_token:authorization_code", "issue:scope:orders.read"]]
}

test_a_reason_that_denies_nothing_is_marked_in_a_denial if {
	r := issue(object.union(nameless, {"scopes": {"requested": ["orders.unknown"]}}))
	not r.allow
	{reason.code | some reason in r.deny_reasons; reason.denies == false} == {"cedar_error"}
	{reason.code | some reason in r.deny_reasons; not "denies" in object.keys(reason)} == {"scope_not_entitled"}
}

noted(answer) := {r.detail.policy | some r in object.get(answer, "deny_reasons", []); r.code == "cedar_error"}

outside := {"environment": {"ip": "198.51.100.7"}}

user := {"subject": {"type": "user", "id": "carl", "amr": ["pwd"]}, "request": {"grant_type": "authorization_code"}}

# ---- issuance

test_a_forbid_that_does_not_hold_changes_nothing if {
	r := issue({})
	r.allow
	r.scopes == ["orders.read"]
	not r.deny_reasons
}

test_a_satisfied_forbid_denies_a_token if {
	forbidden(issue(outside), "office", "issue:access_token:client_credentials")
}

test_a_preview_is_judged_as_the_issuance if {
	r := fixture.wire(data.svc.decision.issue.result) with input as object.union(fixture.issue_input, object.union(outside, {"evaluation": "preview"}))
		with data.svc.entitlements.bindings as fixture.bind("crm", crm)
		with data.svc.operator.controls.authzen as {}
	forbidden(r, "office", "issue:access_token:client_credentials")
}

test_each_scope_of_the_token_is_an_action if {
	both := {"scopes": {"requested": ["orders.read", "orders.write"]}}
	issue(both).allow
	r := issue(object.union(both, {"client": {"registration": "DCR"}}))
	forbidden(r, "writes", "issue:scope:orders.write")
	issue({"client": {"registration": "DCR"}}).allow
}

test_a_scope_that_the_token_would_not_have_is_no_action if {
	r := issue({"scopes": {"requested": ["orders.read", "orders.write"], "ceiling": ["orders.read"]}, "client": {"registration": "DCR"}})
	not forbidden(r, "writes", "issue:scope:orders.write")
}

test_the_facts_of_a_user_are_attributes if {
	forbidden(issue(user), "weak", "issue:access_token:authorization_code")
	issue(object.union(user, {"subject": {"amr": ["pwd", "otp"]}})).allow
}

# ---- errors

nameless := {"subject": {"type": "user", "id": "carl"}, "request": {"grant_type": "authorization_code"}}

test_a_forbid_with_an_error_is_skipped_and_listed if {
	r := issue(nameless)
	r.allow
	noted(r) == {"weak"}
	r.scopes == ["orders.read"]
}

test_a_forbid_with_an_error_denies_if_the_row_says_so if {
	r := decide("issue", nameless, {"cedar_errors": "deny"})
	r.allow == false
	r.scopes == []
	noted(r) == {"weak"}
	{c | some reason in r.deny_reasons; c := reason.code} == {"cedar_error"}
}

test_an_unknown_word_for_errors_denies if {
	decide("issue", nameless, {"cedar_errors": "ignore"}).allow == false
	decide("issue", nameless, {"cedar_errors": "skip"}).allow
}

test_a_permit_with_an_error_never_denies if {
	r := decide("authzen", {"authzen": {"subject": {"type": "Group", "id": "staff"}, "action": {"name": "read"}}}, {"cedar_errors": "deny"})
	"staff" in noted(r)
	fixture.codes(r) == {"cedar_error", "no_rule_matched"}
	s := asked({"subject": {"id": "alice", "properties": {"level": "high"}}, "action": {"name": "read"}})
	s == {"allow": true}
}

test_an_address_that_is_none_is_an_error if {
	noted(issue({"environment": {"ip": "unknown"}})) == {"office"}
}

# ---- introspection

orders := {
	"baseline": {"scopes": ["orders.write"], "resource": "https://orders.example"},
	"caller": {"service": true}, "context": {"purpose": "audit"},
}

test_a_satisfied_forbid_denies_introspection if {
	forbidden(introspect(orders), "audience", "introspect")
	introspect(object.union(orders, {"context": {"purpose": "read"}})).allow
	introspect(object.union(orders, {"baseline": {"scopes": ["orders.read"]}})).allow
}

test_equal_forms_of_a_resource_are_one_entity if {
	forbidden(introspect(object.union(orders, {"baseline": {"resource": "https://orders.example/"}})), "audience", "introspect")
}

# ---- access requests

test_guard_denies_what_roles_permit if {
	asked({}).allow
	frozen := asked({"resource": {"id": "t9"}})
	forbidden(frozen, "frozen", "write")
	fixture.codes(frozen) == {"cedar_forbid"}
}

test_guard_ignores_permits if {
	mine := {"subject": {"id": "carl"}, "resource": {"id": "t2", "properties": {"owner": {"__entity": {"type": "User", "id": "carl"}}}}}
	fixture.codes(asked(mine)) == {"no_rule_matched"}
	sourced(mine) == {"allow": true}
	fixture.codes(sourced(object.union(mine, {"subject": {"id": "dora"}}))) == {"no_rule_matched"}
}

test_source_permits_minus_forbids if {
	sourced({"action": {"name": "read"}}).allow
	r := sourced({"subject": {"id": "bob"}, "resource": {"id": "t9"}})
	forbidden(r, "frozen", "write")
	fixture.codes(r) == {"cedar_forbid"}
}

test_source_permits_nothing_else if {
	decide("issue", outside, {"cedar_mode": "source"}).allow == false
	not "client_credentials" in decide("issue", {"request": {"grant_type": "refresh_token"}}, {"cedar_mode": "source"}).scopes
}

test_off_is_as_if_there_were_no_rules if {
	off := {"cedar_mode": "off"}
	decide("issue", outside, off).allow
	decide("introspect", orders, off).allow
	decide("authzen", {"authzen": {"resource": {"id": "t9"}}}, off) == {"allow": true}
	decide("authzen", {"authzen": {"resource": {"type": "urn:none"}}}, off).deny_reasons[0].code == "no_rule_matched"
	fixture.codes(decide("authzen", {"authzen": {"subject": {"id": "carl"}}}, off)) == {"no_rule_matched"}
}

test_an_unknown_mode_guards if {
	every row in [{"cedar_mode": "of"}, {"cedar_mode": false}, {"cedar_mode": null}] {
		decide("issue", outside, row).allow == false
	}
}

test_each_request_of_a_batch_is_judged_alone if {
	row := object.union(fixture.roles, {"cedar_mode": "source"})
	doc := fixture.batch(fixture.authzen_input, [
		fixture.authzen_input.authzen,
		object.union(fixture.authzen_input.authzen, {"resource": {"id": "t9"}}),
		object.union(fixture.authzen_input.authzen, {"subject": {"id": "bob"}}),
		object.union(fixture.authzen_input.authzen, {"action": {"name": "read"}, "resource": {"type": "doc"}}),
	])
	r := fixture.wire(data.svc.decision.authzen_batch.result) with input as doc
		with data.svc.entitlements.bindings as fixture.bindings
		with data.svc.operator.controls.authzen as row
		with data.svc.cedar_data.entities as entities
		with data.svc.cedar_data.types as types
	[e.allow | some e in r.evaluations] == [true, false, false, true]
	forbidden(r.evaluations[1], "frozen", "write")
}

# ---- types

test_a_type_that_is_no_name_needs_the_row if {
	r := asked({"resource": {"type": "urn:x:unknown"}})
	"cedar_unmapped" in fixture.codes(r)
	"cedar_unmapped" in fixture.codes(asked({"subject": {"type": "urn:x:bad"}}))
	not "cedar_unmapped" in fixture.codes(asked({"resource": {"type": "urn:x:order"}}))
	not "cedar_unmapped" in fixture.codes(asked({"resource": {"type": "A::B"}}))
}

test_source_permits_nothing_without_a_form_in_cedar if {
	r := sourced({"resource": {"type": "urn:x:unknown"}})
	fixture.codes(r) == {"cedar_unmapped", "no_rule_matched"}
}

# ---- the question

question(over) := questions[name] if {
	doc := object.union(fixture.authzen_input, {"authzen": over})
	questions := request.questions with input as doc
		with data.svc.cedar_data.entities as entities
		with data.svc.cedar_data.types as types
	some name in object.keys(questions)
}

attributes(properties) := object.get(question({"subject": {"id": "carl", "properties": properties}}).entities, key("User", "carl"), {"attrs": {}}).attrs

test_lists_are_sorted_sets_without_repeats if {
	attributes({"a": ["b", "a", "b"], "n": [[2, 1, 2], [1, 2]]}) == {"a": ["a", "b"], "n": [[1, 2]]}
}

test_a_whole_number_is_a_long_however_it_is_written if {
	every text, value in {
		"1.0": 1, "-1.0": -1, "1e2": 100, "2.50e1": 25, "1E+2": 100, "2000e-3": 2, "0.0": 0, "-0.0": 0, "0e5": 0, "1e18": 1000000000000000000,
		"9223372036854775807.0": 9223372036854775807, "-9223372036854775808.0": -9223372036854775808,
	} {
		attributes(json.unmarshal(sprintf(`{"a":%s}`, [text]))) == {"a": value}
	}
}

test_a_number_of_four_places_is_a_decimal if {
	every text, value in {
		"1.5": 15000, "-1.5": -15000, "19.99": 199900, "0.0001": 1, "1e-4": 1, "12.5e-1": 12500, "1.50000": 15000,
		"922337203685477.5807": 9223372036854775807,
	} {
		attributes(json.unmarshal(sprintf(`{"a":%s}`, [text]))) == {"a": {"__extn": {"fn": "decimal", "v": value}}}
	}
}

test_null_and_other_numbers_are_left_out if {
	every text in [
		"null", "1e19", "-1e19", "9223372036854775808", "9223372036854775808.0", "1e200", "0.00001", "1e-5", "2.00001", "1e-200",
		"922337203685477.5808", "[1,null]", "[1,0.00001]", "[[1e19]]", "[1,1.5,null]",
	] {
		doc := json.unmarshal(sprintf(`{"a":%s,"b":1}`, [text]))
		attributes(doc) == {"b": 1}
		value.partial(doc)
	}
	attributes({"f": {"g": null, "h": 2}, "k": [{"l": null}]}) == {"f": {"h": 2}, "k": [{}]}
	not value.partial({"f": {"h": 2.5}, "k": [{"l": "", "m": false, "n": 0}], "o": {}, "p": []})
}

test_entities_and_extension_values_are_written_as_cedar_writes_them if {
	attributes({
		"e": {"__entity": {"type": "A::B", "id": ""}},
		"i": {"__extn": {"fn": "ip", "arg": "10.0.0.1/8"}},
		"d": {"__extn": {"fn": "decimal", "arg": "1.5"}},
	}) == {
		"e": {"__entity": {"id": "", "type": "A::B"}},
		"i": {"__extn": {"fn": "ip", "v": "40a000001/008", "vlo": "40a000000", "vhi": "40affffff"}},
		"d": {"__extn": {"fn": "decimal", "v": 15000}},
	}
}

test_other_forms_of_them_are_left_out if {
	every part in [
		{"__entity": {"type": "A b", "id": "x"}}, {"__entity": {"type": "A", "id": 1}}, {"__entity": {"type": "A"}},
		{"__entity": {"type": "A\"::B", "id": "x"}}, {"__entity": {"type": "A", "id": "x"}, "more": 1},
		{"__entity": {"type": "A", "id": "x", "more": 1}}, {"__extn": {"fn": "decimal", "v": 15000}},
		{"__extn": {"fn": "decimal", "arg": "x"}}, {"__extn": {"fn": "ip", "arg": 1}}, {"__extn": 1},
		{"__extn": {"fn": "eval", "arg": "1"}}, {"__extn": {"fn": "ip", "arg": "10.0.0.1"}, "x": 1},
	] {
		attributes({"a": part, "b": 1}) == {"b": 1}
		value.partial({"a": part})
	}
}

test_values_are_nested_eight_deep if {
	deep := {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": 1}}}}}}}}
	attributes(deep) == deep
	attributes({"a": deep}) == {"a": {"a": {"a": {"a": {"a": {"a": {"a": {}}}}}}}}
	not value.partial(deep)
	value.partial({"a": deep})
	not value.partial({"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"__entity": {"type": "A", "id": "x"}}}}}}}}}})
}

# What the caller says cannot replace what the operator's row says.
test_a_row_counts_more_than_the_request if {
	q := question({"subject": {"properties": {"level": 9, "hat": "red"}}})
	q.entities[key("User", "alice")] == {
		"attrs": {"level": 3, "amr": ["otp"], "hat": "red"},
		"tags": {"site": "north"},
		"anc": {key("Group", "staff"): true, key("Group", "all"): true},
	}
}

test_an_entity_of_two_parts_has_the_attributes_of_the_first if {
	q := question({
		"subject": {"id": "carl", "properties": {"a": 1}},
		"resource": {"type": "user", "id": "carl", "properties": {"a": 2, "b": 3}},
	})
	q.entities[key("User", "carl")].attrs == {"a": 1}
}

test_context_is_the_callers_but_for_svc if {
	q := question({"context": {"hour": 9, "svc": {"evaluation": "issue", "x": 1}}})
	q.context.hour == 9
	q.context.svc.evaluation == "authzen"
	not q.context.svc.x
	q.context.svc.caller.client_id == "pep"
	q.context.svc.time == {"__extn": {"fn": "datetime", "v": 1795172400000}}
}

test_a_context_that_would_be_another_value_is_left_out if {
	q := question({"context": {"__entity": {"type": "A", "id": "x"}}})
	object.keys(q.context) == {"svc"}
}

test_the_question_of_a_token if {
	questions := request.questions with input as object.union(fixture.issue_input, {"actor": {"type": "client", "id": "web"}})
		with data.svc.entitlements.bindings as fixture.bindings
		with data.svc.registry.resource_types as fixture.registry
	object.keys(questions) == {"issue:access_token:client_credentials", "issue:scope:orders.read"}
	q := questions["issue:scope:orders.read"]
	q.principal == {"__entity": {"id": "crm", "type": "Client"}}
	q.action == {"__entity": {"id": "issue:scope:orders.read", "type": "Action"}}
	q.resource == {"__entity": {"id": "https://as.example", "type": "Audience"}}
	q.entities == {}
	q.context == {"svc": {
		"evaluation": "issue", "endpoint": "/token", "ip": "192.0.2.7", "grant_type": "client_credentials", "dpop": false,
		"client": {
			"id": "crm", "type": "confidential", "registration": "ADMIN",
			"auth_method": "client_secret_basic", "enabled": true,
		},
		"scopes": ["orders.read"], "resource_types": [], "actor": {"__entity": {"id": "web", "type": "Client"}},
		"time": {"__extn": {"fn": "datetime", "v": 1795172400000}},
	}}
}

gateway_input := {
	"evaluation": "gateway", "issuer": "https://as.example",
	"request": {"endpoint": "/gateway/mcp", "now": 1795172460},
	"client": {"id": "app", "type": "public", "registration": "CIMD", "auth_method": "none", "enabled": true},
	"subject": {"type": "user", "id": "carl", "idp": "corp"},
	"token": {"scopes": ["mcp", "github:write"], "resource": "https://as.example/gateway/mcp", "bound": false},
	"resource": {"name": "github", "upstreamType": "REST", "status": "active", "linked": true},
	"action": {
		"kind": "tool", "name": "create_issue", "route": "create-issue", "method": "POST",
		"annotations": {"destructiveHint": false}, "requiredScopes": ["github:write"],
	},
	"arguments": {"owner": "a", "count": 1.5},
	"environment": {"ip": "192.0.2.7", "tls": true},
}

# gateway-admin.md 1.6: an upstream chooses the URIs, so none is the name of a tool.
test_an_mcp_resource_is_no_tool_of_the_same_name if {
	every kind in ["resource", "prompt", "instructions", "completion", "elicitation", "sampling", "roots"] {
		action := {"kind": kind, "name": "create_issue", "template": "create_issue", "requiredScopes": []}
		questions := request.questions with input as object.union(object.remove(gateway_input, ["action", "arguments"]), {"action": action})
		object.keys(questions) == {concat("", ["gateway:", kind, ":create_issue"])}
	}
}

# gateway-admin.md 1.7: prompts and templates are named by upstreams too.
test_a_completion_for_a_prompt_is_none_for_a_template if {
	action := {"kind": "completion", "name": "create_issue", "requiredScopes": []}
	questions := request.questions with input as object.union(object.remove(gateway_input, ["action", "arguments"]), {"action": action})
	object.keys(questions) == {"gateway:prompt_completion:create_issue"}
}

# gateway-admin.md 1.9
test_a_question_of_an_upstream_and_its_answers_are_in_the_context if {
	more := {
		"action": {"kind": "elicitation", "name": "form", "requiredScopes": []},
		"call": {"kind": "tool", "name": "buy"}, "answers": {"many": {"action": "decline"}},
	}
	q := request.questions["gateway:elicitation:form"] with input as object.union(object.remove(gateway_input, ["action"]), more)
	q.context.call == more.call
	q.context.answers == more.answers
}

test_the_question_of_a_request_to_a_managed_resource if {
	questions := request.questions with input as gateway_input
	object.keys(questions) == {"gateway:create_issue"}
	q := questions["gateway:create_issue"]
	q.principal == {"__entity": {"id": "carl", "type": "User"}}
	q.resource == {"__entity": {"id": "github", "type": "Resource"}}
	q.entities[key("User", "carl")].attrs == {"idp": "corp"}
	q.entities[key("Resource", "github")].attrs == {"upstreamType": "REST", "status": "active", "linked": true}
	q.entities[key("Action", "gateway:create_issue")].attrs == {
		"kind": "tool", "route": "create-issue", "method": "POST",
		"annotations": {"destructiveHint": false}, "requiredScopes": ["github:write"],
	}
	q.context == {
		"arguments": {"owner": "a", "count": {"__extn": {"fn": "decimal", "v": 15000}}},
		"svc": {
			"evaluation": "gateway", "endpoint": "/gateway/mcp", "ip": "192.0.2.7", "dpop": false,
			"client": gateway_input.client, "scopes": ["github:write", "mcp"],
			"time": {"__extn": {"fn": "datetime", "v": 1795172460000}},
		},
	}
}

test_a_route_without_an_action_has_its_id if {
	questions := request.questions with input as json.remove(gateway_input, ["action/name", "arguments"])
	object.keys(questions) == {"gateway:create-issue"}
	object.keys(questions["gateway:create-issue"].context) == {"svc"}
}

test_a_request_without_a_subject_has_no_question if {
	questions := request.questions with input as json.remove(gateway_input, ["subject"])
	questions == {}
}

test_a_satisfied_forbid_is_a_reason_at_the_gateway if {
	deny := data.svc.controls.cedar.deny with input as object.union(gateway_input, {"subject": {"amr": ["pwd"]}})
		with data.svc.operator.controls.authzen as {}
	{r.detail | some r in deny} == {{"policy": "weak", "path": "acme/effect.cedar", "action": "gateway:create_issue"}}
}

# ---- arguments that have no value of Cedar

at_gateway(arguments, row) := {r.code | some r in reasons} if {
	reasons := data.svc.controls.cedar.deny with input as object.union(object.remove(gateway_input, ["arguments"]), {"arguments": arguments, "subject": {"amr": ["otp"]}})
		with data.svc.operator.controls.authzen as {}
		with data.svc.operator.controls.gateway as row
}

test_arguments_without_a_value_of_cedar_deny if {
	every part in [null, [1, null], [0.00001], 1e19, {"x": {"y": null}}, {"__extn": {"fn": "eval", "arg": "1"}}] {
		at_gateway({"euros": part}, {}) == {"cedar_unmapped"}
		at_gateway({"euros": part}, {"cedar_unmapped": "deny"}) == {"cedar_unmapped"}
		at_gateway({"euros": part}, {"cedar_unmapped": "skip"}) == {"cedar_unmapped"}
		at_gateway({"euros": part}, {"cedar_unmapped": "allow"}) == set()
	}
	at_gateway({"__entity": {"type": "A", "id": "x"}}, {}) == set()
	at_gateway({"euros": 2000.5, "note": "", "to": []}, {}) == set()
}

# A decimal cannot be compared with a Long: the rule has an error.
test_a_fraction_beside_the_error_of_a_forbid_denies if {
	policies := {"r1": {"path": "p.cedar", "forbidding": {"p"}, "result": {"permits": set(), "forbids": set(), "errors": {"p", "q"}}}}
	at_gateway({"euros": 2000.5}, {}) == {"cedar_unmapped"} with data.svc.cedar.policies as policies
	at_gateway({"euros": 2000.0}, {}) == set() with data.svc.cedar.policies as policies
	at_gateway({"euros": 2000.5}, {"cedar_unmapped": "allow"}) == set() with data.svc.cedar.policies as policies
	at_gateway({"euros": 2000.5}, {}) == set() with data.svc.cedar.policies as json.patch(policies, [{"op": "replace", "path": "r1/forbidding", "value": {"r"}}])
}

# There the one who asks is the one who enforces.
test_other_callers_are_told_by_the_context if {
	q := question({"context": {"a": null}})
	q.context.svc.partial == true
	asked({"context": {"a": null}}).allow
	every over in [{"subject": {"properties": {"a": null}}}, {"resource": {"properties": {"a": [1e19]}}}, {"action": {"properties": {"a": null}}}] {
		question(over).context.svc.partial == true
	}
	whole := question({"context": {"a": 1.5, "b": []}})
	not whole.context.svc.partial
	odd := question({"context": {"__entity": {"type": "A", "id": "x"}}})
	odd.context.svc.partial == true
}

# ---- the result of all files

result(over) := r if {
	r := data.svc.cedar.result with input as object.union(fixture.authzen_input, {"authzen": over})
		with data.svc.cedar_data.entities as entities
		with data.svc.cedar_data.types as types
}

found(action, id) := {{"policy": id, "path": "acme/effect.cedar", "action": action}}

test_the_result_is_that_of_cedar if {
	allowed := result({"action": {"name": "read"}})
	allowed.decision == "allow"
	allowed.reason == found("read", "staff")
	allowed.errors == set()
	denied := result({"subject": {"id": "bob"}, "resource": {"id": "t9"}})
	denied.decision == "deny"
	denied.reason == found("write", "frozen")
	denied.permits == found("write", "owner")
	nothing := result({"subject": {"id": "eve"}, "action": {"name": "shred"}})
	nothing.decision == "deny"
	nothing.reason == set()
	nothing.errors == found("shred", "broken")
}
