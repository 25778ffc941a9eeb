# The hooks for the operator's own rules: package custom.issue for evaluation 1, custom.introspect for
# evaluation 2, custom.register for registrations (deny only), custom.authzen for access requests (allow,
# deny and context), custom.gateway for requests to managed resources (deny, obligations and
# cache_seconds), custom.admin for requests to the admin API (deny only).
#
#   allow          true permits the access request, unless there is a reason to deny (custom.authzen only)
#   deny           set of reasons; a plain string is a reason of category policy
#   block_scopes   set of scopes that are not issued (custom.issue only)
#   opaque         set of reasons why a token stays opaque although its resource has JWTs (custom.issue only)
#   obligations, extensions, claims   objects that are added to the answer
#   context        object that AuthZEN's answer hands to the caller (custom.authzen only)
#   cache_seconds  integer from 0 to 30: for how long a web server that asks may keep the answer (custom.gateway only)
#
# A hook of the wrong type denies: ignoring it would turn a typing error into an allow.
package svc.lib.hooks

issue_deny contains reason("custom.issue.deny", r) if some r in data.custom.issue.deny

issue_deny contains invalid("custom.issue.deny") if {
	hook := data.custom.issue.deny
	type_name(hook) != "set"
}

issue_deny contains invalid("custom.issue.block_scopes") if {
	hook := data.custom.issue.block_scopes
	type_name(hook) != "set"
}

issue_deny contains invalid("custom.issue.obligations") if {
	hook := data.custom.issue.obligations
	type_name(hook) != "object"
}

issue_deny contains invalid("custom.issue.extensions") if {
	hook := data.custom.issue.extensions
	type_name(hook) != "object"
}

issue_deny contains invalid("custom.issue.claims") if {
	hook := data.custom.issue.claims
	type_name(hook) != "object"
}

issue_deny contains invalid("custom.issue.opaque") if {
	hook := data.custom.issue.opaque
	type_name(hook) != "set"
}

introspect_deny contains reason("custom.introspect.deny", r) if some r in data.custom.introspect.deny

introspect_deny contains invalid("custom.introspect.deny") if {
	hook := data.custom.introspect.deny
	type_name(hook) != "set"
}

introspect_deny contains invalid("custom.introspect.obligations") if {
	hook := data.custom.introspect.obligations
	type_name(hook) != "object"
}

introspect_deny contains invalid("custom.introspect.extensions") if {
	hook := data.custom.introspect.extensions
	type_name(hook) != "object"
}

introspect_deny contains invalid("custom.introspect.claims") if {
	hook := data.custom.introspect.claims
	type_name(hook) != "object"
}

register_deny contains reason("custom.register.deny", r) if some r in data.custom.register.deny

register_deny contains invalid("custom.register.deny") if {
	hook := data.custom.register.deny
	type_name(hook) != "set"
}

authzen_deny contains reason("custom.authzen.deny", r) if some r in data.custom.authzen.deny

authzen_deny contains invalid("custom.authzen.deny") if {
	hook := data.custom.authzen.deny
	type_name(hook) != "set"
}

authzen_deny contains invalid("custom.authzen.allow") if {
	hook := data.custom.authzen.allow
	type_name(hook) != "boolean"
}

authzen_deny contains invalid("custom.authzen.context") if {
	hook := data.custom.authzen.context
	type_name(hook) != "object"
}

gateway_deny contains reason("custom.gateway.deny", r) if some r in data.custom.gateway.deny

gateway_deny contains invalid("custom.gateway.deny") if {
	hook := data.custom.gateway.deny
	type_name(hook) != "set"
}

gateway_deny contains invalid("custom.gateway.obligations") if {
	hook := data.custom.gateway.obligations
	type_name(hook) != "object"
}

gateway_deny contains invalid("custom.gateway.cache_seconds") if {
	hook := data.custom.gateway.cache_seconds
	not hook in numbers.range(0, 30)
}

admin_deny contains reason("custom.admin.deny", r) if some r in data.custom.admin.deny

admin_deny contains invalid("custom.admin.deny") if {
	hook := data.custom.admin.deny
	type_name(hook) != "set"
}

invalid(name) := {
	"code": "hook_invalid", "category": "policy", "control": "custom",
	"message": "an operator rule has the wrong type", "detail": {"rule": name},
}

# An operator's reason in the form of the service's own, with the place of the rule that gave it. Missing members
# are filled in; if a member has the wrong type, the whole reason is replaced by hook_invalid.
reason(hook, r) := located(formed(r), place(hook, formed(r).code))

formed(r) := {"code": r, "category": "policy", "control": "custom", "message": r} if is_string(r)

else := object.union(
	{"category": "policy", "control": "custom", "message": r.code},
	object.filter(r, ["code", "category", "control", "message", "detail"]),
) if {
	is_string(r.code)
	object.get(r, "category", "policy") in categories
	is_string(object.get(r, "control", "custom"))
	is_string(object.get(r, "message", ""))
	is_object(object.get(r, "detail", {}))
} else := invalid("custom deny reason")

# The members of the rule's own detail count more.
located(formed, place) := object.union({"detail": place}, formed) if {
	place != {}
} else := formed

# The service writes svc.rule_places when it makes the bundle: path and line by the texts of a hook's rules, and
# `rest` if one rule alone makes its reasons otherwise.
place(hook, code) := data.svc.rule_places[hook].texts[code] if {
	true
} else := data.svc.rule_places[hook].rest if {
	true
} else := {}

categories := {
	"client", "registration", "trust", "grant", "token", "subject", "resource", "details",
	"scope", "delegation", "environment", "policy", "system",
}
