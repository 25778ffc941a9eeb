# METADATA
# title: Entitlements
# description: The grants, scopes and resources that a client or a class of clients may have.
package svc.controls.entitlements

import data.svc.controls.trust
import data.svc.entitlements.bindings
import data.svc.lib.ask
import data.svc.lib.url
import data.svc.registry.resource_types as registry

# The bindings that apply to the client. They are looked up by key, because the row may hold any number
# of clients.
held contains b if b := bindings.clients[input.client.id]

held contains b if {
	registration_counts
	b := bindings.registrations[input.client.registration]
}

held contains b if b := of_software

# A client that registered with a statement counts as such while the statement's issuer is trusted.
registration_counts if input.client.registration != "STATEMENT"

registration_counts if trust.holds(input.client.statement)

# A software_id counts only beside a verified statement, because any client may register under any name.
of_software := b if {
	input.client.statement.verified == true
	b := bindings.software[input.client.software_id]
	trust.vouches(input.client.statement, b)
}

segments contains concat("", ["binding:clients/", input.client.id]) if {
	_ := bindings.clients[input.client.id]
}

segments contains concat("", ["binding:registrations/", input.client.registration]) if {
	registration_counts
	_ := bindings.registrations[input.client.registration]
}

segments contains concat("", ["binding:software/", input.client.software_id]) if {
	_ := of_software
}

segments contains concat("#", [t, s]) if {
	some t in ask.types
	some s in registry.resource.types[t].scopes
	s in granted
}

# ---- grant

deny contains {
	"code": "grant_not_entitled", "category": "grant", "control": "entitlements",
	"message": "the client is not entitled to this grant type",
} if {
	not grant_ok
}

grant_ok if {
	some b in held
	ask.grant in b.grants
}

# A software statement that lists grants limits the client to them.
deny contains {
	"code": "grant_not_entitled", "category": "grant", "control": "entitlements",
	"message": "the client is not entitled to this grant type",
} if {
	input.client.registration == "STATEMENT"
	_ := input.client.statement.claims.grants
	not grant_stated
}

grant_stated if ask.grant in input.client.statement.claims.grants

# ---- refresh tokens

# True if a refresh token may be issued with the access token: for the grants that begin a family of
# tokens, and for a client that may use the refresh_token grant.
default refresh := false

refresh if {
	input.request.grant_type == "authorization_code"
	renewable
}

refresh if {
	input.request.grant_type == "urn:openid:params:grant-type:ciba"
	renewable
}

renewable if {
	some b in held
	"refresh_token" in b.grants
	renewable_stated
}

renewable_stated if input.client.registration != "STATEMENT"

renewable_stated if object.get(input.client.statement.claims, "grants", null) == null

renewable_stated if "refresh_token" in input.client.statement.claims.grants

# ---- scopes

granted := allowed - cut

allowed contains s if {
	some b in held
	object.get(b, "resource_types", []) == []
	some s in ask.scopes
	s in b.scopes
}

# A binding with resource types grants a scope if the registry lists it for one of the binding's types:
# one that the request names, or any of them if the request names none.
allowed contains s if {
	some b in held
	some t in b.resource_types
	reached(t)
	listed := registry.resource.types[t].scopes
	some s in ask.scopes
	s in b.scopes
	s in listed
}

# Scopes that belong to no resource: those of OpenID Connect and of the service's own endpoints.
allowed contains s if {
	some b in held
	some s in ask.scopes
	s in of_no_resource
	s in b.scopes
}

of_no_resource := {
	"openid", "profile", "email", "offline_access", "introspection", "uma_protection",
	"delegation_management", "authzen", "mcp",
}

# The scopes of managed resources have names that their operator chooses, so a binding may hold them by how they
# begin, for tokens that name a resource behind the gateway. Scopes of the service's own endpoints are not
# among them, whatever the binding says.
allowed contains s if {
	some b in held
	some pattern in b.gateway_scopes
	endswith(pattern, "*")
	url.is_gateway(ask.indicator)
	some s in ask.scopes
	startswith(s, trim_suffix(pattern, "*"))
	not s in of_no_resource
}

reached(_) if ask.types == set()

reached(t) if t in ask.types

# The ceiling is the most that the service itself may grant.
cut contains s if {
	input.evaluation in {"issue", "preview"}
	ceiling := input.scopes.ceiling
	some s in ask.scopes
	not s in ceiling
}

cut contains s if {
	some s in ask.scopes
	withheld(s)
}

# A software statement that lists scopes limits the client to them.
withheld(s) if {
	input.client.registration == "STATEMENT"
	stated_scope := split(input.client.statement.claims.scope, " ")
	not s in stated_scope
}

# A scope that is reserved for groups is granted only to users in one of them.
withheld(s) if {
	_ := bindings.scopes[s]
	not in_group(s)
}

# The list restricts, so a malformed list must not count as an absent one.
withheld(_) if {
	list := bindings.scopes
	type_name(list) != "object"
}

# The scopes that an operator's rule blocks. svc.lib.hooks denies if the hook is not a set.
withheld(s) if {
	input.evaluation in {"issue", "preview"}
	s in data.custom.issue.block_scopes
}

in_group(s) if {
	ask.subject.type == "user"
	some group in ask.subject.claims.groups
	concat("/", [ask.subject.idp, group]) in bindings.scopes[s].groups
}

# True if a scope of a resource type may be an action of authorization details. The ceiling is about scopes,
# and details take their place.
may_act(t, s) if {
	some b in held
	t in b.resource_types
	s in b.scopes
	not withheld(s)
}

# Reasons for the scopes that are left out. They deny only if no scope is left.
partial contains {
	"code": "scope_not_entitled", "category": "scope", "control": "entitlements",
	"message": "a requested scope is not granted", "detail": {"scope": s},
} if {
	count(granted) < count(ask.scopes)
	some s in ask.scopes
	not s in granted
}

# ---- resources; evaluated only if the token names one

deny_resource contains {
	"code": "resource_not_entitled", "category": "resource", "control": "entitlements",
	"message": resource_message, "detail": {"resource": ask.indicator},
} if {
	_ := ask.indicator
	not indicator_ok
}

default resource_message := "the client is not entitled to this resource"

# Scopes of managed resources are entered apart from the resource that they need.
resource_message := "the client is not entitled to this resource: its binding has gateway_scopes, but not the resource urn:svc:gateway" if {
	url.is_gateway(ask.indicator)
	some b in held
	some _ in b.gateway_scopes
	not holds_gateway
}

holds_gateway if {
	some b in held
	"urn:svc:gateway" in b.resources
}

indicator_ok if {
	forms := url.forms(ask.indicator)
	some b in held
	some form in forms
	form in b.resources
	stated(forms)
}

indicator_ok if indicated != set()

indicator_ok if {
	url.is_gateway(ask.indicator)
	holds_gateway
	stated(url.forms(ask.indicator) | {"urn:svc:gateway"})
}

# The resource types of the client that the request names by their indicator.
indicated contains t if {
	forms := url.forms(ask.indicator)
	some b in held
	some t in b.resource_types
	registry.resource.types[t].indicator in forms
	stated(forms | {t})
}

# The control `registry` denies types that the registry does not know.
deny_resource contains {
	"code": "resource_not_entitled", "category": "resource", "control": "entitlements",
	"message": "the client is not entitled to this resource", "detail": {"resource_type": t},
} if {
	some t in ask.types
	_ := registry.resource.types[t]
	not type_ok(t)
}

type_ok(t) if {
	some b in held
	t in b.resource_types
	stated({t} | {i | i := registry.resource.types[t].indicator})
}

# A software statement that lists resources limits the client to them. `names` are all the names under
# which the statement may list one resource.
stated(_) if input.client.registration != "STATEMENT"

stated(_) if object.get(input.client.statement.claims, "resources", null) == null

stated(names) if {
	some name in names
	name in input.client.statement.claims.resources
}
