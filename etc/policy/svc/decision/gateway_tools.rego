# METADATA
# title: Gateway tools
# description: Decides in one call which tools a token may see, in their order.
# entrypoint: true
package svc.decision.gateway_tools

import data.svc.controls.gateway

# Each tool is decided as if it were called alone, without arguments: rules see the input that they would
# see then. A tool that a new authorization would permit is shown.
result := {"allow": true, "verdicts": [verdict |
	some tool in input.tools
	document := object.union(frame, {"resource": input.resources[tool.resource], "action": tool.action})
	verdict := answer with input as document
]} if {
	input.evaluation == "gateway_tools"
} else := {"allow": false}

answer := "allow" if gateway.deny == set()

else := "step_up" if gateway.step_up

else := "deny"

frame := object.union(object.remove(input, ["resources", "tools"]), {"evaluation": "gateway"})
