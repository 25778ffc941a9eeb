# The preview that /authorize asks for gives the answer of the issuance that would follow, except for the
# facts that only /token knows: the address and the authentication of a confidential client.
package preview_test

import data.equivalence_test as equivalence
import data.fixture

user := {"type": "user", "id": "alice", "iss": "https://idp.example", "idp": "corp", "claims": {}, "auth_time": 1795172300}

binding := fixture.bind("crm", {"grants": ["authorization_code"], "scopes": ["orders.read", "orders.write"]})

preview := {"evaluation": "preview", "request": {"grant_type": "authorization_code", "endpoint": "/authorize"}, "subject": user}

ask(over, without) := r if {
	r := fixture.issue_without(object.union(preview, over), without) with data.svc.entitlements.bindings as binding
}

only_token_knows := {"ip_not_allowed", "auth_method_not_allowed"}

same(w) if {
	issued := fixture.wire(equivalence.decide("issue", w).answer)
	shown := fixture.wire(equivalence.decide("issue", json.patch(w, [equivalence.change(["input", "issue", "evaluation"], "preview")])).answer)
	issued == shown
}

# Worlds in which the two need not agree.
apart(w) if w.input.issue.evaluation != "issue"

apart(w) if {
	some code in fixture.codes(equivalence.decide("issue", w).answer)
	code in only_token_knows
}

test_a_preview_gives_the_answer_of_the_issuance if {
	lists := array.concat(equivalence.few("issue"), equivalence.peopled("issue"))
	compared := [list | some list in lists; w := equivalence.world(list); not apart(w)]
	count(compared) > 100
	different := [list | some list in compared; not same(equivalence.world(list))]
	different == []
}

test_a_preview_grants_what_the_client_may_have if {
	r := ask({"scopes": {"requested": ["orders.read", "admin"]}}, ["client/auth_method"])
	r.allow
	r.scopes == ["orders.read"]
}

test_a_preview_keeps_the_ceiling if {
	r := ask({"scopes": {"requested": ["orders.read", "orders.write"], "ceiling": ["orders.write"]}}, [])
	r.scopes == ["orders.write"]
}

test_a_preview_is_denied_like_an_issuance if {
	fixture.refused(ask({"scopes": {"requested": ["admin"]}}, []), "scope_not_entitled")
	fixture.refused(ask({"request": {"grant_type": "client_credentials"}}, []), "grant_not_entitled")
	fixture.refused(ask({"resource": {"indicator": "https://api.example/none"}}, []), "resource_not_entitled")
	fixture.refused(ask({"client": {"enabled": false}}, []), "client_disabled")
}

test_the_sign_in_of_a_preview_must_be_recent if {
	types := {"resource": {"types": ["urn:r:orders"]}, "client": {"id": "crm"}}
	r := fixture.issue(object.union(preview, types)) with data.svc.entitlements.bindings as fixture.bind("crm", {
		"grants": ["authorization_code"], "scopes": ["orders.read"], "resource_types": ["urn:r:orders"],
	})
		with data.svc.registry.resource_types as fixture.registry
		with data.svc.operator.controls.authentication as {"by_resource_type": {"urn:r:orders": {"max_age": 60}}}
	fixture.refused(r, "auth_too_old")
}

test_operators_hooks_decide_a_preview if {
	denied := ask({}, []) with data.custom.issue.deny as {"not today"}
	fixture.refused(denied, "not today")
	blocked := ask({"scopes": {"requested": ["orders.read", "orders.write"]}}, []) with data.custom.issue.block_scopes as {"orders.write"}
	blocked.scopes == ["orders.read"]
}

test_the_address_is_judged_at_token if {
	every row in [{"allow_cidrs": ["10.0.0.0/8"]}, {"deny_cidrs": ["192.0.2.0/24"]}] {
		r := ask({}, []) with data.svc.operator.controls.environment as row
		r.allow
		at_token := ask({"evaluation": "issue"}, []) with data.svc.operator.controls.environment as row
		fixture.refused(at_token, "ip_not_allowed")
	}
}

test_the_hours_are_judged_in_a_preview if {
	r := ask({}, []) with data.svc.operator.controls.environment as {"hours": {"from": "01:00", "to": "02:00", "tz": "UTC"}}
	fixture.refused(r, "outside_hours")
}

test_an_unknown_authentication_is_judged_at_token if {
	row := {"allowed_auth_methods": ["client_secret_basic"]}
	unknown := ask({}, ["client/auth_method"]) with data.svc.operator.controls.client as row
	unknown.allow
	public := ask({"client": {"type": "public", "auth_method": "none"}}, []) with data.svc.operator.controls.client as row
	fixture.refused(public, "auth_method_not_allowed")
	at_token := ask({"evaluation": "issue"}, ["client/auth_method"]) with data.svc.operator.controls.client as row
	fixture.refused(at_token, "auth_method_not_allowed")
}
