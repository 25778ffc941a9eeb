# METADATA
# title: Delegation
# description: The use of a resource that its owner delegated to the token's subject or client.
package svc.controls.delegation

import data.svc.entitlements.bindings

# A resource server states in the context that an access rests on a delegation: {"delegation":
# {"resource_id": "...", "scopes": ["view"]}}. The delegations themselves are rows of the service. The
# input has those to the token's subject and client that are neither revoked nor expired.

deny contains {
	"code": "delegation_missing", "category": "delegation", "control": "delegation",
	"message": "nobody delegated the resource with these scopes to the subject or the client of the token",
} if {
	covering == []
}

# The service compares with the clock of the database; this one is the clock of the request.
deny contains {
	"code": "delegation_expired", "category": "delegation", "control": "delegation",
	"message": "the delegation has expired",
} if {
	covering != []
	not live
}

covering := [d |
	some d in input.delegation
	d.resource_id == input.context.delegation.resource_id
	wanted := {s | some s in scopes}
	is_array(scopes)
	wanted - {s | some s in d.scopes} == set()
	is_bound(d.grantor)
]

# A delegation counts while the client of its owner has a binding.
is_bound(grantor) if _ := bindings.clients[grantor.client_id]

is_bound(grantor) if _ := bindings.registrations[grantor.registration]

is_bound(grantor) if _ := bindings.software[grantor.software_id]

# A resource server that names no scopes asks for the resource as a whole. What is not an array of
# strings is held by no delegation.
scopes := input.context.delegation.scopes if {
	is_array(input.context.delegation.scopes)
	every s in input.context.delegation.scopes {
		is_string(s)
	}
} else := [] if {
	object.get(input.context.delegation, "scopes", []) == []
}

live if {
	some d in covering
	not d.expires_at == d.expires_at
}

live if {
	some d in covering
	time.parse_rfc3339_ns(d.expires_at) > input.request.time_ns
}
