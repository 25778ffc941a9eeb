# The service itself as caller, for one of its own endpoints (/userinfo).
package service_test

import data.fixture

service := {"service": true, "client_id": "crm"}

baseline := object.union(fixture.introspect_input.baseline, {"resource": "https://api.example/orders"})

# Replaces the whole caller; object.union would keep members of the fixture's caller.
ask(caller, over) := fixture.introspect_without(
	object.union(object.union({"caller": caller}, over), {"caller": caller}),
	["/caller/registration", "/caller/type", "/caller/auth_method"],
)

test_the_service_may_introspect_without_a_binding if {
	r := ask(service, {}) with data.svc.entitlements.bindings as fixture.bindings
	r.allow
	r.scopes == ["orders.read", "orders.write"]
}

test_the_service_is_in_the_audience_of_every_token if {
	r := ask(service, {"baseline": baseline}) with data.svc.entitlements.bindings as fixture.bind("crm", {
		"grants": ["client_credentials"], "scopes": ["orders.read", "orders.write"],
		"resources": ["https://api.example/orders"],
	})
	r.allow
}

test_no_row_excludes_the_service if {
	every row in [{"allow_callers": ["shop"]}, {"require_context": true}] {
		r := ask(service, {}) with data.svc.entitlements.bindings as fixture.bindings
			with data.svc.operator.controls.introspection as row
		r.allow
	}
}

test_rights_that_the_client_lost_are_not_shown_to_the_service if {
	r := ask(service, {}) with data.svc.entitlements.bindings as {}
	not r.allow
}

test_only_true_makes_a_caller_the_service if {
	every value in ["true", 1, {}, [], null, false] {
		r := ask({"service": value, "client_id": "nobody"}, {}) with data.svc.entitlements.bindings as fixture.bindings
		fixture.refused(r, "introspection_not_entitled")
	}
}

# The values of a request are in other members of the input.
test_a_context_cannot_mark_a_caller_as_the_service if {
	r := fixture.introspect({"context": {"service": true, "caller": {"service": true}}, "caller": {"client_id": "nobody"}}) with data.svc.entitlements.bindings as fixture.bindings
	fixture.refused(r, "introspection_not_entitled")
}
