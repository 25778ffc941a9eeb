# METADATA
# title: Cedar rules
# description: What saved Cedar rules do to a decision. Their forbids deny; their permits count at AuthZEN alone, and only if the row says so.
package svc.controls.cedar

import data.svc.cedar.policies
import data.svc.cedar.request
import data.svc.cedar.result
import data.svc.operator.controls.authzen as row
import data.svc.operator.controls.gateway as row_of_gateway

# True if there are Cedar rules that count. An entrypoint asks this first, because the rest costs time.
active if {
	policies[_].path
	not row.cedar_mode == "off"
}

deny contains {
	"code": "cedar_forbid", "category": "policy", "control": "cedar",
	"message": "a Cedar rule forbids this", "detail": detail,
} if {
	active
	some detail in result.forbids
}

# An error is listed, in an answer that allows too. Cedar skips a policy with an error. That of a forbid denies
# if the row demands it.
errors contains {
	"code": "cedar_error", "category": "policy", "control": "cedar",
	"message": "a Cedar rule has an error for this", "detail": detail,
} if {
	active
	some detail in result.errors
}

deny contains error if {
	some error in errors
	not errors_skipped
	error.detail in result.unproven
}

errors_skipped if object.get(row, "cedar_errors", "skip") == "skip"

# No rule can judge a request without a form in Cedar, so no forbid is known not to hold.
deny contains {
	"code": "cedar_unmapped", "category": "policy", "control": "cedar",
	"message": "the request cannot be given to the Cedar rules",
} if {
	active
	request.questions == {}
}

# The arguments of a tool come from the caller of the gateway, and the upstream gets them as they are. So no forbid is
# known not to hold if a part of them has no value of Cedar, or if one has an error beside a fraction.
deny contains {
	"code": "cedar_unmapped", "category": "policy", "control": "cedar",
	"message": "the request cannot be given to the Cedar rules", "detail": {"part": "arguments"},
} if {
	active
	input.evaluation == "gateway"
	unjudged
	not row_of_gateway.cedar_unmapped == "allow"
}

unjudged if request.partial

unjudged if {
	request.fraction
	result.unproven != set()
}

# True if a policy permits the access request, and permits count.
permitted if {
	row.cedar_mode == "source"
	active
	result.permits != set()
}
