# The caller of /introspect: the same bindings, asked for somebody else than the token's client.
package svc.lib.caller

import data.svc.entitlements.bindings
import data.svc.lib.url
import data.svc.registry.resource_types as registry

held contains b if b := bindings.clients[input.caller.client_id]

held contains b if b := bindings.registrations[input.caller.registration]

held contains b if {
	input.caller.statement.verified == true
	b := bindings.software[input.caller.software_id]
}

# The service itself, for an endpoint of its own that a token was shown to (/userinfo). It asks for
# whoever holds the token, so it needs no binding and is what the token is for. The input says so
# in a member that nothing of a request gets into.
is_service if input.caller.service == true

may_introspect if is_service

is_audience if is_service

# A client that authenticated needs a binding whose endpoints hold `introspect`.
may_introspect if {
	not input.caller.token
	some b in held
	"introspect" in b.endpoints
}

# A Bearer caller needs one of two scopes in its token, and still the entitlement to it.
may_introspect if {
	some s in input.caller.token.scopes
	s in {"introspection", "uma_protection"}
	some b in held
	s in b.scopes
}

# The caller is what the token is for: one of its own bindings holds the resource or the type.
is_audience if {
	forms := url.forms(input.baseline.resource)
	some b in held
	some form in forms
	form in b.resources
}

is_audience if {
	url.is_gateway(input.baseline.resource)
	some b in held
	"urn:svc:gateway" in b.resources
}

is_audience if {
	some b in held
	some t in input.baseline.resource_types
	t in b.resource_types
}

is_audience if {
	forms := url.forms(input.baseline.resource)
	some b in held
	some t in b.resource_types
	registry.resource.types[t].indicator in forms
}
