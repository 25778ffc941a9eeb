# The caller of /introspect, which is usually not the token's client, or of AuthZEN, and its bindings.
package svc.lib.caller

import data.svc.controls.trust
import data.svc.entitlements.bindings
import data.svc.lib.url
import data.svc.registry.resource_types as registry

held contains b if b := bindings.clients[input.caller.client_id]

held contains b if {
	registration_counts
	b := bindings.registrations[input.caller.registration]
}

held contains b if {
	input.caller.statement.verified == true
	b := bindings.software[input.caller.software_id]
	trust.vouches(input.caller.statement, b)
}

registration_counts if input.caller.registration != "STATEMENT"

registration_counts if trust.holds(input.caller.statement)

# The service itself, for one of its own endpoints that received a token (/userinfo, UMA,
# /delegation). It asks on behalf of the holder of the token, so it needs no binding and counts as the
# token's audience. The input marks it by a member that no request can set.
is_service if input.caller.service == true

may_introspect if is_service

is_audience if is_service

# A client with its own credentials needs a binding whose endpoints include the one that it asks: `introspect`,
# or `check` of a web server that asks /auth/check about a request.
may_introspect if {
	not input.caller.token
	some b in held
	own_endpoint in b.endpoints
}

default own_endpoint := "introspect"

own_endpoint := "check" if input.request.endpoint == "/auth/check"

# A Bearer caller needs one of two scopes in its token, and a binding that still grants that scope.
may_introspect if {
	some s in input.caller.token.scopes
	s in {"introspection", "uma_protection"}
	some b in held
	s in b.scopes
}

# The same for AuthZEN. No token of the service itself is behind such a request.
may_evaluate if {
	not input.caller.token
	some b in held
	"authzen" in b.endpoints
}

may_evaluate if {
	"authzen" in input.caller.token.scopes
	some b in held
	"authzen" in b.scopes
}

# The caller is the audience of the token if one of its own bindings holds the resource or the type.
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
