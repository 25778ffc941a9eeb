# METADATA
# title: Authentication
# description: Requirements for the strength and age of the sign-in, and for tokens bound to a key.
package svc.controls.authentication

import data.svc.lib.ask
import data.svc.operator.controls.authentication as row

# The row's demands for a resource type. If the row or the entry is not an object, this is undefined
# and every `..._ok` below fails.
demands(t) := object.get(object.get(row, "by_resource_type", {}), t, {})

deny contains {
	"code": "acr_too_low", "category": "environment", "control": "authentication",
	"message": "the resource requires a stronger sign-in", "detail": {"resource_type": t},
} if {
	some t in ask.types
	not acr_ok(t)
}

acr_ok(t) if object.get(demands(t), "acr", []) == []

acr_ok(t) if ask.subject.acr in demands(t).acr

deny contains {
	"code": "auth_too_old", "category": "environment", "control": "authentication",
	"message": "the resource requires a more recent sign-in", "detail": {"resource_type": t},
} if {
	some t in ask.types
	not age_ok(t)
}

age_ok(t) if object.get(demands(t), "max_age", null) == null

# Both sides must be numbers: in Rego a number is less than any string.
age_ok(t) if {
	limit := demands(t).max_age
	is_number(limit)
	is_number(ask.subject.auth_time)
	issued_at - ask.subject.auth_time <= limit
}

# The sign-in must be recent when the token is issued. Its age does not count afterwards.
issued_at := input.request.now if input.evaluation in {"issue", "preview"}

issued_at := input.token.iat if input.evaluation == "introspect"

deny contains {
	"code": "dpop_required", "category": "environment", "control": "authentication",
	"message": "the resource requires a DPoP-bound token", "detail": {"resource_type": t},
} if {
	some t in ask.types
	not binding_ok(t)
}

binding_ok(t) if {
	listed := object.get(row, "dpop_required_resource_types", [])
	is_array(listed)
	not t in listed
}

binding_ok(_) if {
	input.evaluation == "issue"
	input.environment.dpop.valid == true
}

# The proof comes with the request to /token, which is decided again.
binding_ok(_) if input.evaluation == "preview"

binding_ok(_) if {
	input.evaluation == "introspect"
	is_string(input.token.cnf.jkt)
}
