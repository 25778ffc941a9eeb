# METADATA
# title: Client registration
# description: The clients that may register themselves, and the metadata that they may register.
package svc.controls.public_client_policy

import data.svc.operator.controls.public_client_policy as row

# `dcr` is required: in a row without it, or of a wrong type, every `..._ok` below fails.
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
	"message": "client registration is disabled",
} if {
	not open
}

# `enabled` applies to registrations without a statement. The rest of the row must be readable for both
# kinds: a malformed list could grant nothing, but also limit nothing.
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
	"message": "a requested grant type is not allowed for clients that register themselves",
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

# A statement that lists grants replaces the row's list, even if it lists more, because its issuer is
# trusted. Grants that it does not list are removed.
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

# ---- redirect URIs

deny contains {
	"code": "redirect_uri_not_allowed", "category": "registration", "control": "public_client_policy",
	"message": "a redirect URI is not allowed for clients that register themselves",
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
	private_ok(address.scheme)
}

# Without a list: a scheme with a dot, which is a domain name of the maker of the app in reverse order (RFC 8252 7.1).
private_ok(scheme) if {
	not "allowed_schemes" in object.keys(redirect)
	contains(scheme, ".")
}

private_ok(scheme) if {
	contains(scheme, ".")
	scheme in redirect.allowed_schemes
}

# A scheme without a dot belongs to nobody, so only those of known programs are allowed. Browsers and systems open some of
# them themselves, and these are refused whatever the row lists.
private_ok(scheme) if {
	is_string(scheme)
	not contains(scheme, ".")
	not startswith(scheme, "http")
	not scheme in never_schemes
	scheme in dotless_schemes
}

never_schemes := {
	"about", "blob", "data", "file", "filesystem", "ftp", "ftps", "intent",
	"jar", "javascript", "mailto", "vbscript", "view-source", "ws", "wss",
}

dotless_schemes := redirect.dotless_schemes if is_array(redirect.dotless_schemes)

# A row that lists the schemes with a dot was written when no others existed.
dotless_schemes := ["cursor", "vscode", "vscode-insiders", "windsurf"] if {
	not "dotless_schemes" in object.keys(redirect)
	not "allowed_schemes" in object.keys(redirect)
}

# ---- scopes

asks if _ := input.registration.scope

wanted := default_scopes if not asks

wanted := split(input.registration.scope, " ") if asks

# In the order of the request or, without scope, of the row.
scopes := [scope |
	some scope in wanted
	stated(scope)
]

# A software statement that lists scopes limits the client to them.
stated(_) if not states_scope

stated(scope) if scope in split(input.statement.claims.scope, " ")

states_scope if {
	input.registration.mode == "statement"
	_ := input.statement.claims.scope
}

# ---- resources: those of the statement; a registration itself names none

resource_types contains type if {
	input.registration.mode == "statement"
	some type in input.statement.claims.resources
}
