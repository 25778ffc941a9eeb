# The control delegation: what a resource server states in the context must be delegated.
package delegation_test

import data.fixture

given := {
	"id": "01a", "grantor": {"client_id": "crm", "subject": "alice"}, "grantee_type": "client",
	"resource_id": "r1", "scopes": ["view", "edit"], "expires_at": "2026-11-20T12:00:00.000Z",
}

# The answer for a token with these delegations, in this context.
shown(delegations, context) := r if {
	r := fixture.introspect({"delegation": delegations, "context": context}) with data.svc.entitlements.bindings as fixture.bindings
}

uses(over) := {"delegation": object.union({"resource_id": "r1"}, over)}

missing(delegations, context) if {
	r := shown(delegations, context)
	fixture.refused(r, "delegation_missing")
	r.scopes == []
}

test_a_delegated_use_is_shown if {
	shown([given], uses({"scopes": ["view"]})).scopes == ["orders.read", "orders.write"]
	shown([given], uses({"scopes": ["edit", "view"]})).allow
}

test_a_use_without_scopes_needs_the_resource_alone if {
	shown([given], uses({})).allow
	shown([given], uses({"scopes": []})).allow
	missing([given], {"delegation": {"resource_id": "r2"}})
}

test_one_of_several_delegations_is_enough if {
	other := object.union(given, {"id": "01b", "scopes": ["share"]})
	shown([other, given], uses({"scopes": ["view"]})).allow
	shown([given, other], uses({"scopes": ["share"]})).allow
}

by(grantor) := object.union(given, {"grantor": object.union({"subject": "alice"}, grantor)})

# A delegation does not outlive the right of the client that its owner uses (oauth.md 5, "Transitions").
test_the_client_of_the_owner_needs_a_binding if {
	missing([by({"client_id": "drive", "registration": "PUBLIC"})], uses({}))
	missing([by({"client_id": "drive", "software_id": "album"})], uses({}))
	bindings := object.union(fixture.bindings, {"registrations": {"PUBLIC": {}}, "software": {"album": {}}})
	every grantor in [{"client_id": "drive", "registration": "PUBLIC"}, {"client_id": "drive", "software_id": "album"}] {
		r := fixture.introspect({"delegation": [by(grantor)], "context": uses({})}) with data.svc.entitlements.bindings as bindings
		r.allow
	}
}

test_scopes_of_two_delegations_are_not_put_together if {
	other := object.union(given, {"id": "01b", "scopes": ["share"]})
	missing([given, other], uses({"scopes": ["view", "share"]}))
}

test_a_use_that_nobody_delegated_is_denied if {
	missing([], uses({}))
	missing([given], uses({"scopes": ["share"]}))
	missing([given], uses({"scopes": ["view", "share"]}))
	missing([given], uses({"resource_id": "r2"}))
}

test_a_token_without_delegations_is_denied if {
	r := fixture.introspect({"context": uses({})}) with data.svc.entitlements.bindings as fixture.bindings
	fixture.refused(r, "delegation_missing")
}

test_a_context_of_the_wrong_form_is_denied if {
	every wrong in [
		false, null, "r1", [], {}, {"resource_id": null}, {"resource_id": "r1", "scopes": "view"},
		{"resource_id": "r1", "scopes": [1]}, {"resource_id": "r1", "scopes": null}, {"resource_id": "r1", "scopes": {"view": true}},
	] {
		missing([given], {"delegation": wrong})
	}
}

at(time) := shown([object.union(given, {"expires_at": time})], uses({}))

test_a_delegation_ends_at_its_time if {
	at("2026-11-20T11:01:00.001Z").allow
	fixture.refused(at("2026-11-20T11:01:00.000Z"), "delegation_expired")
	fixture.refused(at("2026-11-20T11:00:00.000Z"), "delegation_expired")
	fixture.refused(at("soon"), "delegation_expired")
}

test_a_delegation_without_a_time_does_not_end if {
	shown([object.remove(given, ["expires_at"])], uses({})).allow
}

test_a_live_delegation_stands_beside_an_expired_one if {
	old := object.union(given, {"id": "01b", "expires_at": "2026-11-20T11:00:00.000Z"})
	shown([old, given], uses({})).allow
}

test_delegations_do_nothing_unless_the_context_names_them if {
	shown([given], {}) == shown([], {})
	shown([], {}).allow
}
