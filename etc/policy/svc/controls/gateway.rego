# METADATA
# title: Gateway
# description: The requests to managed resources that a token permits, by the scopes of the operation and the operator's rules.
package svc.controls.gateway

import data.svc.lib.hooks
import data.svc.operator.controls.gateway as row

# Every set of reasons that denies a request to a managed resource is united here, so that a list of
# tools hides what a call would deny.
deny contains r if some r in deny_resource

deny contains r if some r in deny_arguments

deny contains r if some r in deny_scope

deny contains r if some r in hooks.gateway_deny

# ---- the resource

deny_resource contains {
	"code": "resource_not_serving", "category": "resource", "control": "gateway",
	"message": "the resource does not serve requests now",
} if {
	not serving
}

serving if input.resource.status in serving_statuses

serving_statuses := {"pending", "active", "degraded"}

# ---- the arguments

# A rule that reads an argument holds for none of them if policy does not have them, so such a request is denied unless
# the row says otherwise.
deny_arguments contains {
	"code": "arguments_too_long", "category": "policy", "control": "gateway",
	"message": "the arguments are too long to be judged",
} if {
	input.truncated
	not row.truncated == "allow"
}

# ---- the scopes of the operation; all of them are needed

deny_scope contains {
	"code": "operation_unknown", "category": "scope", "control": "gateway",
	"message": "the scopes of the operation are not known",
} if {
	not scopes_known
}

scopes_known if {
	is_array(input.action.requiredScopes)
	is_array(input.token.scopes)
}

deny_scope contains {
	"code": "scope_missing", "category": "scope", "control": "gateway",
	"message": "the access token lacks a scope of the operation", "detail": {"scope": s},
} if {
	some s in missing
}

# A resource without scopes is open to every token that was issued for it.
missing contains s if {
	some s in input.action.requiredScopes
	not s in held
}

held contains s if some s in input.token.scopes

# A scope of a connector implies others for its own resources alone.
held contains s if {
	some h in input.token.scopes
	some s in input.resource.implies[h]
}

# A new authorization helps if nothing but scopes is in the way.
step_up := sort(missing) if {
	missing != set()
	scopes_known
	deny == deny_scope
}

# ---- the obligations of an allowed request

obligations := {name: value | some name, value in data.custom.gateway.obligations}

# ---- the seconds for which a web server that asks may keep the answer (0 to 30)

cache_seconds := hook if {
	hook := data.custom.gateway.cache_seconds
	hook in numbers.range(0, 30)
}
