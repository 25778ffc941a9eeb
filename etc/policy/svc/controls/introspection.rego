# METADATA
# title: Introspection
# description: The callers that may see a token, and the context that narrows it.
package svc.controls.introspection

import data.svc.controls.entitlements
import data.svc.controls.registry as checked
import data.svc.lib.ask
import data.svc.lib.caller
import data.svc.lib.url
import data.svc.operator.controls.introspection as row
import data.svc.registry.resource_types as registry

# ---- the caller: checked for valid and invalid tokens alike, so that the answer does not tell them apart

deny_caller contains {
	"code": "introspection_not_entitled", "category": "client", "control": "entitlements",
	"message": "the caller is not entitled to introspect",
} if {
	not caller.may_introspect
}

deny_caller contains {
	"code": "caller_not_allowed", "category": "client", "control": "introspection",
	"message": "the caller is not one of the clients that may introspect",
} if {
	not caller_ok
}

caller_ok if caller.is_service

caller_ok if object.get(row, "allow_callers", []) == []

caller_ok if input.caller.client_id in row.allow_callers

# ---- the audience: a token that names a resource is shown to that resource and to the token's client

deny contains {
	"code": "caller_not_audience", "category": "token", "control": "introspection",
	"message": "the token is not intended for the caller",
} if {
	names_resource
	not audience_ok
}

names_resource if input.baseline.resource != null

names_resource if input.baseline.resource_types != []

# A refresh token outlives the lifetime and the single use of access tokens, so it is shown to its own
# client alone, even if `require_audience` is false. A token of a kind that is not known counts as one.
deny contains {
	"code": "caller_not_audience", "category": "token", "control": "introspection",
	"message": "the token is not intended for the caller",
} if {
	not kind_ok
}

kind_ok if input.token.kind == "access_token"

kind_ok if is_own_client

is_own_client if input.caller.client_id == input.client.id

audience_ok if object.get(row, "require_audience", true) == false

audience_ok if is_own_client

audience_ok if caller.is_audience

# ---- the context

deny contains {
	"code": "context_missing", "category": "token", "control": "introspection",
	"message": "the request must state the context in which the token is used",
} if {
	not context_ok
}

context_ok if caller.is_service

context_ok if object.get(row, "require_context", false) == false

context_ok if input.context != {}

deny contains {
	"code": "context_resource_mismatch", "category": "token", "control": "introspection",
	"message": "the token is not intended for the resource in the context",
} if {
	_ := input.context.resource
	names_resource
	not context_resource_ok
}

context_resource_ok if {
	some form in url.forms(input.context.resource)
	form in url.forms(input.baseline.resource)
}

context_resource_ok if {
	some t in input.baseline.resource_types
	registry.resource.types[t].indicator in url.forms(input.context.resource)
}

deny contains {
	"code": "context_resource_mismatch", "category": "token", "control": "introspection",
	"message": "the token is not intended for the resource in the context",
} if {
	_ := input.context.resource_type
	names_resource
	not context_type_ok
}

context_type_ok if input.context.resource_type in input.baseline.resource_types

context_type_ok if {
	indicator := registry.resource.types[input.context.resource_type].indicator
	indicator in url.forms(input.baseline.resource)
}

# ---- the scopes of the token that are still granted

shown := entitlements.granted - hidden

hidden contains s if {
	named := input.context.scopes
	some s in entitlements.granted
	not s in named
}

hidden contains s if {
	t := input.context.resource_type
	object.get(row, "narrow_to_context", false) != false
	listed := object.get(registry.resource.types, [t, "scopes"], [])
	some s in entitlements.granted
	not s in listed
}

deny contains {
	"code": "scope_not_in_token", "category": "token", "control": "introspection",
	"message": "the token has none of the scopes in the context",
} if {
	some _ in input.context.scopes
	shown == set()
}

deny contains {
	"code": "scope_not_in_token", "category": "token", "control": "introspection",
	"message": "the token has none of the scopes in the context",
} if {
	shown == set()
	entitlements.granted != set()
	not input.context.scopes == []
}

deny contains {
	"code": "policy_changed", "category": "token", "control": "introspection",
	"message": "policy no longer grants any scope of the token",
} if {
	entitlements.granted == set()
	input.baseline.scopes != []
	not ask.by_details
}

# ---- the authorization details that are left of the token

shown_details := [d | some d in checked.left; not hidden_detail(d)]

# An entry for other places (RFC 9396 9.2).
hidden_detail(d) if {
	object.get(row, "narrow_to_context", false) != false
	_ := input.context.resource
	_ := d.locations
	not is_for_resource(d)
}

is_for_resource(d) if {
	some location in d.locations
	location in url.forms(input.context.resource)
}

# An entry of another type, unless its location is the type's resource.
hidden_detail(d) if {
	object.get(row, "narrow_to_context", false) != false
	_ := input.context.resource_type
	not is_for_type(d)
}

is_for_type(d) if d.type == input.context.resource_type

is_for_type(d) if {
	some location in d.locations
	location in url.forms(registry.resource.types[input.context.resource_type].indicator)
}

deny contains {
	"code": "details_not_in_token", "category": "token", "control": "introspection",
	"message": "the token has no authorization details for the context",
} if {
	some _ in checked.left
	shown_details == []
}
