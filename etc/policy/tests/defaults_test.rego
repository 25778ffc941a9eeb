# Checks each `default` of the schemas against the rules: an absent member has the effect of its default,
# and in some case another value changes the decision, so that a wrong default is found.
package defaults_test

import data.fixture
import data.shipped

# ---- the settings that have a default, named as GET /admin/api/controls/settings names them

defaults := {setting: schema["default"] |
	some key, top in fixture.schemas
	walk(top, [path, schema])
	last := count(path) - 1
	last > 0
	names_setting(path[last - 1], path[last])
	"default" in object.keys(schema)
	setting := concat("", array.concat([key, "#"], [part |
		some i, _ in path
		part := token(top, path, i)
	]))
}

names_setting("properties", _)

names_setting(_, "additionalProperties")

token(_, path, i) := concat("", ["/", path[i]]) if {
	path[i - 1] == "properties"
}

token(top, path, i) := concat("", ["/{", object.get(top, array.concat(array.slice(path, 0, i), ["x-key"]), "?"), "}"]) if {
	path[i] == "additionalProperties"
}

token(_, path, i) := "/{index}" if path[i] == "items"

# ---- cases: the place of a setting in a row, and another value

member(key, path, keyed, other, evaluation, over) := {
	"setting": concat("", array.concat([key, "#"], [concat("", ["/", part]) | some part in keyed])),
	"at": array.concat([key], path), "other": other, "evaluation": evaluation, "over": over,
}

control(name) := concat("", ["svc.operator.controls.", name])

plain(name, path, other, evaluation, over) := member(control(name), path, path, other, evaluation, over)

orders := {"resource": {"types": ["urn:r:orders"]}}

exchange := {
	"actor": {"type": "client", "id": "crm"}, "act": {"sub": "crm", "act": {"sub": "web"}},
	"subject_token": {"type": "access_token", "client_id": "web", "scopes": ["orders.read"]},
}

of_id_token := object.union(exchange, {"subject_token": {"claims": {"iss": "https://idp.example"}}})

incomplete_user := {"type": "user", "id": "ann", "claims": {}, "claims_incomplete": ["groups"]}

control_cases := [
	plain("authentication", ["by_resource_type"], {"urn:r:orders": {"acr": ["high"]}}, "issue", orders),
	member(
		control("authentication"), ["by_resource_type", "urn:r:orders"],
		["by_resource_type", "{resource_type}"], {"acr": ["high"]}, "issue", orders,
	),
	member(
		control("authentication"), ["by_resource_type", "urn:r:orders", "acr"],
		["by_resource_type", "{resource_type}", "acr"], ["high"], "issue", orders,
	),
	plain("authentication", ["dpop_required_resource_types"], ["urn:r:orders"], "issue", orders),
	plain("exchange", ["allowed"], [{"actor": "other", "resource_types": [], "scopes": []}], "issue", exchange),
	plain("exchange", ["max_depth"], 1, "issue", exchange),
	plain("exchange", ["require_may_act"], true, "issue", exchange),
	plain("trust", ["trusted_issuers"], ["https://idp.example"], "issue", of_id_token),
	plain("claims", ["incomplete"], "allow", "issue", {"subject": incomplete_user}),
	plain("claims", ["except"], ["crm"], "introspect", {"issued": {"subject": incomplete_user}}),
	plain("environment", ["allow_cidrs"], ["198.51.100.0/24"], "issue", {}),
	plain("environment", ["deny_cidrs"], ["192.0.2.0/24"], "introspect", {}),
	plain("lifetime", ["by_resource_type"], {"urn:r:orders": 30}, "issue", orders),
	plain("lifetime", ["jit_resource_types"], ["urn:r:orders"], "issue", orders),
	plain("authzen", ["roles"], {"editor": {"todo": ["write"]}}, "authzen", {}),
	plain("authzen", ["subjects"], {"user": {"alice": {"roles": ["editor"]}}}, "authzen", {}),
	member(
		control("authzen"), ["subjects", "user", "alice", "roles"],
		["subjects", "{subject_type}", "{subject_id}", "roles"], ["editor"], "authzen", {},
	),
	object.union(plain("authzen", ["cedar_mode"], "off", "authzen", {}), {"policies": {"forbids": {"p"}, "errors": set()}}),
	object.union(plain("authzen", ["cedar_errors"], "deny", "authzen", {}), {"policies": {"forbids": set(), "errors": {"p"}}}),
	plain("audit", ["argument_mode"], "full", "gateway", {}),
	plain("gateway", ["truncated"], "allow", "gateway", {"truncated": true}),
	object.union(
		plain("gateway", ["cedar_unmapped"], "allow", "gateway", {"arguments": {"a": null}}),
		{"policies": {"forbids": set(), "errors": set()}},
	),
	plain("introspection", ["require_audience"], false, "introspect", {"baseline": {"resource": "https://api.example"}}),
	plain("introspection", ["require_context"], true, "introspect", {}),
	plain("introspection", ["allow_callers"], ["other"], "introspect", {}),
	plain("introspection", ["narrow_to_context"], true, "introspect", {"context": {"resource_type": "urn:r:stock"}}),
]

registration(members) := {"registration": members}

loopback := registration({"redirect_uris": [{"uri": "http://127.0.0.1/cb", "scheme": "http", "loopback": true}]})

dotless := registration({"redirect_uris": [{"uri": "cursor://x/cb", "scheme": "cursor", "loopback": false}]})

# A case of a member of the registration row; its name is its path.
registering(path, other, over) := plain("public_client_policy", path, other, "register", over)

registration_cases := [
	registering(["enabled"], false, {}),
	registering(["dcr", "allowed_grant_types"], ["authorization_code"], {}),
	registering(["dcr", "allowed_auth_methods"], ["none"], {}),
	registering(["dcr", "require_statement"], true, {}),
	object.union(registering(["dcr", "default_scopes"], ["orders.read"], {}), {"without": ["registration/scope"]}),
	registering(["redirect", "allow_http_loopback"], false, loopback),
	registering(["redirect", "dotless_schemes"], [], dotless),
	plain("trust", ["statement_issuers"], ["https://statements.example"], "register", fixture.stated({})),
]

payment := {"authorization_details": [{"type": "payment", "actions": ["initiate"]}]}

registry_cases := [
	member(registry_key, ["resource", "types"], ["resource", "types"], fixture.registry.resource.types, "issue", orders),
	member(registry_key, ["rar", "types"], ["rar", "types"], fixture.registry.rar.types, "issue", payment),
]

registry_key := "svc.registry.resource_types"

jwt_key := "svc.registry.jwt_resources"

jwt_resource := "https://api.example"

jwt(name, other) := member(
	jwt_key, [jwt_resource, name], ["{resource}", name], other, "issue",
	{"resource": {"indicator": jwt_resource}},
)

jwt_cases := [jwt("alg", "RS256"), jwt("ttl", 30), jwt("claims", ["acr"])]

bindings_key := "svc.entitlements.bindings"

own := {"grants": ["client_credentials"], "scopes": ["orders.read"], "ttl": 60}

# A statement of the service itself, whose issuer needs no row.
own_statement := {"iss": "https://as.example", "verified": true, "claims": {}}

stated := {"client": {"software_id": "soft", "statement": own_statement}}

row_cases := [
	member(bindings_key, ["clients"], ["clients"], {"crm": own}, "issue", {}),
	member(bindings_key, ["registrations"], ["registrations"], {"ADMIN": own}, "issue", {}),
	member(bindings_key, ["software"], ["software"], {"soft": own}, "issue", stated),
	member(bindings_key, ["scopes"], ["scopes"], {"orders.read": {"groups": ["idp/ops"]}}, "issue", {}),
]

# The places of a binding: its path, its name, and the condition that makes it apply to the client.
holders := array.concat(
	[
		{"at": ["clients", "crm"], "keyed": ["clients", "{client_id}"], "registration": "ADMIN"},
		{"at": ["software", "soft"], "keyed": ["software", "{software_id}"], "registration": "ADMIN"},
	],
	[{"at": ["registrations", kind], "keyed": ["registrations", kind], "registration": kind} |
		some kind in ["ADMIN", "DCR", "STATEMENT", "CIMD"]
	],
)

binding_members := [
	["grants", ["client_credentials"], "issue", {}],
	["scopes", ["orders.read"], "issue", {}],
	["gateway_scopes", ["github:*"], "issue", {
		"resource": {"indicator": "https://as.example/gateway/x"},
		"scopes": {"requested": ["github:read"], "default": []},
	}],
	["resource_types", ["urn:r:stock"], "issue", {}],
	["resources", ["https://api.example"], "issue", {"resource": {"indicator": "https://api.example"}}],
	["authorization_details", ["payment"], "issue", payment],
	["endpoints", ["introspect"], "introspect", {}],
	["jit_single_use", true, "issue", {}],
]

binding_cases := [object.union(made, {"holder": holder.at}) |
	some holder in holders
	some m in binding_members
	who := {"registration": holder.registration, "software_id": "soft", "statement": own_statement}
	made := member(
		bindings_key, array.concat(holder.at, [m[0]]), array.concat(holder.keyed, [m[0]]), m[1], m[2],
		object.union(m[3], {"client": who, "caller": object.union(who, {"client_id": "crm"})}),
	)
]

cases := array.concat(
	array.concat(control_cases, array.concat(registry_cases, jwt_cases)),
	array.concat(registration_cases, array.concat(row_cases, binding_cases)),
)

# ---- the data of a case: rows with nothing but what the case needs

bound := {
	"grants": ["client_credentials"], "scopes": ["orders.read", "orders.write"],
	"resource_types": ["urn:r:orders"], "resources": ["https://api.example"],
}

empty_bindings := {"clients": {}, "registrations": {}, "software": {}, "scopes": {}}

rows(c) := with_bindings(json.patch(empty_bindings, [{
	"op": "add", "path": c.holder,
	"value": {"grants": ["client_credentials"], "scopes": ["orders.read"]},
}])) if {
	c.holder
}

else := with_bindings(empty_bindings) if {
	c.at[0] == bindings_key
	c.at[1] != "scopes"
} else := no_rows

with_bindings(value) := json.patch(no_rows, [{"op": "replace", "path": [bindings_key], "value": value}])

no_rows := {
	control("audit"): {},
	control("authentication"): {"by_resource_type": {"urn:r:orders": {}}},
	control("authzen"): fixture.roles,
	control("claims"): {},
	control("client"): {},
	control("environment"): {},
	control("exchange"): {},
	control("gateway"): {},
	control("introspection"): {},
	control("lifetime"): {},
	control("public_client_policy"): {"dcr": {}, "redirect": {}},
	control("trust"): {},
	registry_key: fixture.registry,
	jwt_key: {jwt_resource: {}},
	bindings_key: fixture.bind("crm", bound),
}

added(c, value) := json.patch(rows(c), [{"op": "add", "path": c.at, "value": value}])

removed(c) := json.patch(added(c, null), [{"op": "remove", "path": c.at}])

decide(c, data_rows) := answer if {
	answer := judged(c) with data.svc.operator.controls.authentication as data_rows[control("authentication")]
		with data.svc.operator.controls.audit as data_rows[control("audit")]
		with data.svc.operator.controls.authzen as data_rows[control("authzen")]
		with data.svc.operator.controls.claims as data_rows[control("claims")]
		with data.svc.operator.controls.client as data_rows[control("client")]
		with data.svc.operator.controls.environment as data_rows[control("environment")]
		with data.svc.operator.controls.exchange as data_rows[control("exchange")]
		with data.svc.operator.controls.gateway as data_rows[control("gateway")]
		with data.svc.operator.controls.introspection as data_rows[control("introspection")]
		with data.svc.operator.controls.lifetime as data_rows[control("lifetime")]
		with data.svc.operator.controls.public_client_policy as data_rows[control("public_client_policy")]
		with data.svc.operator.controls.trust as data_rows[control("trust")]
		with data.svc.registry.resource_types as data_rows[registry_key]
		with data.svc.registry.jwt_resources as data_rows[jwt_key]
		with data.svc.entitlements.bindings as data_rows[bindings_key]
		with data.svc.cedar.policies as policies(c)
}

# A file of Cedar rules in which the policy p forbids.
policies(c) := {"r1": {"path": "p.cedar", "forbidding": {"p"}, "result": object.union({"permits": set()}, c.policies)}} if {
	c.policies
} else := {}

judged(c) := fixture.issue(c.over) if c.evaluation == "issue"

judged(c) := fixture.introspect(c.over) if c.evaluation == "introspect"

judged(c) := fixture.gateway(c.over) if c.evaluation == "gateway"

judged(c) := fixture.evaluate(c.over) if c.evaluation == "authzen"

judged(c) := fixture.register_without(c.over, object.get(c, "without", [])) if c.evaluation == "register"

# ---- the tests

test_there_is_a_case_for_every_default_of_a_row_that_is_read if {
	tried := {c.setting | some c in cases}
	tried == {setting | some setting, _ in defaults; not of_unread_row(setting)}
}

of_unread_row(setting) if {
	some c in shipped.catalogue
	c.entrypoints == []
	some row in c.rows
	startswith(setting, concat("", [row.key, "#"]))
}

test_an_absent_setting_has_the_effect_of_its_default if {
	untrue := {c.setting |
		some c in cases
		not decide(c, removed(c)) == decide(c, added(c, defaults[c.setting]))
	}
	untrue == set()
}

test_another_value_changes_the_decision if {
	unseen := {c.setting |
		some c in cases
		not decide(c, added(c, c.other)) != decide(c, added(c, defaults[c.setting]))
	}
	unseen == set()
}

# No rule reads these rows yet, so their defaults must be the shipped values.
test_a_default_of_a_row_that_is_not_read_is_the_shipped_value if {
	every setting, value in defaults {
		is_shipped(setting, value)
	}
}

is_shipped(setting, _) if not of_unread_row(setting)

is_shipped(setting, value) if {
	parts := split(setting, "#/")
	object.get(shipped.rows[parts[0]], split(parts[1], "/"), value) == value
}
