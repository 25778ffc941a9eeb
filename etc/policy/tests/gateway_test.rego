# Requests through the gateway: the scopes of the operation, the status of the resource, the operator's
# hooks, and the list of tools.
package gateway_test

import data.fixture

asked(over) := fixture.gateway(over)

without(paths) := fixture.gateway_without({}, paths)

scopes(held) := {"token": {"scopes": held}}

# ---- arguments

# gateway-admin.md 3.8
test_arguments_that_policy_does_not_have_are_denied if {
	r := asked({"truncated": true})
	fixture.refused(r, "arguments_too_long")
	not r.step_up
	asked({"truncated": false}).allow
}

test_the_row_may_let_such_a_request_pass if {
	asked({"truncated": true}).allow == true with data.svc.operator.controls.gateway as {"truncated": "allow"}
	every row in [{"truncated": "deny"}, {"truncated": "yes"}, {"truncated": true}, {"cedar_unmapped": "allow"}, {}] {
		r := asked({"truncated": true}) with data.svc.operator.controls.gateway as row
		fixture.refused(r, "arguments_too_long")
	}
}

# ---- scopes

test_a_token_with_the_scopes_of_the_operation_is_let_in if {
	asked({}) == {"allow": true, "argument_mode": "keys"}
	asked(scopes(["github:write", "other"])).allow
	asked({"action": {"requiredScopes": []}}).allow
}

test_a_missing_scope_asks_for_a_new_authorization if {
	r := asked(scopes(["mcp", "github:read"]))
	r.allow == false
	r.step_up == {"scopes": ["github:write"]}
	fixture.codes(r) == {"scope_missing"}
	r.deny_reasons[0].detail == {"scope": "github:write"}
}

# gateway-admin.md 1.2: one challenge names all of them.
test_all_missing_scopes_are_named_at_once if {
	r := asked({"token": {"scopes": []}, "action": {"requiredScopes": ["b", "a", "c"]}})
	r.step_up == {"scopes": ["a", "b", "c"]}
	count(r.deny_reasons) == 3
}

# gateway-admin.md 3.7: `implies` of the connector's manifest.
implying(held, implies) := {"token": {"scopes": held}, "resource": {"implies": implies}}

test_a_scope_implies_those_that_the_connector_says if {
	asked(implying(["github:admin"], {"github:admin": ["github:read", "github:write"]})).allow
	asked(implying(["github:write"], {"github:admin": ["github:write"]})).allow
}

test_a_scope_implies_nothing_else if {
	every over in [
		implying(["github:admin"], {"github:admin": ["github:read"]}),
		implying(["github:admin"], {"github:write": ["github:admin"]}),
		implying(["github:read"], {"github:admin": ["github:write"]}),
		implying([], {"github:admin": ["github:write"]}),
		implying(["github:admin"], {}),
		implying(["github:admin"], {"github:admin": {"github:write": true}}),
		implying(["github:admin"], {"github:admin": "github:write"}),
		implying(["github:admin"], ["github:write"]),
		implying(["github:admin"], null),
	] {
		r := asked(over)
		fixture.codes(r) == {"scope_missing"}
		r.step_up == {"scopes": ["github:write"]}
	}
}

test_the_base_scope_is_no_scope_of_the_operation if {
	asked(scopes(["github:write"])).allow
	asked(scopes(["mcp"])).allow == false
}

test_a_scope_counts_only_in_its_own_spelling if {
	every held in [["github"], ["github:*"], ["github:write2"], ["GitHub:write"], ["*"], ""] {
		asked(scopes(held)).allow == false
	}
}

test_scopes_of_a_wrong_type_let_nobody_in if {
	every over in [
		{"token": {"scopes": "github:write"}}, {"token": {"scopes": null}}, {"token": {"scopes": {"github:write": true}}},
		{"action": {"requiredScopes": "github:write"}}, {"action": {"requiredScopes": null}},
	] {
		r := asked(over)
		fixture.refused(r, "operation_unknown")
		not r.step_up
	}
	fixture.refused(without(["/token/scopes"]), "operation_unknown")
	fixture.refused(without(["/action/requiredScopes"]), "operation_unknown")
}

test_the_question_of_another_evaluation_is_refused if {
	every name in ["issue", "introspect", "gateway_tools", ""] {
		doc := object.union(fixture.gateway_input, {"evaluation": name})
		not data.svc.decision.gateway.result.allow with input as doc
	}
	not data.svc.decision.gateway.result.allow with input as {}
	not data.svc.decision.gateway_tools.result.allow with input as {}
}

# ---- the resource

test_a_resource_that_serves_requests_is_open if {
	every status in ["pending", "active", "degraded"] {
		asked({"resource": {"status": status}}).allow
	}
}

test_a_resource_of_another_status_is_closed if {
	every status in ["error", "disabled", "", "Active", null] {
		r := asked({"resource": {"status": status}})
		fixture.refused(r, "resource_not_serving")
	}
	fixture.refused(without(["/resource/status"]), "resource_not_serving")
	fixture.refused(without(["/resource"]), "resource_not_serving")
}

# A new authorization would not open it.
test_no_step_up_while_anything_but_scopes_is_in_the_way if {
	r := asked(object.union(scopes([]), {"resource": {"status": "error"}}))
	r.allow == false
	not r.step_up
	with_rule := asked(scopes([])) with data.custom.gateway.deny as {"not_now"}
	not with_rule.step_up
	fixture.codes(with_rule) == {"not_now", "scope_missing"}
}

# ---- hooks

test_an_operators_rule_denies if {
	r := asked({}) with data.custom.gateway.deny as {"not_now"}
	r.allow == false
	r.deny_reasons == [{"code": "not_now", "category": "policy", "control": "custom", "message": "not_now"}]
}

test_a_rule_sees_the_arguments if {
	fixture.refused(asked({"request": {"id": "hooked"}, "arguments": {"repo": "secret"}}), "repo_closed")
	asked({"request": {"id": "hooked"}, "arguments": {"repo": "open"}}).allow
}

test_a_deny_hook_of_a_wrong_type_denies if {
	every hook in [true, false, "stop", ["stop"], {"stop": true}, 1] {
		r := asked({}) with data.custom.gateway.deny as hook
		fixture.refused(r, "hook_invalid")
	}
}

test_an_obligations_hook_of_a_wrong_type_denies if {
	every hook in [true, "redact", ["redact"], {"redact"}, 1] {
		r := asked({}) with data.custom.gateway.obligations as hook
		fixture.refused(r, "hook_invalid")
	}
}

test_obligations_come_with_an_allowed_request_alone if {
	demanded := {"redact": ["/body/email"], "response_max_bytes": 1024, "headers": {"X-Purpose": "support"}}
	r := asked({}) with data.custom.gateway.obligations as demanded
	r.allow
	r.obligations == demanded
	refused := asked(scopes([])) with data.custom.gateway.obligations as demanded
	not refused.obligations
}

test_no_obligations_are_no_member if not asked({}).obligations

# ---- answers that a web server may keep (gateway-admin.md 1.8)

test_a_rule_says_for_how_long_an_answer_may_be_kept if {
	every seconds in [0, 1, 30, 30.0] {
		r := asked({}) with data.custom.gateway.cache_seconds as seconds
		r == {"allow": true, "argument_mode": "keys", "cache_seconds": seconds}
	}
	not asked({}).cache_seconds
}

test_seconds_that_are_no_integer_from_0_to_30_deny if {
	every hook in [-1, 31, 0.5, "30", true, null, {30}, [30]] {
		r := asked({}) with data.custom.gateway.cache_seconds as hook
		fixture.refused(r, "hook_invalid")
		not r.cache_seconds
	}
}

test_an_answer_with_obligations_and_a_denial_are_not_kept if {
	demanding := asked({}) with data.custom.gateway as {"cache_seconds": 30, "obligations": {"response_max_bytes": 1}}
	demanding.allow
	not demanding.cache_seconds
	refused := asked(scopes([])) with data.custom.gateway.cache_seconds as 30
	not refused.allow
	not refused.cache_seconds
}

# ---- the audit row

test_the_row_says_which_arguments_are_stored if {
	every mode in ["full", "keys", "none"] {
		r := asked({}) with data.svc.operator.controls.audit as {"argument_mode": mode}
		r.argument_mode == mode
	}
}

test_a_broken_row_stores_names_alone if {
	every row in [{}, {"argument_mode": "all"}, {"argument_mode": ["full"]}, {"argument_mode": true}, {"mode": "full"}] {
		r := asked({}) with data.svc.operator.controls.audit as row
		r.argument_mode == "keys"
	}
}

test_a_denied_request_says_it_too if asked(scopes([])).argument_mode == "keys"

# ---- tools

tools(held, list) := r if {
	doc := fixture.gateway_tools_input(held, list)
	r := fixture.wire(data.svc.decision.gateway_tools.result) with input as doc
}

tool(place, name, required) := {"resource": place, "action": {"kind": "tool", "name": name, "requiredScopes": required}}

three := [tool(0, "read", ["github:read"]), tool(0, "write", ["github:write"]), tool(1, "old", ["github:read"])]

# The plain case applies without rules of an operator; hooked_gateway.rego is one.
test_the_plain_case_answers_as_the_general_one if {
	every held in [[], ["github:read"], ["github:write"], ["github:read", "github:write", "x"], "github:read", null] {
		every list in [[], three, [tool(0, "a", []), tool(0, "b", "github:read"), tool(0, "c", null), tool(1, "d", [])], [tool(7, "e", [])]] {
			doc := fixture.gateway_tools_input(held, list)
			plain := data.svc.decision.gateway_tools.result with input as doc with data.custom as {}
			plain == data.svc.decision.gateway_tools.general with input as doc with data.custom as {}
		}
	}
}

test_the_plain_case_answers_as_the_general_one_about_implied_scopes if {
	every implies in [{"admin": ["github:read"]}, {"admin": ["github:read", "github:write"]}, {"admin": "github:read"}, {}, null] {
		every held in [["admin"], ["admin", "github:write"], [], "admin"] {
			doc := json.patch(fixture.gateway_tools_input(held, three), [{"op": "add", "path": "/resources/0/implies", "value": implies}])
			plain := data.svc.decision.gateway_tools.result with input as doc with data.custom as {}
			plain == data.svc.decision.gateway_tools.general with input as doc with data.custom as {}
		}
	}
	doc := json.patch(
		fixture.gateway_tools_input(["admin"], three),
		[{"op": "add", "path": "/resources/0/implies", "value": {"admin": ["github:read"]}}],
	)
	r := data.svc.decision.gateway_tools.result with input as doc with data.custom as {}
	r.verdicts == ["allow", "step_up", "deny"]
}

test_the_plain_case_does_not_apply_beside_a_rule_of_the_operator if {
	doc := fixture.gateway_tools_input(["github:read", "github:write"], three)
	every hook in [set(), false, null, []] {
		r := data.svc.decision.gateway_tools.result with input as doc with data.custom as {"gateway": {"deny": hook}}
			with data.svc.decision.gateway_tools.general as "general"
		r == "general"
		other := data.svc.decision.gateway_tools.result with input as doc with data.custom as {"gateway": {"obligations": hook}}
			with data.svc.decision.gateway_tools.general as "general"
		other == "general"
		third := data.svc.decision.gateway_tools.result with input as doc with data.custom as {"gateway": {"cache_seconds": hook}}
			with data.svc.decision.gateway_tools.general as "general"
		third == "general"
	}
	taken := data.svc.decision.gateway_tools.result with input as doc with data.custom as {}
		with data.svc.decision.gateway_tools.general as "general"
	taken.allow
}

# Of more tools than a question can hold, each stands for all with its resource and scopes.
test_a_grouped_question_is_answered_in_the_plain_case_alone if {
	doc := object.union(fixture.gateway_tools_input(["github:read"], three), {"grouped": true})
	plain := data.svc.decision.gateway_tools.result with input as doc with data.custom as {}
	plain == {"allow": true, "argument_mode": "keys", "grouped": true, "verdicts": ["allow", "step_up", "deny"]}
	every hook in [set(), {"stop"}] {
		ruled := data.svc.decision.gateway_tools.result with input as doc with data.custom as {"gateway": {"deny": hook}}
		ruled == {"allow": false}
	}
}

test_each_tool_has_a_verdict_in_its_place if {
	tools(["github:read"], three) == {"allow": true, "argument_mode": "keys", "verdicts": ["allow", "step_up", "deny"]}
	tools(["github:read", "github:write"], three).verdicts == ["allow", "allow", "deny"]
	tools([], three).verdicts == ["step_up", "step_up", "deny"]
	tools([], []) == {"allow": true, "argument_mode": "keys", "verdicts": []}
}

test_a_tool_of_an_unknown_resource_does_not_pass if {
	r := tools(["github:read"], [tool(0, "read", ["github:read"]), tool(7, "read", ["github:read"])])
	r.verdicts != ["allow", "allow"]
}

test_an_operators_rule_hides_a_tool if {
	hooked := object.union(
		fixture.gateway_tools_input(["github:read", "github:write"], three),
		{"request": {"id": "hooked"}},
	)
	r := fixture.wire(data.svc.decision.gateway_tools.result) with input as hooked
	r.verdicts == ["allow", "deny", "deny"]
}

test_a_hook_of_a_wrong_type_hides_all_tools if {
	r := tools(["github:read", "github:write"], three) with data.custom.gateway.deny as "stop"
	r.verdicts == ["deny", "deny", "deny"]
}

# A list without arguments and a call with them are decided by the same rules.
test_a_tool_of_the_list_has_the_verdict_of_a_call if {
	every held in [[], ["github:read"], ["github:write"], ["github:read", "github:write"]] {
		every t in three {
			call := asked({
				"token": {"scopes": held}, "action": t.action,
				"resource": fixture.gateway_tools_input(held, three).resources[t.resource],
			})
			verdict(call) == tools(held, [t]).verdicts[0]
		}
	}
}

verdict(call) := "allow" if call.allow

else := "step_up" if call.step_up

else := "deny"
