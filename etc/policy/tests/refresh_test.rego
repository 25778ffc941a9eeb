# Refresh tokens are issued beside the access token to clients that may use them.
package refresh_test

import data.fixture

user := {"type": "user", "id": "alice", "iss": "https://idp.example", "idp": "corp", "auth_time": 1795172300, "claims": {}}

code(client) := {"request": {"grant_type": "authorization_code"}, "client": client, "subject": user}

renewing := fixture.bind("crm", {"grants": ["authorization_code", "refresh_token"], "scopes": ["orders.read"]})

test_a_binding_that_holds_refresh_token_gives_one_with_a_code if {
	r := fixture.issue(code({})) with data.svc.entitlements.bindings as renewing
	r.allow
	r.refresh == true
}

test_the_plain_case_gives_a_refresh_token_too if {
	general := {"allow": false}
	doc := object.union(fixture.issue_input, code({}))
	r := data.svc.decision.issue.result with input as doc
		with data.svc.entitlements.bindings as renewing
		with data.svc.decision.issue.general as general
	r.refresh == true
}

test_ciba_begins_a_token_family_too if {
	ciba := "urn:openid:params:grant-type:ciba"
	r := fixture.issue({"request": {"grant_type": ciba}, "subject": user}) with data.svc.entitlements.bindings as fixture.bind("crm", {
		"grants": [ciba, "refresh_token"],
		"scopes": ["orders.read"],
	})
	r.refresh == true
}

test_a_binding_without_refresh_token_gives_none if {
	r := fixture.issue(code({})) with data.svc.entitlements.bindings as fixture.bind("crm", {
		"grants": ["authorization_code"],
		"scopes": ["orders.read"],
	})
	r.allow
	r.refresh == false
}

# These grants continue a family or have none.
test_no_other_grant_begins_a_token_family if {
	every grant in ["client_credentials", "refresh_token", "urn:ietf:params:oauth:grant-type:token-exchange"] {
		r := fixture.issue({"request": {"grant_type": grant}, "subject": user}) with data.svc.entitlements.bindings as fixture.bind("crm", {
			"grants": [grant, "refresh_token"],
			"scopes": ["orders.read"],
		})
		r.allow
		r.refresh == false
	}
}

test_a_deny_gives_no_refresh_token if {
	r := fixture.issue(object.union(code({}), {"scopes": {"requested": ["admin"]}})) with data.svc.entitlements.bindings as renewing
	not r.allow
	r.refresh == false
}

test_shipped_bindings_give_one_to_registered_clients if {
	every kind in ["DCR", "CIMD"] {
		r := fixture.issue(object.union(
			code({"id": "x", "registration": kind, "type": "public", "auth_method": "none"}),
			{"scopes": {"requested": ["openid"]}},
		))
		r.allow
		r.refresh == true
	}
}

stated_client(claims) := {
	"registration": "STATEMENT", "software_id": "soft",
	"statement": {"iss": "https://statements.example", "verified": true, "claims": claims},
}

test_a_statement_that_lists_grants_limits_refresh_tokens if {
	with_it := fixture.issue(code(stated_client({"grants": ["authorization_code", "refresh_token"]}))) with data.svc.entitlements.bindings as renewing
	with_it.refresh == true
	without := fixture.issue(code(stated_client({"grants": ["authorization_code"]}))) with data.svc.entitlements.bindings as renewing
	without.allow
	without.refresh == false
	unlisted := fixture.issue(code(stated_client({}))) with data.svc.entitlements.bindings as renewing
	unlisted.refresh == true
}
