# METADATA
# title: Issuance
# description: Evaluation 1. Decides whether a token is issued, and with which scopes and lifetime. As a preview, before a code is issued at /authorize.
package svc.decision.issue

import data.svc.cedar.policies
import data.svc.controls.authentication
import data.svc.controls.cedar
import data.svc.controls.claims
import data.svc.controls.client
import data.svc.controls.entitlements
import data.svc.controls.environment
import data.svc.controls.exchange
import data.svc.controls.jwt_resources
import data.svc.controls.lifetime
import data.svc.controls.registry
import data.svc.controls.trust
import data.svc.entitlements.bindings
import data.svc.lib.answer
import data.svc.lib.ask
import data.svc.lib.hooks

# The plain case, which is most of the traffic: a client requests, for itself or for a user, scopes that
# its own binding holds, and nothing else is requested or configured. Each line proves that a control
# below gives no reason, at a third of the cost of evaluating it. The answer is the one that `general`
# gives; the tests compare the two on all of their inputs. A preview is rare and takes the general way.
#
# `not x == x` holds if x does not exist. A bare `not x` would also hold for `false`, and so ignore a
# hook or a row of the wrong type. That there is no Cedar rule is asked here, because a rule for it costs
# more.
result := object.union(
	{
		"allow": true,
		"scopes": scopes,
		"matched_segments": [concat("", ["binding:clients/", id])],
	},
	renewal,
) if {
	input.evaluation == "issue"
	[1 | policies[_].path] == []

	# Exactly these members: with a statement or a software_id the case is not plain.
	input.client = {"auth_method": _, "enabled": true, "id": id, "registration": registration, "type": _}
	client.type_ok
	not input.resource == input.resource
	not input.authorization_details == input.authorization_details
	not input.subject_token == input.subject_token
	not input.subject.claims_incomplete == input.subject.claims_incomplete
	asked := input.scopes.requested
	is_array(asked)
	ceiling := object.get(input.scopes, "ceiling", asked)
	not bindings.registrations[registration] == bindings.registrations[registration]

	own := bindings.clients[id]
	input.request.grant_type in own.grants
	not own.resource_types == own.resource_types
	not own.ttl == own.ttl
	not own.jit_single_use == own.jit_single_use
	type_name(bindings.scopes) == "object"
	scopes := {s |
		some s in asked
		s in own.scopes
		s in ceiling
		not bindings.scopes[s] == bindings.scopes[s]
	}
	scopes != set()
	count(scopes) == count(asked)

	rows := data.svc.operator.controls
	rows.client == {}
	rows.environment == {}
	rows.lifetime == {}
	not data.custom.issue.deny == data.custom.issue.deny
	not data.custom.issue.block_scopes == data.custom.issue.block_scopes
	not data.custom.issue.obligations == data.custom.issue.obligations
	not data.custom.issue.extensions == data.custom.issue.extensions
	not data.custom.issue.claims == data.custom.issue.claims
	not data.custom.issue.opaque == data.custom.issue.opaque
} else := answer.of(general)

default renewal := {}

renewal := {"refresh": true} if entitlements.refresh

general := {
	"allow": true,
	"scopes": entitlements.granted,
	"resource": object.get(input, ["resource", "indicator"], null),
	"resource_types": ask.types,
	"authorization_details": object.get(input, "authorization_details", []),
	"expires_in_override": lifetime.override,
	"jit_single_use": lifetime.single_use,
	"refresh": entitlements.refresh,
	"obligations": {k: v | some k, v in data.custom.issue.obligations},
	"deny_reasons": (entitlements.partial | cedar.errors),
	"matched_segments": entitlements.segments,
	"extensions": {k: v | some k, v in data.custom.issue.extensions},
	"claims": {k: v | some k, v in data.custom.issue.claims},
	"jwt": jwt_resources.form,
	"opaque": jwt_resources.opaque,
} if {
	input.evaluation in {"issue", "preview"}
	deny == set()
	is_array(ask.scopes)
} else := {
	"allow": false,
	"scopes": [],
	"resource": null,
	"resource_types": [],
	"authorization_details": [],
	"expires_in_override": null,
	"jit_single_use": false,
	"refresh": false,
	"obligations": {k: v | some k, v in data.custom.issue.obligations},
	"deny_reasons": answer.reasons(deny, entitlements.partial | cedar.errors),
	"matched_segments": [],
	"extensions": {k: v | some k, v in data.custom.issue.extensions},
	"claims": {},
	"jwt": {},
	"opaque": set(),
}

# Controls are listed one by one: a loop over them would evaluate every control in every decision.
deny contains r if some r in client.deny

deny contains r if some r in entitlements.deny

deny contains r if some r in lifetime.deny

deny contains r if some r in hooks.issue_deny

# Cedar rules are asked only if there are any.
deny contains r if {
	policies[_].path
	some r in cedar.deny
}

# Deny if the client asks for scopes and none is left, unless there are authorization details, which decide
# then. The control `registry` denies details that the client is not entitled to.
deny contains r if {
	entitlements.granted == set()
	not ask.by_proposal
	not ask.by_details
	some r in entitlements.partial
}

# The control is evaluated only for a user whose claims are incomplete.
deny contains r if {
	_ := input.subject.claims_incomplete
	some r in claims.deny
}

deny contains r if {
	not data.svc.operator.controls.environment == {}
	some r in environment.deny
}

# The controls of a token exchange are evaluated only for one.
deny contains r if {
	_ := input.subject_token
	some r in exchange.deny
}

deny contains r if {
	_ := input.subject_token
	some r in trust.deny_issuer
}

# The controls that check resources are evaluated only if the request names one.
deny contains r if {
	input.resource
	some r in entitlements.deny_resource
}

deny contains r if {
	input.resource
	some r in authentication.deny
}

deny contains r if {
	input.resource
	some r in registry.deny
}

deny contains r if {
	input.authorization_details
	some r in registry.deny_details
}
