# METADATA
# title: Registry
# description: The resource types and authorization details types that exist, and their values.
package svc.controls.registry

import data.svc.controls.entitlements
import data.svc.lib.ask
import data.svc.registry.resource_types as row

deny contains {
	"code": "resource_type_unknown", "category": "resource", "control": "registry",
	"message": "the resource type is not known", "detail": {"resource_type": t},
} if {
	some t in ask.types
	not is_known(t)
}

is_known(t) if is_object(row.resource.types[t])

deny contains {
	"code": "rar_type_unknown", "category": "details", "control": "registry",
	"message": "the authorization details type is not known", "detail": {"type": d.type},
} if {
	some d in ask.details
	not is_known_detail(d.type)
}

is_known_detail(t) if is_object(row.rar.types[t])

deny contains {
	"code": "rar_not_entitled", "category": "details", "control": "registry",
	"message": "the client is not entitled to this authorization details type",
	"detail": {"type": d.type},
} if {
	some d in ask.details
	is_known_detail(d.type)
	not entitled(d.type)
}

entitled(t) if {
	some b in entitlements.held
	t in b.authorization_details
}

entitled(t) if {
	some b in entitlements.held
	t in b.resource_types
	entitlements.stated({t})
}

deny contains {
	"code": "rar_value_unknown", "category": "details", "control": "registry",
	"message": "the authorization details contain a value that their type does not allow",
	"detail": {"type": d.type},
} if {
	some d in ask.details
	is_known_detail(d.type)
	not values_ok(d, row.rar.types[d.type])
}

values_ok(d, known) if {
	within(d, known, "actions")
	within(d, known, "locations")
	within(d, known, "datatypes")
	schema_ok(d, known)
}

# A list that is absent from the registry limits nothing.
within(_, known, member) if object.get(known, member, null) == null

within(d, known, member) if {
	listed := known[member]
	every value in object.get(d, member, []) {
		value in listed
	}
}

schema_ok(_, known) if object.get(known, "schema", null) == null

schema_ok(d, known) if json.match_schema(d, known.schema)[0] == true
