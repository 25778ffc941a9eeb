# METADATA
# title: Access evaluation
# description: The access that AuthZEN permits, by the roles of subjects and by the operator's rules.
package svc.controls.authzen

import data.svc.cedar.policies
import data.svc.controls.cedar
import data.svc.lib.answer as reasons
import data.svc.lib.caller
import data.svc.lib.hooks
import data.svc.operator.controls.authzen as row

# ---- the caller: judged alone and first, so that it learns nothing of the decision

deny_caller contains {
	"code": "authzen_not_entitled", "category": "client", "control": "entitlements",
	"message": "the caller is not entitled to ask for access decisions",
} if {
	not caller.may_evaluate
}

# ---- the access request

answer := object.union({"allow": true}, context) if {
	input.evaluation == "authzen"
	deny == set()
	[1 | policies[_].path; cedar.errors != set()] == []
} else := object.union({"allow": true, "deny_reasons": cedar.errors}, context) if {
	input.evaluation == "authzen"
	deny == set()
} else := object.union({"allow": false, "deny_reasons": reasons.reasons(deny, cedar.errors)}, context)

deny contains {
	"code": "no_rule_matched", "category": "policy", "control": "authzen",
	"message": "no rule permits this access",
} if {
	not permitted
}

deny contains r if some r in hooks.authzen_deny

# Cedar rules are asked only if there are any.
deny contains r if {
	policies[_].path
	some r in cedar.deny
}

# A comparison would make the engine refuse the bundle for a rule of another type, without its name.
permitted if data.custom.authzen.allow in {true}

# Everything is looked up by what the request names, because the row may hold any number of subjects.
permitted if {
	asked := input.authzen
	some role in row.subjects[asked.subject.type][asked.subject.id].roles
	asked.action.name in row.roles[role][asked.resource.type]
}

permitted if {
	policies[_].path
	cedar.permitted
}

default context := {}

context := {"context": data.custom.authzen.context}
