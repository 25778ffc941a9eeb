# METADATA
# title: Environment
# description: From which addresses and at which hours tokens are issued and shown.
package svc.controls.environment

import data.svc.operator.controls.environment as row

# The address that asked for the token, at both evaluations: at introspection the connection is
# the resource server's.
ip := input.environment.ip if input.evaluation == "issue"

ip := input.issued.environment.ip if input.evaluation == "introspect"

deny contains {
	"code": "ip_not_allowed", "category": "environment", "control": "environment",
	"message": "the address is not allowed",
} if {
	not inside
}

inside if object.get(row, "allow_cidrs", []) == []

inside if of_no_address

inside if {
	some range in row.allow_cidrs
	net.cidr_contains(range, ip)
}

deny contains {
	"code": "ip_not_allowed", "category": "environment", "control": "environment",
	"message": "the address is not allowed",
} if {
	not outside
}

outside if object.get(row, "deny_cidrs", []) == []

outside if of_no_address

# Proven for each range: one that cannot be read proves nothing and so denies.
outside if {
	is_array(row.deny_cidrs)
	every range in row.deny_cidrs {
		net.cidr_contains(range, ip) == false
	}
}

deny contains {
	"code": "outside_hours", "category": "environment", "control": "environment",
	"message": "tokens are not given at this hour",
} if {
	not open
}

# A refresh token is used with us alone, and there each use is judged by its own address. No one
# address asked for it, so its introspection has none to look at.
of_no_address if {
	input.evaluation == "introspect"
	input.token.kind == "refresh_token"
}

open if object.get(row, "hours", null) == null

open if {
	from := minutes(row.hours.from)
	to := minutes(row.hours.to)
	local_minute >= from
	local_minute < to
}

# Hours that pass midnight. `from` equal to `to` is the whole day.
open if {
	from := minutes(row.hours.from)
	to := minutes(row.hours.to)
	from >= to
	local_minute >= from
}

open if {
	from := minutes(row.hours.from)
	to := minutes(row.hours.to)
	from >= to
	local_minute < to
}

local_minute := (clock[0] * 60) + clock[1] if {
	clock := time.clock([input.request.now * 1000000000, row.hours.tz])
}

minutes(text) := (to_number(substring(text, 0, 2)) * 60) + to_number(substring(text, 3, 2)) if {
	regex.match(`^([01][0-9]|2[0-3]):[0-5][0-9]$`, text)
}
