# METADATA
# title: Gateway tools
# description: Decides in one call which tools a token may see, in their order.
package svc.decision.gateway_tools

import data.svc.cedar.policies
import data.svc.controls.audit
import data.svc.controls.gateway
import data.svc.decision.gateway as one

# The plain case: no rule of the operator, in Rego or in Cedar, looks at requests to managed resources, so
# scopes and statuses decide, at a tenth of the cost. The answer is the one that `general` gives. A new source of reasons in
# svc.controls.gateway must exclude the plain case. `grouped` in the question: each tool stands for all of its resource with the
# same scopes, which is enough here alone, and the answer says it.
result := object.union(grouped, {"allow": true, "argument_mode": audit.argument_mode, "verdicts": [verdict |
	some tool in input.tools
	verdict := plain(input.resources[tool.resource], tool.action.requiredScopes, held_at[tool.resource])
]}) if {
	input.evaluation == "gateway_tools"
	not data.custom.gateway.deny == data.custom.gateway.deny
	not data.custom.gateway.obligations == data.custom.gateway.obligations
	not data.custom.gateway.cache_seconds == data.custom.gateway.cache_seconds
	not cedar_rules
	not input.subject.claims_incomplete == input.subject.claims_incomplete
	is_array(input.token.scopes)
	held := {s | some s in input.token.scopes}
	held_at := [there |
		some resource in input.resources
		there := held | {s | some h in held; some s in resource.implies[h]}
	]
} else := general

# Each tool is decided as if it were called alone, without arguments: rules see the input that they would
# see then. A tool that a new authorization would permit is shown.
general := {"allow": true, "argument_mode": audit.argument_mode, "verdicts": [verdict |
	some tool in input.tools
	document := object.union(frame, {"resource": input.resources[tool.resource], "action": tool.action})
	verdict := answer with input as document
]} if {
	input.evaluation == "gateway_tools"
	grouped == {}
} else := {"allow": false}

default grouped := {}

grouped := {"grouped": true} if input.grouped

cedar_rules if policies[_].path

plain(resource, required, held) := word if {
	resource.status in gateway.serving_statuses
	is_array(required)
	word := by_missing[({s | some s in required} - held) == set()]
} else := "deny"

by_missing := {true: "allow", false: "step_up"}

answer := "allow" if one.deny == set()

else := "step_up" if one.step_up.step_up

else := "deny"

frame := object.union(object.remove(input, ["resources", "tools"]), {"evaluation": "gateway"})
