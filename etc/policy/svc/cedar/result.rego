# The rules that were generated from Cedar, as one set of policies. Each file is a package below
# svc.cedar.policies, with these members: permits, forbids and errors, sets of ids of policies; result, the
# three in an object; forbidding, the set of the ids of all policies that forbid; and path, the path of the
# saved rule.
#
# A policy is satisfied, or has an error, in one of the questions about the request; `findings` name it with
# its path and the action of that question.
package svc.cedar.result

import data.svc.cedar.policies
import data.svc.cedar.request

answers[action] := files if {
	some action, question in request.questions
	files := {file: r | r := policies[file].result} with input as {"cedar": question}
}

permits contains finding(file, id, action) if some id in answers[action][file].permits

forbids contains finding(file, id, action) if some id in answers[action][file].forbids

errors contains finding(file, id, action) if some id in answers[action][file].errors

finding(file, id, action) := {"policy": id, "path": policies[file].path, "action": action}

# The decision of Cedar itself: an allow needs a permit, and no forbid.
decision := "allow" if {
	permits != set()
	forbids == set()
} else := "deny"

reason := permits if {
	decision == "allow"
} else := forbids

# The findings, one for each policy: with its action, or with `actions` if there are several.
joined_forbids contains joined(file, id, actions) if {
	some file, ids in forbidding
	some id, actions in ids
}

joined_errors contains joined(file, id, actions) if {
	some file, ids in failing
	some id, actions in ids
}

# Those errors that are of policies that forbid.
joined_unproven contains joined(file, id, actions) if {
	some file, ids in failing
	some id, actions in ids
	id in policies[file].forbidding
}

forbidding[file][id] contains action if some id in answers[action][file].forbids

failing[file][id] contains action if some id in answers[action][file].errors

joined(file, id, actions) := finding(file, id, action) if {
	count(actions) == 1
	some action in actions
} else := {"policy": id, "path": policies[file].path, "actions": sort(actions)}
