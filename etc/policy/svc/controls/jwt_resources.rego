# METADATA
# title: JWT access tokens
# description: The resources whose access tokens are signed JWTs (RFC 9068), and the tokens for them that stay opaque all the same.
package svc.controls.jwt_resources

import data.svc.controls.entitlements
import data.svc.controls.lifetime
import data.svc.lib.url
import data.svc.registry.jwt_resources as row

# The entry of the resource that is asked for. A save refuses two keys that are equal, so there is one or none.
entry := e if {
	named := {e | some form in url.forms(input.resource.indicator); e := row[form]}
	count(named) == 1
	some e in named
	for_client(e)
}

for_client(e) if not e.clients == e.clients

for_client(e) if input.client.id in e.clients

# The form of the token. It is a member of the answer, so both engines give the same and the token keeps it.
default form := {}

form := {
	"alg": object.get(entry, "alg", "ES256"),
	"ttl": object.get(entry, "ttl", 60),
	"claims": object.get(entry, "claims", []),
} if {
	opaque == set()
}

# Why a token for such a resource is opaque. Who reads a JWT does not ask this service: a single use, an obligation and
# a scope that is good at this service alone would mean nothing there.
opaque contains "jit_single_use" if {
	_ := entry
	lifetime.single_use != false
}

opaque contains "obligation" if {
	_ := entry
	some _ in data.custom.issue.obligations
}

opaque contains "scope" if {
	_ := entry
	some scope in entitlements.granted
	scope in own_scopes
}

opaque contains why(r) if {
	_ := entry
	some r in data.custom.issue.opaque
}

why(r) := r if is_string(r)

else := "custom.issue.opaque"

own_scopes := {"introspection", "uma_protection", "delegation_management", "authzen", "mcp"}
