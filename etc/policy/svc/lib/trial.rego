# What the hooks of operators (hooks.rego) give for a question, whatever the decision makes of them: a rule for each package.
# No decision reads this; the trial of a save does, so that rules that exclude each other, or do not end, are found although
# no recorded question comes to them.
package svc.lib.trial

issue := {
	"deny": [type_name(deny) | deny := data.custom.issue.deny],
	"block_scopes": [type_name(block_scopes) | block_scopes := data.custom.issue.block_scopes],
	"obligations": [type_name(obligations) | obligations := data.custom.issue.obligations],
	"extensions": [type_name(extensions) | extensions := data.custom.issue.extensions],
	"claims": [type_name(claims) | claims := data.custom.issue.claims],
	"opaque": [type_name(opaque) | opaque := data.custom.issue.opaque],
}

introspect := {
	"deny": [type_name(deny) | deny := data.custom.introspect.deny],
	"obligations": [type_name(obligations) | obligations := data.custom.introspect.obligations],
	"extensions": [type_name(extensions) | extensions := data.custom.introspect.extensions],
	"claims": [type_name(claims) | claims := data.custom.introspect.claims],
}

register := {
	"deny": [type_name(deny) | deny := data.custom.register.deny],
}

authzen := {
	"allow": [type_name(allow) | allow := data.custom.authzen.allow],
	"deny": [type_name(deny) | deny := data.custom.authzen.deny],
	"context": [type_name(context) | context := data.custom.authzen.context],
}

gateway := {
	"deny": [type_name(deny) | deny := data.custom.gateway.deny],
	"obligations": [type_name(obligations) | obligations := data.custom.gateway.obligations],
	"cache_seconds": [type_name(cache_seconds) | cache_seconds := data.custom.gateway.cache_seconds],
}

admin := {
	"deny": [type_name(deny) | deny := data.custom.admin.deny],
}
