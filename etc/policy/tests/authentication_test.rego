package authentication_test

import data.fixture

orders := {"resource": {"types": ["urn:r:orders"]}}

user := {"subject": {"type": "user", "id": "alice", "idp": "corp", "acr": "urn:loa:2", "auth_time": 1795172300}}

issue(row, over) := r if {
	r := fixture.issue(object.union(orders, over)) with data.svc.entitlements.bindings as fixture.wide
		with data.svc.registry.resource_types as fixture.registry
		with data.svc.operator.controls.authentication as row
}

introspect(row, over) := r if {
	doc := object.union(
		{
			"baseline": {"resource_types": ["urn:r:orders"]},
			"issued": {"subject": {"type": "user", "id": "alice", "acr": "urn:loa:1", "auth_time": 1795172000}},
		},
		over,
	)
	r := fixture.introspect(doc) with data.svc.entitlements.bindings as fixture.wide
		with data.svc.registry.resource_types as fixture.registry
		with data.svc.operator.controls.authentication as row
}

demand(rule) := {"by_resource_type": {"urn:r:orders": rule}}

test_a_row_without_demands_allows if {
	issue({}, {}).allow
	issue(demand({"acr": []}), {}).allow
	issue({"by_resource_type": {"urn:r:stock": {"acr": ["urn:loa:3"]}}}, {}).allow
}

test_the_acr_must_be_listed if {
	issue(demand({"acr": ["urn:loa:2", "urn:loa:3"]}), user).allow
	fixture.refused(issue(demand({"acr": ["urn:loa:3"]}), user), "acr_too_low")
}

test_a_subject_without_acr_is_refused if fixture.refused(issue(demand({"acr": ["urn:loa:2"]}), {}), "acr_too_low")

# In the fixture the present time is 100 s after the sign-in.
test_the_sign_in_may_not_be_older_than_max_age if {
	issue(demand({"max_age": 100}), user).allow
	fixture.refused(issue(demand({"max_age": 99}), user), "auth_too_old")
	fixture.refused(issue(demand({"max_age": 100}), {}), "auth_too_old")
}

test_dpop_must_be_valid_where_required if {
	row := {"dpop_required_resource_types": ["urn:r:orders"]}
	fixture.refused(issue(row, {}), "dpop_required")
	fixture.refused(issue(row, {"environment": {"dpop": {"present": true, "valid": false}}}), "dpop_required")
	issue(row, {"environment": {"dpop": {"present": true, "valid": true}}}).allow
	issue({"dpop_required_resource_types": ["urn:r:stock"]}, {}).allow
}

test_introspection_checks_the_sign_in_at_issuance if {
	introspect({}, {}).allow
	introspect(demand({"acr": ["urn:loa:1"]}), {}).allow
	fixture.refused(introspect(demand({"acr": ["urn:loa:2"]}), {}), "acr_too_low")
	introspect(demand({"max_age": 400}), {}).allow
	fixture.refused(introspect(demand({"max_age": 399}), {}), "auth_too_old")
	fixture.refused(introspect({"dpop_required_resource_types": ["urn:r:orders"]}, {}), "dpop_required")
	introspect({"dpop_required_resource_types": ["urn:r:orders"]}, {"token": {"cnf": {"jkt": "x"}}}).allow
}

# At introspection the DPoP proof is the resource server's; at issuance there is no token yet.
test_the_key_binding_comes_from_the_proof_or_the_token if {
	row := {"dpop_required_resource_types": ["urn:r:orders"]}
	fixture.refused(introspect(row, {"environment": {"dpop": {"valid": true}}}), "dpop_required")
	fixture.refused(issue(row, {"token": {"cnf": {"jkt": "x"}}}), "dpop_required")
}

# /authorize sees no proof; /token asks again.
test_a_preview_does_not_ask_for_the_proof if {
	row := {"dpop_required_resource_types": ["urn:r:orders"]}
	issue(row, {"evaluation": "preview"}).allow
}

test_a_broken_row_denies if {
	every row in [[], "x", false, null, {"by_resource_type": []}, {"by_resource_type": "x"}, {"by_resource_type": {"urn:r:orders": "x"}}, {"by_resource_type": {"urn:r:orders": {"acr": "urn:loa:2"}}}] {
		fixture.refused(issue(row, user), "acr_too_low")
	}
	every row in [{"by_resource_type": false}, demand({"max_age": "100"}), demand({"max_age": false}), demand([])] {
		fixture.refused(issue(row, user), "auth_too_old")
	}
	every row in [[], {"dpop_required_resource_types": "urn:r:orders"}, {"dpop_required_resource_types": {}}] {
		fixture.refused(issue(row, user), "dpop_required")
	}
}
