package registry_test

import data.fixture

issue(binding, over) := issue_in(fixture.registry, binding, over)

issue_in(registry, binding, over) := r if {
	full := object.union({"grants": ["client_credentials"], "scopes": ["orders.read"]}, binding)
	r := fixture.issue(over) with data.svc.entitlements.bindings as fixture.bind("crm", full)
		with data.svc.registry.resource_types as registry
}

details(d) := {"authorization_details": [d], "scopes": {"requested": []}}

pay := {"type": "payment", "actions": ["initiate"], "amount": 50}

test_an_unknown_resource_type_is_refused_as_unknown if {
	r := issue({"resource_types": ["urn:r:none"]}, {"resource": {"types": ["urn:r:none"]}})
	"resource_type_unknown" in fixture.codes(r)
	not "resource_not_entitled" in fixture.codes(r)
	r.allow == false
}

test_entitled_details_are_granted_as_asked if {
	r := issue({"authorization_details": ["payment"]}, details(pay))
	r.allow
	r.authorization_details == [pay]
}

test_resource_types_entitle_details_too if issue({"resource_types": ["payment"]}, details(pay)).allow

test_details_without_entitlement_are_refused if {
	r := issue({}, details(pay))
	fixture.codes(r) == {"rar_not_entitled"}
	r.deny_reasons[0].category == "details"
}

test_details_of_an_unknown_type_are_refused if {
	fixture.codes(issue({"authorization_details": ["other"]}, details({"type": "other"}))) == {"rar_type_unknown"}
}

test_one_bad_entry_refuses_all if {
	r := issue({"authorization_details": ["payment"]}, {"authorization_details": [pay, {"type": "other"}]})
	fixture.refused(r, "rar_type_unknown")
}

# Values that the type does not list are refused (RFC 9396 5).
test_values_outside_the_registry_are_refused if {
	every d in [{"type": "payment", "actions": ["cancel"]}, {"type": "payment", "actions": ["initiate", "cancel"]}, {"type": "payment", "actions": "initiate"}, {"type": "payment", "actions": {"a": "cancel"}}] {
		fixture.refused(issue({"authorization_details": ["payment"]}, details(d)), "rar_value_unknown")
	}
	issue({"authorization_details": ["payment"]}, details({"type": "payment"})).allow
}

rar(type) := {"resource": {"types": {}}, "rar": {"types": {"payment": type}}}

test_details_must_match_the_types_schema if {
	reg := rar({"schema": {"type": "object", "properties": {"amount": {"type": "integer", "maximum": 50}}}})
	issue_in(reg, {"authorization_details": ["payment"]}, details(pay)).allow
	dear := object.union(pay, {"amount": 51})
	fixture.refused(issue_in(reg, {"authorization_details": ["payment"]}, details(dear)), "rar_value_unknown")
}

test_a_broken_row_denies if {
	every row in [[], "x", false, null, {}, {"rar": []}, {"rar": {"types": "x"}}, {"rar": {"types": {"payment": false}}}] {
		fixture.refused(issue_in(row, {"authorization_details": ["payment"]}, details(pay)), "rar_type_unknown")
	}
	every type in [{"actions": "initiate"}, {"actions": false}, {"schema": "x"}, {"schema": {"type": "nonsense"}}] {
		fixture.refused(issue_in(rar(type), {"authorization_details": ["payment"]}, details(pay)), "rar_value_unknown")
	}
	every row in [[], {}, {"resource": {"types": []}}, {"resource": {"types": {"urn:r:orders": false}}}] {
		r := issue_in(row, {"resource_types": ["urn:r:orders"]}, {"resource": {"types": ["urn:r:orders"]}})
		fixture.refused(r, "resource_type_unknown")
	}
}

test_introspection_checks_types_and_details_again if {
	typed := {"baseline": {"resource_types": ["urn:r:orders"], "authorization_details": [pay]}}
	b := fixture.bind("crm", {"grants": ["client_credentials"], "scopes": ["orders.read", "orders.write"], "resource_types": ["urn:r:orders"], "authorization_details": ["payment"]})
	ok := fixture.introspect(typed) with data.svc.entitlements.bindings as b
		with data.svc.registry.resource_types as fixture.registry
	ok.allow
	ok.authorization_details == [pay]
	gone := fixture.introspect(typed) with data.svc.entitlements.bindings as b
	fixture.codes(gone) == {"resource_type_unknown", "rar_type_unknown", "scope_not_entitled"}
}
