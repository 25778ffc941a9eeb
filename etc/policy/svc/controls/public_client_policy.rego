# METADATA
# title: Client registration
# description: Who may register as a client, and as what.
package svc.controls.public_client_policy

import data.svc.operator.controls.public_client_policy as row

# `dcr` is required: a row without it, or of another type, makes every `..._ok` below fail.
dcr := row.dcr

redirect := object.get(row, "redirect", {})

allowed_grant_types := object.get(dcr, "allowed_grant_types", ["authorization_code", "refresh_token"])

allowed_auth_methods := object.get(
	dcr, "allowed_auth_methods",
	["none", "client_secret_basic", "client_secret_post", "private_key_jwt"],
)

default_scopes := object.get(dcr, "default_scopes", ["openid", "profile", "email"])

deny contains {
	"code": "registration_disabled", "category": "registration", "control": "public_client_policy",
	"message": "clients may not register themselves here",
} if {
	not open
}

# The switch is for registrations without a statement. The rest of the row must be readable for
# both: lists that grant nothing when they are broken could as well limit nothing.
open if {
	input.registration.mode == "plain"
	readable
	object.get(row, "enabled", true) == true
}

open if {
	input.registration.mode == "statement"
	readable
}

readable if {
	is_object(dcr)
	is_object(redirect)
	every scope in default_scopes {
		is_string(scope)
	}
	is_array(default_scopes)
}

# ---- grant types

deny contains {
	"code": "grant_type_not_allowed", "category": "registration", "control": "public_client_policy",
	"message": "a grant type is not allowed for clients that register themselves",
} if {
	not grants_ok
}

grants_ok if {
	not states_grants
	every grant in input.registration.grant_types {
		grant in allowed_grant_types
	}
}

grants_ok if {
	states_grants
	count(grant_types) > 0
}

# A statement that lists grants decides in place of the row, also beyond it: its issuer is trusted.
# What it does not list is cut off.
states_grants if {
	input.registration.mode == "statement"
	_ := input.statement.claims.grants
}

grant_types := [grant | some grant in input.registration.grant_types] if not states_grants

grant_types := [grant |
	some grant in input.registration.grant_types
	grant in input.statement.claims.grants
] if {
	states_grants
}

# ---- client authentication

deny_method contains {
	"code": "auth_method_not_allowed", "category": "client", "control": "client",
	"message": "the client authentication method is not allowed",
} if {
	not method_ok
}

method_ok if input.registration.token_endpoint_auth_method in allowed_auth_methods

# ---- redirect addresses

deny contains {
	"code": "redirect_uri_not_allowed", "category": "registration", "control": "public_client_policy",
	"message": "a redirect address is not allowed for clients that register themselves",
} if {
	not redirects_ok
}

redirects_ok if {
	every address in input.registration.redirect_uris {
		redirect_ok(address)
	}
}

redirect_ok(address) if address.scheme == "https"

redirect_ok(address) if {
	address.scheme == "http"
	address.loopback == true
	object.get(redirect, "allow_http_loopback", true) == true
}

redirect_ok(address) if {
	not address.scheme in {"https", "http"}
	address.scheme in object.get(redirect, "allowed_schemes", [])
}

# ---- scopes

asks if _ := input.registration.scope

wanted := default_scopes if not asks

wanted := split(input.registration.scope, " ") if asks

# In the order they were asked for, or stand in the row.
scopes := [scope |
	some scope in wanted
	stated(scope)
]

# A software statement that lists scopes bounds the client to them.
stated(_) if not states_scope

stated(scope) if scope in split(input.statement.claims.scope, " ")

states_scope if {
	input.registration.mode == "statement"
	_ := input.statement.claims.scope
}

# ---- resources: those of the statement; a client names none when it registers

resource_types contains type if {
	input.registration.mode == "statement"
	some type in input.statement.claims.resources
}
