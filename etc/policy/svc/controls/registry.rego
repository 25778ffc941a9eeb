# METADATA
# title: Registry
# description: The resource types and authorization details types that exist, and their values.
package svc.controls.registry

import data.svc.controls.entitlements
import data.svc.lib.ask
import data.svc.lib.url
import data.svc.registry.resource_types as row

deny contains {
	"code": "resource_type_unknown", "category": "resource", "control": "registry",
	"message": "the resource type is not known", "detail": {"resource_type": t},
} if {
	some t in ask.types
	not is_known(t)
}

is_known(t) if is_object(row.resource.types[t])

# ---- authorization details (RFC 9396). An issuance needs all entries; of an issued token, what is left
# of them is shown.

# The lists whose items are a choice (RFC 9396 2.2).
choices := {"actions", "datatypes", "locations", "privileges"}

# The values that a type allows. A resource type is a details type too: its actions are its scopes, and its
# location is its indicator. An entry of its own in `rar` says otherwise.
allowed(t) := row.rar.types[t] if is_object(row.rar.types[t])

else := object.union({"actions": row.resource.types[t].scopes}, places(t)) if is_resource_type(t)

is_resource_type(t) if {
	is_object(row.rar.types)
	not t in object.keys(row.rar.types)
	is_object(row.resource.types[t])
}

default places(_) := {}

places(t) := {"locations": url.forms(row.resource.types[t].indicator)}

is_known_detail(t) if is_object(allowed(t))

deny_details contains {
	"code": "rar_type_unknown", "category": "details", "control": "registry",
	"message": "the authorization details type is not known", "detail": {"entry": i, "type": d.type},
} if {
	some i, d in ask.details
	not is_known_detail(d.type)
}

deny_details contains {
	"code": "rar_not_entitled", "category": "details", "control": "registry",
	"message": "the client is not entitled to this authorization details type",
	"detail": {"entry": i, "type": d.type},
} if {
	some i, d in ask.details
	is_known_detail(d.type)
	not entitled(d.type)
}

entitled(t) if listed_for_client(t)

entitled(t) if {
	some b in entitlements.held
	t in b.resource_types
	entitlements.stated({t})
}

listed_for_client(t) if {
	some b in entitlements.held
	t in b.authorization_details
}

# An action of a resource type is one of its scopes, so a client that has the type has the actions for
# which it has the scopes.
deny_details contains {
	"code": "rar_action_not_entitled", "category": "details", "control": "registry",
	"message": "the client is not entitled to an action of the authorization details",
	"detail": {"entry": i, "type": d.type, "member": "actions", "value": action},
} if {
	some i, d in ask.details
	entitled(d.type)
	some action in d.actions
	not action_ok(d.type, action)
}

action_ok(t, _) if not is_resource_type(t)

action_ok(t, _) if listed_for_client(t)

action_ok(t, action) if entitlements.may_act(t, action)

deny_details contains {
	"code": "rar_value_unknown", "category": "details", "control": "registry",
	"message": "the authorization details contain a value that their type does not allow",
	"detail": {"entry": i, "type": d.type, "member": member, "value": value},
} if {
	some i, d in ask.details
	some member in choices
	some value in d[member]
	is_known_detail(d.type)
	not value_ok(d.type, member, value)
}

# A list that is absent from the registry limits nothing.
value_ok(t, member, _) if not member in object.keys(allowed(t))

value_ok(t, member, value) if value in allowed(t)[member]

deny_details contains {
	"code": "rar_value_unknown", "category": "details", "control": "registry",
	"message": "the authorization details contain a value that their type does not allow",
	"detail": {"entry": i, "type": d.type},
} if {
	some i, d in ask.details
	is_known_detail(d.type)
	not form_ok(d)
}

form_ok(d) if {
	every member in choices {
		is_array(object.get(d, member, []))
	}
	schema_ok(d, allowed(d.type))
}

schema_ok(_, known) if object.get(known, "schema", null) == null

schema_ok(d, known) if json.match_schema(d, known.schema)[0] == true

# The entries that are allowed, each without the values that are not. An entry that loses all values of a
# list is gone, because an empty list may mean any value.
left := [e |
	some d in ask.details
	entitled(d.type)
	lists := {member: kept |
		some member in choices
		kept := [value |
			some value in d[member]
			value_ok(d.type, member, value)
			is_allowed(d.type, member, value)
		]
		kept != object.get(d, member, [])
	}
	every list in lists {
		list != []
	}
	e := object.union(d, lists)
	form_ok(e)
]

is_allowed(_, member, _) if member != "actions"

is_allowed(t, "actions", value) if action_ok(t, value)
