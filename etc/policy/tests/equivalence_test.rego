# The plain case gives the answer of the general one. The two are compared on every world that one, two
# or three changes make of a plain one. A world is an input with its data.
package equivalence_test

import data.fixture
import data.shipped
import data.svc.lib.answer

plain := {
	"input": {"issue": fixture.issue_input, "introspect": fixture.introspect_input},
	"bindings": fixture.bindings,
	"registry": fixture.registry,
	"controls": {
		"client": {}, "claims": {"incomplete": "deny"}, "environment": {}, "lifetime": {}, "authentication": {},
		"introspection": {"require_audience": true}, "trust": {"statement_issuers": ["https://pub.example"]},
	},
	"custom": {},
}

change(path, value) := {"op": "add", "path": path, "value": value}

gone(path) := {"op": "remove", "path": path}

own := ["bindings", "clients", "crm"]

at(path) := array.concat(own, path)

# Changes that concern both evaluations.
data_changes := [
	gone(own),
	change(own, {"scopes": ["orders.read"]}),
	change(own, {"grants": "client_credentials", "scopes": "orders.read"}),
	change(at(["scopes"]), ["orders.read"]),
	change(at(["scopes"]), []),
	change(at(["grants"]), ["refresh_token"]),
	change(at(["grants"]), ["authorization_code", "client_credentials", "refresh_token"]),
	change(at(["resource_types"]), []),
	change(at(["resource_types"]), ["urn:r:orders"]),
	change(at(["resource_types"]), null),
	change(at(["resources"]), ["https://api.example/orders"]),
	change(at(["ttl"]), 60),
	change(at(["ttl"]), "60"),
	change(at(["jit_single_use"]), true),
	change(at(["jit_single_use"]), false),
	change(at(["endpoints"]), ["introspect"]),
	change(["bindings", "registrations", "ADMIN"], {}),
	change(["bindings", "registrations", "ADMIN"], {"grants": ["client_credentials"], "scopes": ["admin"], "endpoints": ["introspect"]}),
	change(["bindings", "registrations", "ADMIN"], false),
	change(["bindings", "software", "soft"], {"grants": ["client_credentials"], "scopes": ["admin"]}),
	change(["bindings", "software", "soft"], {"grants": ["client_credentials"], "scopes": ["admin"], "issuers": ["https://pub.example"]}),
	change(["bindings", "registrations", "STATEMENT"], {"grants": ["client_credentials"], "scopes": ["admin"], "endpoints": ["introspect"]}),
	change(["controls", "trust"], {"statement_issuers": ["https://pub.example", {"issuer": "https://other.example"}]}),
	change(["controls", "trust"], {"statement_issuers": []}),
	gone(["controls", "trust"]),
	change(["bindings", "scopes"], {"orders.read": {"groups": ["corp/ops"]}}),
	change(["bindings", "scopes"], {"orders.read": null}),
	change(["bindings", "scopes"], {"other": {"groups": ["corp/ops"]}}),
	change(["bindings", "scopes"], ["orders.read"]),
	change(["bindings", "scopes"], false),
	gone(["bindings", "scopes"]),
	gone(["bindings", "registrations"]),
	change(["controls", "client"], {"allowed_auth_methods": ["client_secret_basic"]}),
	change(["controls", "client"], {"allowed_auth_methods": ["private_key_jwt"]}),
	change(["controls", "client"], []),
	change(["controls", "claims"], {"incomplete": "allow"}),
	gone(["controls", "claims"]),
	change(["controls", "environment"], {"allow_cidrs": ["198.51.100.0/24"]}),
	change(["controls", "environment"], {"deny_cidrs": ["198.51.100.0/24"]}),
	gone(["controls", "environment"]),
]

client_changes(evaluation) := [
	change(["input", evaluation, "client", "type"], "public"),
	change(["input", evaluation, "client", "type"], "other"),
	gone(["input", evaluation, "client", "type"]),
	change(["input", evaluation, "client", "enabled"], false),
	gone(["input", evaluation, "client", "enabled"]),
	gone(["input", evaluation, "client", "auth_method"]),
	change(["input", evaluation, "client", "id"], "other"),
	change(["input", evaluation, "client", "registration"], "DCR"),
	change(["input", evaluation, "client", "registration"], "STATEMENT"),
	change(["input", evaluation, "client", "software_id"], "soft"),
	change(["input", evaluation, "client", "statement"], {"iss": "https://pub.example", "verified": true, "claims": {"scope": "orders.write", "grants": ["client_credentials"]}}),
	change(["input", evaluation, "client", "statement"], false),
	change(["input", evaluation, "evaluation"], "other"),
]

issue_changes := [
	change(["input", "issue", "request", "grant_type"], "refresh_token"),
	change(["input", "issue", "request", "grant_type"], "authorization_code"),
	gone(["input", "issue", "request", "grant_type"]),
	change(["input", "issue", "resource"], {"types": ["urn:r:orders"]}),
	change(["input", "issue", "resource"], {"indicator": "https://api.example/orders"}),
	change(["input", "issue", "resource"], false),
	change(["input", "issue", "resource"], null),
	change(["input", "issue", "authorization_details"], []),
	change(["input", "issue", "authorization_details"], [{"type": "payment"}]),
	change(["input", "issue", "authorization_details"], false),
	change(["input", "issue", "subject_token"], {"type": "access_token", "scopes": ["orders.read"]}),
	change(["input", "issue", "subject_token"], {"type": "id_token", "claims": {"iss": "https://idp.example"}}),
	change(["input", "issue", "subject_token"], false),
	change(["input", "issue", "scopes", "requested"], []),
	change(["input", "issue", "scopes"], {"requested": [], "default": ["orders.write"]}),
	change(["input", "issue", "scopes", "requested"], ["orders.write", "orders.read"]),
	change(["input", "issue", "scopes", "requested"], ["orders.read", "orders.read"]),
	change(["input", "issue", "scopes", "requested"], ["orders.read", "admin"]),
	change(["input", "issue", "scopes", "requested"], ["admin"]),
	change(["input", "issue", "scopes", "requested"], "orders.read"),
	gone(["input", "issue", "scopes", "requested"]),
	gone(["input", "issue", "scopes", "default"]),
	change(["input", "issue", "scopes", "requested"], {"a": "orders.read"}),
	change(["input", "issue", "scopes", "ceiling"], ["orders.write"]),
	change(["input", "issue", "scopes", "ceiling"], ["orders.write", "orders.read"]),
	change(["input", "issue", "scopes", "ceiling"], []),
	change(["input", "issue", "scopes", "ceiling"], {"orders.read": "x"}),
	change(["input", "issue", "scopes", "ceiling"], "orders.read"),
	change(["input", "issue", "scopes", "ceiling"], false),
	change(["input", "issue", "scopes", "ceiling"], null),
	change(["input", "issue", "subject"], {"type": "user", "id": "a", "idp": "corp", "claims": {"groups": ["ops"]}}),
	change(["input", "issue", "subject"], {"type": "user", "id": "a", "idp": "corp", "claims": {"groups": ["dev"]}}),
	change(["input", "issue", "subject"], {"type": "user", "id": "a", "idp": "corp", "claims": {}, "claims_incomplete": ["groups"]}),
	change(["input", "issue", "subject"], {"type": "user", "id": "a", "idp": "corp", "claims": {}, "claims_incomplete": false}),
	gone(["input", "issue", "subject"]),
	change(["controls", "lifetime"], {"max_ttl": 300}),
	change(["controls", "lifetime"], {"default_ttl": 60, "jit_resource_types": ["urn:r:orders"]}),
	change(["controls", "lifetime"], null),
	change(["custom", "issue"], {"deny": {"frozen"}}),
	change(["custom", "issue"], {"deny": false}),
	change(["custom", "issue"], {"deny": set(), "block_scopes": {"orders.read"}}),
	change(["custom", "issue"], {"block_scopes": null}),
	change(["custom", "issue"], {"obligations": {"log": []}}),
	change(["custom", "issue"], {"extensions": {"x": null}}),
	change(["custom", "issue"], {"claims": {"c": false}}),
	change(["custom", "issue"], {"opaque": {"partner"}}),
	change(["custom", "issue"], {"opaque": "x"}),
	change(["custom", "issue"], {"extensions": "x"}),
	change(["custom", "issue"], {"other": 1}),
]

introspect_changes := [
	change(["input", "introspect", "issued", "subject_token"], {"type": "access_token", "claims": {"iss": "https://idp.example"}}),
	change(["input", "introspect", "issued", "subject_token"], {"type": "access_token"}),
	change(["input", "introspect", "issued", "subject_token"], false),
	gone(["input", "introspect", "token"]),
	change(["input", "introspect", "token"], false),
	change(["input", "introspect", "token", "jit_single_use"], true),
	gone(["input", "introspect", "token", "jit_single_use"]),
	change(["input", "introspect", "token", "kind"], "refresh_token"),
	change(["input", "introspect", "token", "kind"], null),
	gone(["input", "introspect", "token", "kind"]),
	change(["input", "introspect", "baseline", "scopes"], []),
	change(["input", "introspect", "baseline", "scopes"], ["orders.write", "admin"]),
	gone(["input", "introspect", "baseline", "scopes"]),
	change(["input", "introspect", "baseline", "resource"], null),
	change(["input", "introspect", "baseline", "resource"], "https://api.example/orders"),
	change(["input", "introspect", "baseline", "resource_types"], []),
	change(["input", "introspect", "baseline", "resource_types"], ["urn:r:orders"]),
	change(["input", "introspect", "baseline", "authorization_details"], [{"type": "payment"}]),
	change(["input", "introspect", "baseline", "obligations"], {"log": [1]}),
	change(["input", "introspect", "baseline", "extensions"], {"x": 1}),
	change(["input", "introspect", "baseline", "claims"], {"c": 1}),
	change(["input", "introspect", "issued", "grant_type"], "refresh_token"),
	change(["input", "introspect", "issued", "subject"], {"type": "user", "id": "a", "idp": "corp", "claims": {"groups": ["ops"]}}),
	change(["input", "introspect", "issued", "subject"], {"type": "user", "id": "a", "idp": "corp", "claims": {}, "claims_incomplete": ["*"]}),
	gone(["input", "introspect", "issued"]),
	change(["input", "introspect", "context"], {"delegation": {"resource_id": "r1"}}),
	change(["input", "introspect", "context"], {"delegation": false}),
	change(["input", "introspect", "delegation"], [{"id": "d1", "resource_id": "r1", "scopes": []}]),
	change(["input", "introspect", "caller", "client_id"], "nobody"),
	change(["input", "introspect", "caller", "client_id"], "crm"),
	change(["input", "introspect", "caller", "token"], {"scopes": ["introspection"]}),
	change(["input", "introspect", "caller", "token"], {"scopes": []}),
	change(["input", "introspect", "caller", "registration"], "STATEMENT"),
	change(["input", "introspect", "caller", "statement"], {"iss": "https://pub.example", "verified": true, "claims": {}}),
	gone(["input", "introspect", "caller"]),
	change(["input", "introspect", "caller"], {"service": true, "client_id": "crm"}),
	change(["input", "introspect", "caller", "service"], "true"),
	change(["input", "introspect", "context"], {}),
	change(["input", "introspect", "context"], {"scopes": []}),
	change(["input", "introspect", "context"], {"scopes": ["orders.write", "orders.write", "admin"]}),
	change(["input", "introspect", "context"], {"scopes": ["admin"]}),
	change(["input", "introspect", "context"], {"scopes": null}),
	change(["input", "introspect", "context"], {"resource": "https://api.example", "resource_type": "urn:r:stock"}),
	change(["controls", "introspection"], {}),
	change(["controls", "introspection"], {"require_audience": true, "require_context": true}),
	change(["controls", "introspection"], {"allow_callers": ["other"]}),
	change(["controls", "introspection"], {"require_audience": true, "narrow_to_context": true}),
	change(["custom", "introspect"], {"deny": {"frozen"}}),
	change(["custom", "introspect"], {"deny": null}),
	change(["custom", "introspect"], {"obligations": {"log": [2]}}),
	change(["custom", "introspect"], {"claims": {"d": 2}}),
	change(["custom", "introspect"], {"extensions": []}),
	change(["custom", "introspect"], {"other": 1}),
]

changes := {
	"issue": array.concat(array.concat(client_changes("issue"), data_changes), issue_changes),
	"introspect": array.concat(array.concat(client_changes("introspect"), data_changes), introspect_changes),
}

# Lists of changes, one list for each world: none, one, two, and some of all threes. They keep the order
# of the list, so that a change of a whole comes before a change of its part. A list with a change that
# cannot be made gives no world.
few(evaluation) := array.concat([[]], [[a] | some a in changes[evaluation]])

# One pair in data.shipped.stride is used, which run-tests sets, and fewer threes.
pairs(evaluation) := [[a, b] |
	all := changes[evaluation]
	some i, a in all
	some j, b in all
	i < j
	(i + (3 * j)) % shipped.stride == 0
]

threes(evaluation) := [[all[at[0]], all[at[1]], all[at[2]]] |
	all := changes[evaluation]
	some n in numbers.range(1, floor(3600 / shipped.stride))
	at := sort({(37 * n) % count(all), ((n * n) + n) % count(all), (((7 * n) * n) + 3) % count(all)})
	count(at) == 3
]

world(patches) := json.patch(plain, patches)

decide("issue", w) := r if {
	r := {"answer": data.svc.decision.issue.result, "general": data.svc.decision.issue.general} with input as w.input.issue
		with data.svc.entitlements.bindings as w.bindings
		with data.svc.registry.resource_types as w.registry
		with data.svc.operator.controls as w.controls
		with data.custom as w.custom
}

decide("introspect", w) := r if {
	r := {"answer": data.svc.decision.introspect.result, "general": data.svc.decision.introspect.general} with input as w.input.introspect
		with data.svc.entitlements.bindings as w.bindings
		with data.svc.registry.resource_types as w.registry
		with data.svc.operator.controls as w.controls
		with data.custom as w.custom
}

# The two agree, and neither gives an answer that no policy may give: more than was requested, a deny with
# a scope, or a deny without a reason.
sound(evaluation, w) if {
	r := decide(evaluation, w)
	given := fixture.wire(r.answer)
	given == fixture.wire(answer.of(r.general))
	narrow({s | some s in given.scopes}, asked(evaluation, w))
	denies_well(given, w.input[evaluation])
}

narrow(scopes, bound) if scopes - bound == set()

asked("issue", w) := {s | some list in w.input.issue.scopes; some s in list}

asked("introspect", w) := {s | some s in w.input.introspect.baseline.scopes}

denies_well(given, _) if given.allow

denies_well(given, _) if {
	given.scopes == []
	count(given.deny_reasons) > 0
}

# Worlds with an unknown token or without scopes are not compared.
denies_well(given, doc) if {
	not doc.token
	doc.evaluation != "issue"
	silent(given)
}

denies_well(given, doc) if {
	not asks_scopes(doc)
	given.scopes == []
}

asks_scopes(doc) if {
	doc.evaluation != "introspect"
	is_array(doc.scopes.requested)
}

asks_scopes(doc) if {
	doc.evaluation != "issue"
	is_array(doc.baseline.scopes)
}

silent(given) if object.keys(given) == {"allow", "scopes"}

unsound(evaluation, lists) := {list |
	some list in lists
	w := world(list)
	not sound(evaluation, w)
}

worlds(lists) := count([list | some list in lists; _ := world(list)])

test_the_plain_case_agrees_after_one_change if {
	every evaluation in ["issue", "introspect"] {
		worlds(few(evaluation)) == count(changes[evaluation]) + 1
		unsound(evaluation, few(evaluation)) == set()
	}
}

# Users: a code of a public client, a refresh of a confidential client under the ceiling of its grant, and
# the introspection of both tokens.
peopled(evaluation) := [array.concat(start, rest) |
	some [grant, type] in [["authorization_code", "public"], ["refresh_token", "confidential"]]
	start := [
		change(at(["grants"]), ["authorization_code", "refresh_token"]),
		change(["input", evaluation, "client", "type"], type),
		change(["input", "issue", "request", "grant_type"], grant),
		change(["input", "issue", "subject"], {"type": "user", "id": "a", "idp": "corp", "claims": {"groups": ["ops"]}}),
		change(["input", "issue", "scopes", "ceiling"], ["orders.read", "orders.write"]),
		change(["input", "introspect", "issued", "grant_type"], grant),
		change(["input", "introspect", "issued", "subject"], {"type": "user", "id": "a", "idp": "corp", "claims": {"groups": ["ops"]}}),
	]
	some rest in few(evaluation)
]

test_the_plain_case_agrees_on_users_after_one_change if {
	every evaluation in ["issue", "introspect"] {
		worlds(peopled(evaluation)) > 2 * count(changes[evaluation])
		unsound(evaluation, peopled(evaluation)) == set()
	}
}

# Otherwise the tests below could compare the general case with itself.
test_the_plain_case_is_taken_in_some_worlds_and_not_in_others if {
	every evaluation in ["issue", "introspect"] {
		taken := [list | some list in few(evaluation); is_plain(evaluation, world(list))]
		count(taken) > 10
		count(taken) < count(few(evaluation)) - 40
		allowed := [list | some list in few(evaluation); decide(evaluation, world(list)).answer.allow]
		count(allowed) > count(taken)
		count(allowed) < count(few(evaluation)) - 10
	}
}

test_the_plain_case_is_taken_for_users if {
	every evaluation in ["issue", "introspect"] {
		taken := [list | some list in peopled(evaluation); is_plain(evaluation, world(list))]
		count(taken) > 20
		count(taken) < count(peopled(evaluation)) - 80
	}
}

is_plain(evaluation, w) if {
	r := decide(evaluation, w) with data.svc.decision.issue.general as {"allow": "general", "scopes": []}
		with data.svc.decision.introspect.general as {"allow": "general", "scopes": []}
	r.answer.allow == true
}

test_the_plain_case_agrees_after_two_changes if {
	every evaluation in ["issue", "introspect"] {
		lists := pairs(evaluation)
		worlds(lists) > 40
		unsound(evaluation, lists) == set()
	}
}

test_the_plain_case_agrees_after_three_changes if {
	every evaluation in ["issue", "introspect"] {
		lists := threes(evaluation)
		worlds(lists) > 30
		unsound(evaluation, lists) == set()
	}
}
