# The question, by the same names for both evaluations. At issuance it comes from the request, at
# introspection from the stored answer of the issuance (the baseline).
#
# A preview is the question of an issuance, asked before there is a code.
#
# `input.evaluation` comes first in every rule: the engine indexes it, so the rules of the other
# evaluation cost nothing.
package svc.lib.ask

import data.svc.controls.entitlements

grant := input.request.grant_type if input.evaluation in {"issue", "preview"}

grant := input.issued.grant_type if input.evaluation == "introspect"

subject := input.subject if input.evaluation in {"issue", "preview"}

subject := input.issued.subject if input.evaluation == "introspect"

# A request without scope asks for the client's default.
scopes := input.scopes.requested if {
	input.evaluation in {"issue", "preview"}
	input.scopes.requested != []
}

scopes := input.scopes.default if {
	input.evaluation in {"issue", "preview"}
	input.scopes.requested == []
}

scopes := input.baseline.scopes if input.evaluation == "introspect"

indicator := input.resource.indicator if {
	input.evaluation in {"issue", "preview"}
	input.resource.indicator != null
}

indicator := input.baseline.resource if {
	input.evaluation == "introspect"
	input.baseline.resource != null
}

details := input.authorization_details if input.evaluation in {"issue", "preview"}

details := input.baseline.authorization_details if input.evaluation == "introspect"

# True if neither the request nor the registration names scopes: those asked for are then the service's own
# proposal, and one that is not granted is only left out.
by_proposal if {
	input.evaluation in {"issue", "preview"}
	input.scopes.requested == []
	not input.scopes.ceiling == input.scopes.ceiling
}

# True if authorization details were requested: they decide, and a scope beside them that is not granted
# is only left out. An empty list counts as absent.
by_details if some _ in details

# The resource types of the token: those named by URI and those named by their indicator. Empty for a
# token that names none.
types contains t if {
	input.evaluation in {"issue", "preview"}
	some t in input.resource.types
}

types contains t if {
	input.evaluation in {"issue", "preview"}
	_ := input.resource.indicator
	some t in entitlements.indicated
}

types contains t if {
	input.evaluation == "introspect"
	some t in input.baseline.resource_types
}
