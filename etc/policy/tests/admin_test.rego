package admin_test

import data.fixture

asked(over) := answer if {
	answer := fixture.wire(data.svc.decision.admin.result) with input as object.union(fixture.admin_input, over)
}

test_without_a_rule_the_role_alone_decides if {
	asked({}) == {"allow": true}
	asked({"admin": {"role": "auditor"}}).allow
}

test_an_operators_rule_refuses if {
	r := asked({}) with data.custom.admin.deny as {"not today"}
	fixture.refused(r, "not today")
}

test_a_hook_of_another_type_refuses if {
	every hook in ["x", [], {}, true, null] {
		r := asked({}) with data.custom.admin.deny as hook
		fixture.refused(r, "hook_invalid")
	}
}

test_another_question_is_refused if {
	every evaluation in ["issue", "gateway", "", null] {
		not asked({"evaluation": evaluation}).allow
	}
}
