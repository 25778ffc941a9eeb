# METADATA
# title: Introspection
# description: Evaluation 2. Decides which rights of an issued token are shown to this caller.
package svc.decision.introspect

import data.svc.cedar.policies
import data.svc.controls.authentication
import data.svc.controls.cedar
import data.svc.controls.claims as claims_of_user
import data.svc.controls.client
import data.svc.controls.delegation
import data.svc.controls.entitlements
import data.svc.controls.environment
import data.svc.controls.introspection
import data.svc.controls.registry
import data.svc.controls.trust
import data.svc.entitlements.bindings
import data.svc.lib.answer
import data.svc.lib.hooks

# The plain case, as in svc.decision.issue: an access token without resource, of a client whose own
# binding still grants all of it, shown to a client whose own binding lets it introspect. The answer is
# the one that `general` gives.
result := {
	"allow": true,
	"scopes": shown,
	"matched_segments": [concat("", ["binding:clients/", id])],
} if {
	input.evaluation == "introspect"
	[1 | policies[_].path] == []
	input.client = {"auth_method": _, "enabled": true, "id": id, "registration": registration, "type": _}
	client.type_ok
	input.token.kind == "access_token"
	input.token.jit_single_use == false
	object.filter(input.baseline, not_plain) == {}
	not input.caller.token == input.caller.token
	not input.context.delegation == input.context.delegation
	"introspect" in bindings.clients[input.caller.client_id].endpoints
	not bindings.registrations[registration] == bindings.registrations[registration]

	own := bindings.clients[id]
	input.issued.grant_type in own.grants
	not input.issued.subject_token == input.issued.subject_token
	not input.issued.subject.claims_incomplete == input.issued.subject.claims_incomplete
	not own.resource_types == own.resource_types
	type_name(bindings.scopes) == "object"
	asked := input.baseline.scopes
	scopes := {s |
		some s in asked
		s in own.scopes
		not bindings.scopes[s] == bindings.scopes[s]
	}
	count(scopes) == count(asked)
	wanted := object.get(input.context, "scopes", asked)
	shown := {s | some s in wanted; s in scopes}
	shown != set()

	rows := data.svc.operator.controls
	rows.client == {}
	rows.environment == {}
	rows.introspection == {"require_audience": true}
	not data.custom.introspect.deny == data.custom.introspect.deny
	not data.custom.introspect.obligations == data.custom.introspect.obligations
	not data.custom.introspect.extensions == data.custom.introspect.extensions
	not data.custom.introspect.claims == data.custom.introspect.claims
} else := answer.of(general)

# The members of an issuance's answer that make a token less plain.
not_plain := {"authorization_details", "claims", "extensions", "obligations", "resource", "resource_types"}

# An unknown token: the caller is checked nevertheless, and there is nothing to show.
general := {
	"allow": false,
	"scopes": [],
	"resource": null,
	"resource_types": [],
	"authorization_details": [],
	"expires_in_override": null,
	"jit_single_use": false,
	"obligations": {},
	"deny_reasons": introspection.deny_caller,
	"matched_segments": [],
	"extensions": {},
	"claims": {},
} if {
	not input.token
} else := {
	"allow": true,
	"scopes": introspection.shown,
	"resource": object.get(input.baseline, "resource", null),
	"resource_types": object.get(input.baseline, "resource_types", []),
	"authorization_details": introspection.shown_details,
	"expires_in_override": null,
	"jit_single_use": object.get(input.token, "jit_single_use", true),
	"obligations": obligations,
	"deny_reasons": ((entitlements.partial | registry.deny_details) | cedar.errors),
	"matched_segments": entitlements.segments,
	"extensions": extensions,
	"claims": claims,
} if {
	input.evaluation == "introspect"
	deny == set()
	is_array(input.baseline.scopes)
} else := {
	"allow": false,
	"scopes": [],
	"resource": null,
	"resource_types": [],
	"authorization_details": [],
	"expires_in_override": null,
	"jit_single_use": false,
	"obligations": obligations,
	"deny_reasons": answer.reasons(deny, ((entitlements.partial | registry.deny_details) | cedar.errors)),
	"matched_segments": [],
	"extensions": extensions,
	"claims": {},
}

deny contains r if some r in introspection.deny_caller

deny contains r if some r in introspection.deny

deny contains r if some r in client.deny

deny contains r if some r in entitlements.deny

deny contains r if some r in hooks.introspect_deny

# Cedar rules are asked only if there are any.
deny contains r if {
	policies[_].path
	some r in cedar.deny
}

# A token that was exchanged for an ID token ends with the trust in its issuer.
deny contains r if {
	_ := input.issued.subject_token
	some r in trust.deny_issuer
}

# The control is evaluated only for a user whose claims are incomplete.
deny contains r if {
	_ := input.issued.subject.claims_incomplete
	some r in claims_of_user.deny
}

# The control is evaluated only if the context names a delegation, whatever its value.
deny contains r if {
	_ := input.context.delegation
	some r in delegation.deny
}

deny contains r if {
	not data.svc.operator.controls.environment == {}
	some r in environment.deny
}

# The controls that check resources are evaluated only if the token names one.
deny contains r if {
	introspection.names_resource
	some r in entitlements.deny_resource
}

deny contains r if {
	introspection.names_resource
	some r in authentication.deny
}

deny contains r if {
	introspection.names_resource
	some r in registry.deny
}

# Details decide: without any of them the token is good for nothing.
deny contains r if {
	some _ in input.baseline.authorization_details
	registry.left == []
	some r in registry.deny_details
}

# The obligations of the issuance stay. The operator's rules may add to them; obligations of one type
# are joined if both are lists. array.concat would do that too, but it makes the engine's type checker refuse
# every bundle in which an obligation of the operator is no list.
obligations := object.union(
	together(old_obligations, new_obligations),
	{type: [item | some list in [old_obligations[type], new_obligations[type]]; some item in list] |
		some type in (object.keys(old_obligations) & object.keys(new_obligations))
		is_array(old_obligations[type])
		is_array(new_obligations[type])
	},
)

old_obligations := issued("obligations")

new_obligations := {k: v | some k, v in data.custom.introspect.obligations}

extensions := together(
	issued("extensions"),
	{k: v | some k, v in data.custom.introspect.extensions},
)

claims := together(
	issued("claims"),
	{k: v | some k, v in data.custom.introspect.claims},
)

# Null in the stored answer means absent.
issued(name) := members if {
	members := input.baseline[name]
	is_object(members)
} else := {}

together(old, new) := old if new == {}

else := object.union(old, new)
