# METADATA
# title: Lifetime
# description: The lifetime of access tokens, and the tokens that may be introspected only once.
package svc.controls.lifetime

import data.svc.controls.entitlements
import data.svc.lib.ask
import data.svc.operator.controls.lifetime as row
import data.svc.registry.resource_types as registry

# Every lifetime that applies, in seconds.
wished contains n if {
	some b in entitlements.held
	n := b.ttl
}

wished contains n if {
	some t in ask.types
	n := registry.resource.types[t].default_ttl
}

wished contains n if {
	some t in ask.types
	n := row.by_resource_type[t]
}

wished contains n if n := row.default_ttl

# The smallest lifetime applies, up to `max_ttl`. If there is none, `max_ttl` limits the configured
# lifetime; otherwise nothing is overridden.
override := min(wished | {n | n := row.max_ttl}) if wished != set()

else := min({row.max_ttl, input.request.default_ttl}) if {
	not row == {}
	row.max_ttl < input.request.default_ttl
}

else := null

deny contains {
	"code": "ttl_zero", "category": "token", "control": "lifetime",
	"message": "the token would have no valid lifetime",
} if {
	not row_ok
}

row_ok if row == {}

row_ok if {
	is_object(object.get(row, "by_resource_type", {}))
	is_array(object.get(row, "jit_resource_types", []))
	seconds(object.get(row, "max_ttl", 1))
}

# Check every lifetime, not only the smallest: in Rego a number is less than any string.
deny contains {
	"code": "ttl_zero", "category": "token", "control": "lifetime",
	"message": "the token would have no valid lifetime",
} if {
	some n in wished
	not seconds(n)
}

seconds(n) if {
	is_number(n)
	n == floor(n)
	n > 0
}

# Any value other than `false` means single use.
single_use if {
	some b in entitlements.held
	b.jit_single_use != false
} else if {
	some t in ask.types
	t in row.jit_resource_types
} else := false
