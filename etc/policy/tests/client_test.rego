package client_test

import data.fixture

test_a_disabled_client_gets_nothing if {
	every enabled in [false, null, "true", 1] {
		r := fixture.issue({"client": {"enabled": enabled}}) with data.svc.entitlements.bindings as fixture.bindings
		fixture.refused(r, "client_disabled")
	}
}

test_a_client_without_enabled_gets_nothing if {
	r := fixture.issue_without({}, ["client/enabled"]) with data.svc.entitlements.bindings as fixture.bindings
	fixture.refused(r, "client_disabled")
}

test_a_disabled_clients_tokens_are_not_shown if {
	r := fixture.introspect({"client": {"enabled": false}}) with data.svc.entitlements.bindings as fixture.bindings
	fixture.refused(r, "client_disabled")
}

# oauth.md C14
test_a_public_client_may_not_use_grants_that_need_a_secret if {
	every grant in ["client_credentials", "urn:ietf:params:oauth:grant-type:token-exchange", "urn:openid:params:grant-type:ciba"] {
		r := fixture.issue({"client": {"type": "public"}, "request": {"grant_type": grant}}) with data.svc.entitlements.bindings as fixture.bindings
		fixture.refused(r, "client_type_not_allowed")
	}
}

test_a_public_client_may_use_a_code if {
	b := fixture.bind("crm", {"grants": ["authorization_code"], "scopes": ["orders.read"]})
	r := fixture.issue({"client": {"type": "public"}, "request": {"grant_type": "authorization_code"}}) with data.svc.entitlements.bindings as b
	r.allow
}

test_an_unknown_client_type_is_refused if {
	r := fixture.issue({"client": {"type": "other"}}) with data.svc.entitlements.bindings as fixture.bindings
	fixture.refused(r, "client_type_not_allowed")
	code := fixture.issue({"client": {"type": "other"}, "request": {"grant_type": "authorization_code"}}) with data.svc.entitlements.bindings as fixture.bindings
	fixture.refused(code, "client_type_not_allowed")
}

test_the_authentication_method_must_be_listed if {
	r := fixture.issue({}) with data.svc.entitlements.bindings as fixture.bindings
		with data.svc.operator.controls.client as {"allowed_auth_methods": ["private_key_jwt"]}
	fixture.refused(r, "auth_method_not_allowed")
	ok := fixture.issue({"client": {"auth_method": "private_key_jwt"}}) with data.svc.entitlements.bindings as fixture.bindings
		with data.svc.operator.controls.client as {"allowed_auth_methods": ["private_key_jwt"]}
	ok.allow
}

test_the_authentication_method_is_checked_again_at_introspection if {
	r := fixture.introspect({}) with data.svc.entitlements.bindings as fixture.bindings
		with data.svc.operator.controls.client as {"allowed_auth_methods": ["private_key_jwt"]}
	fixture.refused(r, "auth_method_not_allowed")
}

test_a_broken_row_denies if {
	every row in [[], "x", false, null, {"allowed_auth_methods": "client_secret_basic"}, {"allowed_auth_methods": []}, {"allowed_auth_methods": false}, {"other": 1}] {
		r := fixture.issue({}) with data.svc.entitlements.bindings as fixture.bindings
			with data.svc.operator.controls.client as row
		fixture.refused(r, "auth_method_not_allowed")
	}
}

test_an_absent_row_denies if {
	r := fixture.issue({}) with data.svc.entitlements.bindings as fixture.bindings
		with data.svc.operator.controls as {"environment": {}, "lifetime": {}, "authentication": {}}
	fixture.refused(r, "auth_method_not_allowed")
}
