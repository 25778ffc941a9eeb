# METADATA
# title: Admin request
# description: Decides whether a rule of the operator, or incomplete claims of the person, refuse a request to the admin API.
package svc.decision.admin

import data.svc.controls.claims
import data.svc.lib.hooks

# The service has checked the role of the caller, and does not ask about an owner's key.
result := {"allow": true} if {
	input.evaluation == "admin"
	deny == set()
} else := {"allow": false, "deny_reasons": deny}

deny contains r if some r in hooks.admin_deny

deny contains r if some r in claims.deny
