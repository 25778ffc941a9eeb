# METADATA
# title: Environment
# description: The addresses and the hours for which tokens are issued and shown.
package svc.controls.environment

import data.svc.operator.controls.environment as row

# The address that requested the token, in both evaluations. At introspection the connection is the
# resource server's, so the stored address counts. A preview does not know the address that will
# request the token: the browser's is another, and a deny that /token would not give must not end a
# sign-in.
ip := input.environment.ip if input.evaluation == "issue"

ip := input.issued.environment.ip if input.evaluation == "introspect"

deny contains {
	"code": "ip_not_allowed", "category": "environment", "control": "environment",
	"message": "requests from this IP address are not allowed",
} if {
	not inside
}

inside if object.get(row, "allow_cidrs", []) == []

inside if input.evaluation == "preview"

inside if of_no_address

inside if {
	some range in row.allow_cidrs
	net.cidr_contains(range, ip)
}

deny contains {
	"code": "ip_not_allowed", "category": "environment", "control": "environment",
	"message": "requests from this IP address are not allowed",
} if {
	not outside
}

outside if object.get(row, "deny_cidrs", []) == []

outside if input.evaluation == "preview"

outside if of_no_address

# The address must be outside of every range. A range that cannot be read proves nothing, so it denies.
outside if {
	is_array(row.deny_cidrs)
	every range in row.deny_cidrs {
		net.cidr_contains(range, ip) == false
	}
}

deny contains {
	"code": "outside_hours", "category": "environment", "control": "environment",
	"message": "tokens are not available at this time of day",
} if {
	not open
}

# A refresh token is used at this service only, where the address of each use is checked. It was not
# requested from one address, so its introspection has no address to check.
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

# Hours that span midnight. If `from` equals `to`, they are the whole day.
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

minutes(text) := (two_digits(text, 0) * 60) + two_digits(text, 3) if {
	regex.match(`^([01][0-9]|2[0-3]):[0-5][0-9]$`, text)
}

# "09" alone would be a number that JSON does not allow, which only OPA reads.
two_digits(text, at) := to_number(concat("", ["1", substring(text, at, 2)])) - 100
