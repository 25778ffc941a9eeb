package register_test

import data.fixture
import data.shipped

row := shipped.rows["svc.operator.controls.public_client_policy"]

trusting := {"statement_issuers": ["https://statements.example"]}

# The answer for a registration row and a trust row.
under(rows, over) := under_without(rows, over, [])

under_without(rows, over, without) := answer if {
	answer := fixture.register_without(over, without) with data.svc.operator.controls.public_client_policy as rows.policy
		with data.svc.operator.controls.trust as rows.trust
}

plain_rows := {"policy": row, "trust": trusting}

ruled(patch) := {"policy": object.union(row, patch), "trust": trusting}

registration(members) := {"registration": members}

at(uri, scheme, loopback) := registration({"redirect_uris": [{"uri": uri, "scheme": scheme, "loopback": loopback}]})

test_a_request_within_the_row_is_granted if {
	r := under(plain_rows, {})
	r.allow
	r.grant_types == ["authorization_code", "refresh_token"]
	r.scopes == ["orders.read"]
	r.deny_reasons == []
}

test_a_registration_without_scope_gets_the_default_ones if {
	r := under_without(plain_rows, {}, ["registration/scope"])
	{s | some s in r.scopes} == {"openid", "profile", "email"}
	under_without(ruled({"dcr": {"default_scopes": []}}), {}, ["registration/scope"]).scopes == []
}

test_enabled_false_refuses_plain_registrations_only if {
	fixture.refused(under(ruled({"enabled": false}), {}), "registration_disabled")
	under(ruled({"enabled": false}), fixture.stated({})).allow
}

test_a_broken_registration_row_denies_with_and_without_statement if {
	every broken in [
		[], "x", null, true, {}, {"enabled": true}, {"enabled": "true", "dcr": []}, {"enabled": true, "dcr": "x"},
		object.union(row, {"redirect": []}), object.union(row, {"dcr": {"default_scopes": "openid"}}),
		object.union(row, {"dcr": {"default_scopes": [1]}}), object.union(row, {"dcr": {"default_scopes": {"openid": "openid"}}}),
	] {
		fixture.refused(under({"policy": broken, "trust": trusting}, {}), "registration_disabled")
		fixture.refused(under({"policy": broken, "trust": trusting}, fixture.stated({})), "registration_disabled")
	}
}

test_enabled_of_another_type_denies if {
	every value in ["true", 1, null, []] {
		fixture.refused(under(ruled({"enabled": value}), {}), "registration_disabled")
	}
}

test_a_registration_of_an_unknown_mode_is_refused if {
	every mode in ["", "STATEMENT", null, 1] {
		r := under(plain_rows, registration({"mode": mode}))
		fixture.refused(r, "registration_disabled")
		fixture.refused(r, "statement_missing")
		fixture.refused(r, "statement_not_trusted")
	}
}

test_a_question_of_another_kind_is_refused if {
	r := data.svc.decision.register.result with input as object.union(fixture.register_input, {"evaluation": "issue"})
		with data.svc.operator.controls.public_client_policy as row
		with data.svc.operator.controls.trust as trusting
	r.allow == false
}

# specification 4.7
test_every_grant_type_must_be_allowed if {
	every grant_types in [["client_credentials"], ["authorization_code", "client_credentials"], "authorization_code", null] {
		fixture.refused(under(plain_rows, registration({"grant_types": grant_types})), "grant_type_not_allowed")
	}
	under(ruled({"dcr": {"allowed_grant_types": ["client_credentials"]}}), registration({"grant_types": ["client_credentials"]})).allow
}

test_a_broken_list_of_grant_types_denies if {
	every list in ["authorization_code", [], null, {}, 1] {
		fixture.refused(under(ruled({"dcr": {"allowed_grant_types": list}}), {}), "grant_type_not_allowed")
	}
}

test_the_authentication_method_must_be_allowed if {
	every method in ["private_key_jwt", "client_secret_basic", "", null] {
		r := under(ruled({"dcr": {"allowed_auth_methods": ["none"]}}), registration({"token_endpoint_auth_method": method}))
		fixture.refused(r, "auth_method_not_allowed")
	}
	under(ruled({"dcr": {"allowed_auth_methods": ["none"]}}), registration({"token_endpoint_auth_method": "none"})).allow
	fixture.refused(under(ruled({"dcr": {"allowed_auth_methods": "client_secret_basic"}}), {}), "auth_method_not_allowed")
}

test_redirect_uris if {
	under(plain_rows, at("http://127.0.0.1:5000/cb", "http", true)).allow
	every over in [
		at("http://app.example/cb", "http", false),
		at("x", "", false), registration({"redirect_uris": "https://app.example"}), registration({"redirect_uris": null}),
		registration({"redirect_uris": [
			{"uri": "https://app.example/cb", "scheme": "https", "loopback": false},
			{"uri": "http://app.example/cb", "scheme": "http", "loopback": false},
		]}),
	] {
		fixture.refused(under(plain_rows, over), "redirect_uri_not_allowed")
	}
	fixture.refused(under(ruled({"redirect": {"allow_http_loopback": false}}), at("http://[::1]/cb", "http", true)), "redirect_uri_not_allowed")
	fixture.refused(under(ruled({"redirect": {"allow_http_loopback": "true"}}), at("http://[::1]/cb", "http", true)), "redirect_uri_not_allowed")
}

private := at("com.example.app:/cb", "com.example.app", false)

# decisions.md "Private-scheme redirect URIs"
test_a_private_scheme_with_a_dot_is_allowed_unless_the_row_lists_others if {
	under(plain_rows, private).allow
	under(ruled({"redirect": {}}), private).allow
	under(ruled({"redirect": {"allowed_schemes": ["org.example", "com.example.app"]}}), private).allow
	every list in [[], ["com.example"], ["com.example.app2"], ["COM.EXAMPLE.APP"], ["."], "com.example.app", null, false, {}, [null]] {
		fixture.refused(under(ruled({"redirect": {"allowed_schemes": list}}), private), "redirect_uri_not_allowed")
	}
}

# RFC 8252 7.1
test_a_scheme_without_a_dot_is_refused_as_shipped if {
	every scheme in ["myapp", "javascript", "data", "file", "vbscript", "blob", "about", "ws", "ftp", "mailto", "", null, 5, ["a.b"]] {
		fixture.refused(under(plain_rows, at("x", scheme, false)), "redirect_uri_not_allowed")
	}
}

# A row with this `redirect` alone.
redirecting(redirect) := {"policy": object.union(object.remove(row, ["redirect"]), {"redirect": redirect}), "trust": trusting}

# world.md G7
test_schemes_without_a_dot_of_known_programs if {
	every scheme in ["cursor", "vscode", "vscode-insiders", "windsurf"] {
		under(plain_rows, at("x", scheme, false)).allow
		under(redirecting({}), at("x", scheme, false)).allow
		fixture.refused(under(redirecting({"dotless_schemes": []}), at("x", scheme, false)), "redirect_uri_not_allowed")
		fixture.refused(under(redirecting({"allowed_schemes": []}), at("x", scheme, false)), "redirect_uri_not_allowed")
		fixture.refused(under(redirecting({"allowed_schemes": [scheme]}), at("x", scheme, false)), "redirect_uri_not_allowed")
	}
	under(ruled({"redirect": {"dotless_schemes": ["myapp"], "allowed_schemes": []}}), at("x", "myapp", false)).allow
	fixture.refused(under(ruled({"redirect": {"dotless_schemes": ["com.example.app"], "allowed_schemes": []}}), private), "redirect_uri_not_allowed")
	every list in ["cursor", {"a": "cursor"}, null, 1, [null]] {
		fixture.refused(under(ruled({"redirect": {"dotless_schemes": list}}), at("x", "cursor", false)), "redirect_uri_not_allowed")
	}
}

test_schemes_that_browsers_open_are_refused_although_listed if {
	every scheme in ["javascript", "data", "file", "vbscript", "blob", "about", "intent", "ws", "wss", "http", "httpx", "http+unix"] {
		fixture.refused(under(ruled({"redirect": {"dotless_schemes": [scheme]}}), at("x", scheme, false)), "redirect_uri_not_allowed")
	}
}

# Listing http as a private scheme does not allow it.
test_http_is_not_a_private_scheme if {
	fixture.refused(under(ruled({"redirect": {"allowed_schemes": ["http"]}}), at("http://app.example/cb", "http", false)), "redirect_uri_not_allowed")
}

# ---- software statements

test_a_trusted_statement_is_accepted if {
	r := under(plain_rows, fixture.stated({}))
	r.allow
	r.grant_types == ["authorization_code", "refresh_token"]
	r.scopes == ["orders.read"]
	under({"policy": row, "trust": {"statement_issuers": [{"issuer": "https://statements.example"}]}}, fixture.stated({})).allow
}

test_an_issuer_that_is_not_listed_is_refused if {
	every trust in [
		{}, {"statement_issuers": []}, {"statement_issuers": ["https://other.example"]},
		{"statement_issuers": ["https://statements.example/"]},
		{"trusted_issuers": ["https://statements.example"]},
		{"statement_issuers": [{"issuer": "https://other.example", "jwks_uri": "https://statements.example"}]},
	] {
		fixture.refused(under({"policy": row, "trust": trust}, fixture.stated({})), "statement_not_trusted")
	}
}

test_a_broken_trust_row_denies if {
	every trust in [[], "x", null, {"statement_issuers": "https://statements.example"}, {"statement_issuers": {"a": 1}}, {"statement_issuers": [null, 1, []]}] {
		fixture.refused(under({"policy": row, "trust": trust}, fixture.stated({})), "statement_not_trusted")
	}
}

test_the_services_own_issuer_needs_no_entry if {
	under({"policy": row, "trust": {}}, object.union(fixture.stated({}), {"statement": {"iss": "https://as.example"}})).allow
}

test_a_statement_without_issuer_or_verdict_is_refused if {
	fixture.refused(under_without(plain_rows, fixture.stated({}), ["statement/iss"]), "statement_not_trusted")
	fixture.refused(under_without(plain_rows, fixture.stated({}), ["statement/verified"]), "statement_not_trusted")
	fixture.refused(under_without(plain_rows, fixture.stated({}), ["statement"]), "statement_not_trusted")
}

# A registration with a statement is checked by the statement.
test_a_plain_registration_with_a_statement_is_refused if {
	r := under(plain_rows, {"statement": {"iss": "https://statements.example", "verified": true, "claims": {}}})
	fixture.refused(r, "statement_not_trusted")
}

test_a_statement_with_verification_switched_off_is_accepted if {
	under(plain_rows, object.union(fixture.stated({}), {"statement": {"verified": false}})).allow
}

test_a_statement_may_be_required if {
	required := ruled({"dcr": {"require_statement": true}})
	fixture.refused(under(required, {}), "statement_missing")
	under(required, fixture.stated({})).allow
	every value in ["false", 0, null] {
		fixture.refused(under(ruled({"dcr": {"require_statement": value}}), {}), "statement_missing")
	}
}

# Grants, scopes and resources are limited to the statement's claims, if present.
test_the_grants_of_a_statement_replace_those_of_the_row if {
	cut := under(plain_rows, fixture.stated({"grants": ["authorization_code"]}))
	cut.allow
	cut.grant_types == ["authorization_code"]
	more := object.union(fixture.stated({"grants": ["client_credentials"]}), {"registration": {"mode": "statement", "grant_types": ["client_credentials"]}})
	under(plain_rows, more).grant_types == ["client_credentials"]
	fixture.refused(under(plain_rows, fixture.stated({"grants": ["client_credentials"]})), "grant_type_not_allowed")
	fixture.refused(under(plain_rows, fixture.stated({"grants": []})), "grant_type_not_allowed")
}

test_a_plain_registration_has_no_claims if {
	r := under(plain_rows, {
		"registration": {"grant_types": ["client_credentials"]},
		"statement": {"iss": "https://statements.example", "verified": true, "claims": {"grants": ["client_credentials"]}},
	})
	fixture.refused(r, "grant_type_not_allowed")
}

test_the_scope_of_a_statement_limits_the_scopes if {
	over := object.union(fixture.stated({"scope": "orders.read"}), {"registration": {"mode": "statement", "scope": "orders.read orders.write"}})
	under(plain_rows, over).scopes == ["orders.read"]
	under(plain_rows, fixture.stated({"scope": "openid"})).scopes == []
	under_without(plain_rows, fixture.stated({"scope": "openid orders.read"}), ["registration/scope"]).scopes == ["openid"]
}

test_the_resources_are_those_of_the_statement if {
	under(plain_rows, fixture.stated({"resources": ["urn:r:orders"]})).resource_types == ["urn:r:orders"]
	under(plain_rows, {}).resource_types == []
}

# ---- operator rules

test_an_operators_rule_denies if {
	r := under(plain_rows, {}) with data.custom.register.deny as {"not today"}
	fixture.refused(r, "not today")
	every hook in ["x", [], {}, true, null] {
		broken := under(plain_rows, {}) with data.custom.register.deny as hook
		fixture.refused(broken, "hook_invalid")
	}
}
