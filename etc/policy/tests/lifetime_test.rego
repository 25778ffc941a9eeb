package lifetime_test

import data.fixture

issue(row, binding) := issue_for(row, binding, {})

issue_for(row, binding, over) := r if {
	full := object.union({"grants": ["client_credentials"], "scopes": ["orders.read"], "resources": ["https://api.example"]}, binding)
	r := fixture.issue(over) with data.svc.entitlements.bindings as fixture.bind("crm", full)
		with data.svc.operator.controls.lifetime as row
		with data.svc.registry.resource_types as fixture.registry
}

stock := {"resource": {"types": ["urn:r:stock"]}, "scopes": {"requested": []}}

test_no_lifetime_set_overrides_nothing if issue({}, {}).expires_in_override == null

test_the_bindings_lifetime_overrides if issue({}, {"ttl": 7200}).expires_in_override == 7200

test_the_default_overrides if issue({"default_ttl": 600}, {}).expires_in_override == 600

test_the_smallest_wins if {
	issue({"default_ttl": 600}, {"ttl": 60}).expires_in_override == 60
	issue({"default_ttl": 600}, {"ttl": 900}).expires_in_override == 600
}

test_the_maximum_limits_the_lifetime if {
	issue({"max_ttl": 300}, {"ttl": 900}).expires_in_override == 300
	issue({"max_ttl": 300}, {"ttl": 200}).expires_in_override == 200
}

test_the_maximum_limits_the_configured_lifetime if {
	issue({"max_ttl": 300}, {}).expires_in_override == 300
	issue({"max_ttl": 3600}, {}).expires_in_override == null
	issue({"max_ttl": 7200}, {}).expires_in_override == null
}

test_resource_types_have_lifetimes if {
	issue_for({}, {"resource_types": ["urn:r:stock"]}, stock).expires_in_override == 120
	issue_for({"by_resource_type": {"urn:r:stock": 30, "urn:r:orders": 5}}, {"resource_types": ["urn:r:stock"]}, stock).expires_in_override == 30
}

test_a_lifetime_of_zero_denies if {
	fixture.refused(issue({"default_ttl": 0}, {}), "ttl_zero")
	fixture.refused(issue({"max_ttl": 0}, {}), "ttl_zero")
	fixture.refused(issue({}, {"ttl": 0}), "ttl_zero")
	fixture.refused(issue({}, {"ttl": -1}), "ttl_zero")
	fixture.refused(issue_for({"by_resource_type": {"urn:r:stock": 0}}, {"resource_types": ["urn:r:stock"]}, stock), "ttl_zero")
}

test_a_broken_row_denies if {
	every row in [
		[], "x", false, null,
		{"default_ttl": "600"}, {"default_ttl": 1.5}, {"default_ttl": false},
		{"max_ttl": "600"}, {"max_ttl": null},
		{"by_resource_type": []}, {"by_resource_type": "x"},
		{"jit_resource_types": "urn:r:stock"}, {"jit_resource_types": {}},
	] {
		fixture.refused(issue(row, {}), "ttl_zero")
	}
}

test_a_broken_binding_lifetime_denies if {
	every ttl in ["60", false, 1.5, [60]] {
		fixture.refused(issue({}, {"ttl": ttl}), "ttl_zero")
	}
}

test_single_use_comes_from_the_binding if {
	issue({}, {"jit_single_use": true}).jit_single_use == true
	issue({}, {"jit_single_use": false}).jit_single_use == false
	issue({}, {"jit_single_use": "no"}).jit_single_use == true
}

test_single_use_comes_from_the_resource_type if {
	row := {"jit_resource_types": ["urn:r:stock"]}
	issue_for(row, {"resource_types": ["urn:r:stock"]}, stock).jit_single_use == true
	issue(row, {}).jit_single_use == false
}

test_the_smallest_of_all_bindings_counts if {
	b := json.patch(fixture.bind("crm", {"grants": ["client_credentials"], "scopes": ["orders.read"], "ttl": 100}), [{
		"op": "add", "path": "registrations/ADMIN", "value": {"ttl": 50, "jit_single_use": true},
	}])
	r := fixture.issue({}) with data.svc.entitlements.bindings as b
	r.expires_in_override == 50
	r.jit_single_use == true
	r.matched_segments == ["binding:clients/crm", "binding:registrations/ADMIN"]
}
