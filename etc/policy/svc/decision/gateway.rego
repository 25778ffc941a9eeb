# METADATA
# title: Gateway
# description: Decides one request to a managed resource, for a token that evaluation 2 has let live.
package svc.decision.gateway

import data.svc.cedar.policies
import data.svc.controls.audit
import data.svc.controls.cedar
import data.svc.controls.claims
import data.svc.controls.gateway

# The service meets every obligation, or denies.
result := object.union_n([{"allow": true, "argument_mode": audit.argument_mode}, obligations, keeping]) if {
	input.evaluation == "gateway"
	deny == set()
} else := object.union_n([
	{"allow": false, "deny_reasons": deny, "argument_mode": audit.argument_mode},
	step_up,
])

# Cedar rules are looked for first, because asking them costs time.
deny contains reason if some reason in gateway.deny

# The control is evaluated only for a user whose claims are incomplete.
deny contains reason if {
	_ := input.subject.claims_incomplete
	some reason in claims.deny
}

deny contains reason if {
	policies[_].path
	some reason in cedar.deny
}

default obligations := {}

obligations := {"obligations": gateway.obligations} if gateway.obligations != {}

default keeping := {}

# An answer with obligations is for one request.
keeping := {"cache_seconds": gateway.cache_seconds} if obligations == {}

default step_up := {}

# A new authorization does not help against a Cedar rule.
step_up := {"step_up": {"scopes": gateway.step_up}} if deny == gateway.deny
