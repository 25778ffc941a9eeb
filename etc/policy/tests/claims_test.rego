# The control `claims` (world.md U7): a user of whom the identity provider did not give all claims is denied, whatever a
# rule says about the claims that are there.
package claims_test

import data.fixture

user := {"type": "user", "id": "ann", "idp": "corp", "claims": {"email": "ann@corp.example"}}

incomplete := object.union(user, {"claims_incomplete": ["groups"]})

rows := [{}, {"incomplete": "deny"}, {"except": ["other"]}, {"incomplete": true}, {"incomplete": null}, [], "allow", {"except": "crm"}]

issue(evaluation, who, row) := r if {
	r := fixture.issue({"evaluation": evaluation, "subject": who}) with data.svc.entitlements.bindings as fixture.bindings
		with data.svc.operator.controls.claims as row
}

introspect(who, row) := r if {
	r := fixture.introspect({"issued": {"subject": who}}) with data.svc.entitlements.bindings as fixture.bindings
		with data.svc.operator.controls.claims as row
}

gateway(who, row) := r if {
	doc := object.union(fixture.gateway_input, {"subject": who})
	r := fixture.wire(data.svc.decision.gateway.result) with input as doc with data.svc.operator.controls.claims as row
}

admin(who, row) := r if {
	doc := object.union(fixture.admin_input, {"subject": who})
	r := fixture.wire(data.svc.decision.admin.result) with input as doc with data.svc.operator.controls.claims as row
}

answers(who, row) := [
	issue("issue", who, row), issue("preview", who, row), introspect(who, row), gateway(who, row), admin(who, row),
]

test_incomplete_claims_are_denied_at_every_entrypoint if {
	every row in rows {
		every answer in answers(incomplete, row) {
			fixture.refused(answer, "claims_incomplete")
		}
	}
}

# Not even an empty list, false or null is complete: the service leaves the member out then.
test_a_mark_of_any_value_denies if {
	every mark in [[], false, null, "groups", {"groups": true}, ["*"]] {
		every answer in answers(object.union(user, {"claims_incomplete": mark}), {"incomplete": "deny"}) {
			fixture.refused(answer, "claims_incomplete")
		}
	}
}

test_complete_claims_are_no_reason if {
	every row in rows {
		every answer in answers(user, row) {
			answer.allow
		}
	}
}

test_the_row_may_allow_them if {
	every answer in answers(incomplete, {"incomplete": "allow"}) {
		answer.allow
	}
}

test_the_row_may_except_clients if {
	row := {"incomplete": "deny", "except": ["crm"]}
	issue("issue", incomplete, row).allow
	issue("preview", incomplete, row).allow
	introspect(incomplete, row).allow
	fixture.refused(admin(incomplete, row), "claims_incomplete")
}

# A list of tools hides what a call would deny, in the plain case too.
test_tools_are_hidden if {
	doc := object.union(fixture.gateway_tools_input(["orders.read"], [{"resource": 0, "action": {"requiredScopes": []}}]), {"subject": incomplete})
	denied := fixture.wire(data.svc.decision.gateway_tools.result) with input as doc
		with data.custom as {}
		with data.svc.operator.controls.claims as {}
	denied.verdicts == ["deny"]
	allowed := fixture.wire(data.svc.decision.gateway_tools.result) with input as doc
		with data.custom as {}
		with data.svc.operator.controls.claims as {"incomplete": "allow"}
	allowed.verdicts == ["allow"]
}

# What a rule asks where the row allows such users.
test_the_helper_names_what_is_incomplete if {
	doc := object.union(fixture.issue_input, {"subject": incomplete})
	data.svc.lib.claims.incomplete("groups") with input as doc
	not data.svc.lib.claims.incomplete("roles") with input as doc
	data.svc.lib.claims.incomplete("roles") with input as object.union(doc, {"subject": {"claims_incomplete": ["*"]}})
	not data.svc.lib.claims.incomplete("groups") with input as object.union(fixture.issue_input, {"subject": user})
	shown := object.union(fixture.introspect_input, {"issued": {"subject": incomplete}})
	data.svc.lib.claims.incomplete("groups") with input as shown
}
