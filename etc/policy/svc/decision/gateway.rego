# METADATA
# title: Gateway
# description: Decides one request to a managed resource, for a token that evaluation 2 has let live.
# entrypoint: true
package svc.decision.gateway

import data.svc.controls.audit
import data.svc.controls.gateway

# The service meets every obligation, or denies.
result := object.union_n([{"allow": true, "argument_mode": audit.argument_mode}, obligations]) if {
	input.evaluation == "gateway"
	gateway.deny == set()
} else := object.union_n([
	{"allow": false, "deny_reasons": gateway.deny, "argument_mode": audit.argument_mode},
	step_up,
])

default obligations := {}

obligations := {"obligations": gateway.obligations} if gateway.obligations != {}

default step_up := {}

step_up := {"step_up": {"scopes": gateway.step_up}}
