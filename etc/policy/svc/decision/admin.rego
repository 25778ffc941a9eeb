# METADATA
# title: Admin request
# description: Decides whether a rule of the operator refuses a request to the admin API.
package svc.decision.admin

import data.svc.lib.hooks

# The service has checked the role of the caller, and does not ask about an owner's key.
result := {"allow": true} if {
	input.evaluation == "admin"
	hooks.admin_deny == set()
} else := {"allow": false, "deny_reasons": hooks.admin_deny}
