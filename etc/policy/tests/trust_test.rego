# The issuers of software statements, and what depends on their being trusted now: bindings of software and
# of clients that registered with a statement, for the client and for the caller of an introspection.
package trust_test

import data.fixture

pub := "https://pub.example"

other := "https://other.example"

service := "https://as.example"

held := {"grants": ["client_credentials"], "scopes": ["orders.read", "orders.write"], "endpoints": ["introspect"]}

software(extra) := {"clients": {}, "registrations": {}, "software": {"soft": object.union(held, extra)}, "scopes": {}}

registered := {"clients": {}, "registrations": {"STATEMENT": held}, "software": {}, "scopes": {}}

row(issuers) := {"statement_issuers": issuers}

who(iss) := {
	"registration": "STATEMENT", "software_id": "soft",
	"statement": {"iss": iss, "verified": true, "claims": {"iss": iss, "software_id": "soft"}},
}

issue(b, trust, client) := r if {
	r := fixture.issue({"client": client}) with data.svc.entitlements.bindings as b
		with data.svc.operator.controls.trust as trust
}

# The introspection of a token of the client by itself.
introspect(b, trust, client) := r if {
	r := fixture.introspect({"client": client, "caller": object.union(client, {"client_id": "crm"})}) with data.svc.entitlements.bindings as b
		with data.svc.operator.controls.trust as trust
}

refresh(b, trust, client) := r if {
	r := fixture.issue({
		"client": client, "request": {"grant_type": "refresh_token"},
		"subject": {"type": "user", "id": "alice"}, "scopes": {"ceiling": ["orders.read"]},
	}) with data.svc.entitlements.bindings as json.patch(b, [{"op": "replace", "path": "software/soft/grants", "value": ["refresh_token"]} | _ := b.software.soft])
		with data.svc.operator.controls.trust as trust
}

gives(b, trust, client) if {
	issue(b, trust, client).scopes == ["orders.read"]
	introspect(b, trust, client).scopes == ["orders.read", "orders.write"]
}

gives_nothing(b, trust, client) if {
	fixture.codes(issue(b, trust, client)) == {"grant_not_entitled", "scope_not_entitled"}
	issue(b, trust, client).matched_segments == []
	fixture.refused(introspect(b, trust, client), "introspection_not_entitled")
	fixture.refused(introspect(b, trust, client), "grant_not_entitled")
}

test_a_binding_without_issuers_applies_under_one_issuer if {
	gives(software({}), row([pub]), who(pub))
	gives(software({}), row([{"issuer": pub}]), who(pub))
	gives(software({}), row([pub, {"issuer": pub}]), who(pub))
	issue(software({}), row([pub]), who(pub)).matched_segments == ["binding:software/soft"]
}

test_a_binding_without_issuers_gives_nothing_under_two if {
	every client in [who(pub), who(other), who(service)] {
		every trust in [row([pub, other]), row([{"issuer": pub}, other])] {
			gives_nothing(software({}), trust, client)
		}
	}
	every issuers in [null, false, [], "https://pub.example"] {
		gives_nothing(software({"issuers": issuers}), row([pub, other]), who(pub))
		gives_nothing(software({"issuers": issuers}), row([pub]), who(pub))
	}
}

test_the_service_counts_as_an_issuer_if_it_is_listed if {
	gives(software({}), row([pub]), who(service))
	gives(software({}), row([]), who(service))
	gives_nothing(software({}), row([pub, service]), who(service))
	gives_nothing(software({}), row([pub, service]), who(pub))
}

test_a_binding_applies_to_the_software_of_its_issuers_alone if {
	b := software({"issuers": [pub]})
	gives(b, row([pub, other]), who(pub))
	gives_nothing(b, row([pub, other]), who(other))
	gives_nothing(b, row([pub, other]), who(service))
	gives(software({"issuers": [other, service]}), row([pub, other]), who(service))
	gives_nothing(b, row([pub]), who("https://pub.example/"))
}

test_a_binding_ends_with_the_trust_in_the_issuer if {
	every trust in [row([]), row([other]), {}, [], row("https://pub.example"), row({"issuer": pub}), row([false, null, 1, {}])] {
		gives_nothing(software({}), trust, who(pub))
		gives_nothing(software({"issuers": [pub]}), trust, who(pub))
		gives_nothing(registered, trust, who(pub))
	}
}

test_a_refresh_ends_with_the_trust_in_the_issuer if {
	b := software({"issuers": [pub]})
	refresh(b, row([pub]), who(pub)).allow
	fixture.refused(refresh(b, row([]), who(pub)), "grant_not_entitled")
}

test_the_binding_of_statement_clients_applies_while_the_issuer_is_trusted if {
	gives(registered, row([pub]), who(pub))
	gives(registered, row([pub, other]), who(other))
	gives(registered, {}, who(service))
	gives_nothing(registered, row([pub]), who("https://gone.example"))
	gives_nothing(registered, row([pub]), {"registration": "STATEMENT"})
	gives_nothing(registered, row([pub]), {"registration": "STATEMENT", "statement": {"verified": true, "claims": {}}})
}

unverified(iss) := object.union(who(iss), {"statement": {"verified": false}})

# SVC_SOFTWARE_STATEMENT_VERIFY=false: the statement limits the client, and proves no software.
test_an_unverified_statement_proves_no_software if {
	gives(registered, row([pub]), unverified(pub))
	gives_nothing(registered, row([pub]), unverified(service))
	gives_nothing(software({}), row([pub]), unverified(pub))
}

test_a_binding_that_names_the_client_needs_no_issuer if {
	b := object.union(registered, {"clients": {"crm": held}})
	gives(b, row([]), who(pub))
}

test_the_statement_limits_its_client_though_its_issuer_is_not_trusted_any_more if {
	b := object.union(registered, {"clients": {"crm": held}})
	limited := object.union(who(pub), {"statement": {"claims": {"scope": "orders.write"}}})
	introspect(b, row([]), limited).scopes == ["orders.write"]
}
