# METADATA
# title: Access evaluation
# description: Decides one access request of AuthZEN, for a caller that enforces the decision.
package svc.decision.authzen

import data.svc.controls.authzen

# A caller that may not ask gets its own reasons alone, and nothing of the decision.
result := {"allow": false, "deny_reasons": authzen.deny_caller} if {
	authzen.deny_caller != set()
} else := authzen.answer
