# Checks that the catalogue, the rules, the rows and the schemas agree. run-tests makes data.shipped of
# them.
package catalogue_test

import data.fixture
import data.shipped

listed := {[c.id, r.code, r.category, r.message] | some c in shipped.catalogue; some r in c.reasons}

emitted := {[r.control, r.code, r.category, r.message] | some r in shipped.emitted; r != null}

test_every_reason_in_the_rules_is_in_the_catalogue if {
	count(emitted) > 0
	emitted - listed == set()
}

# The service itself gives the reasons of the control system (policy/engine/no_decision.c).
test_every_reason_in_the_catalogue_is_in_the_rules if {
	{r | some r in listed; r[0] != "system"} - emitted == set()
}

test_the_reasons_of_the_control_system_are_in_no_rule if {
	{r | some r in listed; r[0] == "system"} & emitted == set()
	{r[0] | some r in listed; r[2] == "system"} == {"system"}
	{r[2] | some r in listed; r[0] == "system"} == {"system"}
}

test_a_code_is_listed_once if {
	all_codes := [r.code | some c in shipped.catalogue; some r in c.reasons]
	count(all_codes) == count({code | some code in all_codes})
}

test_every_reason_has_a_known_category if {
	every r in listed {
		r[2] in data.svc.lib.hooks.categories
	}
}

# The characters of an error_description (RFC 6749 5.2).
test_every_message_may_be_an_error_description if {
	every r in listed {
		regex.match(`^[\x20-\x21\x23-\x5B\x5D-\x7E]+$`, r[3])
	}
}

test_every_row_of_a_control_is_shipped_and_has_a_schema if {
	keys := {row.key | some c in shipped.catalogue; some row in c.rows}
	count(keys) > 0
	every key in keys {
		is_object(shipped.rows[key])
		is_object(shipped.schemas[key])
	}
}

test_every_shipped_row_is_owned_once if {
	keys := [row.key | some c in shipped.catalogue; some row in c.rows]
	{key | some key in keys} == object.keys(shipped.rows)
	count(keys) == count(shipped.rows)
}

test_every_row_lists_its_writers if {
	every c in shipped.catalogue {
		every row in c.rows {
			count(row.writers) > 0
			every writer in row.writers {
				writer in {"admin", "system"}
			}
		}
	}
}

test_every_output_is_a_member_of_the_answer if {
	every c in shipped.catalogue {
		every output in c.outputs {
			output in answer_members
		}
	}
}

answer_members := union({
	object.keys(issued), object.keys(registered), object.keys(evaluated), object.keys(permitted),
	object.keys(refused), object.keys(listed_tools), object.keys(kept),
}) if {
	issued := data.svc.decision.issue.general with input as {}
	registered := data.svc.decision.register.general with input as {}
	evaluated := data.svc.controls.authzen.answer with input as {}
		with data.custom.authzen.context as {}
	permitted := data.svc.decision.gateway.result with input as fixture.gateway_input
		with data.custom.gateway.obligations as {"redact": []}
	kept := data.svc.decision.gateway.result with input as fixture.gateway_input
		with data.custom.gateway.cache_seconds as 1
	refused := fixture.gateway({"token": {"scopes": []}})
	listed_tools := data.svc.decision.gateway_tools.result with input as fixture.gateway_tools_input([], [])
}

test_every_row_has_a_schema_and_every_schema_a_row if {
	object.keys(shipped.rows) == object.keys(shipped.schemas)
}

test_every_schema_names_the_control_that_lists_its_row if {
	every c in shipped.catalogue {
		every row in c.rows {
			shipped.schemas[row.key]["x-control"] == c.id
		}
	}
}

test_the_configurable_controls_are_those_with_rows if {
	{c.id | some c in shipped.catalogue; c.configurable} == {c.id | some c in shipped.catalogue; some _ in c.rows}
}

test_every_shipped_row_matches_its_schema if {
	every key, row in shipped.rows {
		json.match_schema(row, shipped.schemas[key])[0]
	}
}

test_every_entrypoint_exists if {
	every c in shipped.catalogue {
		every e in c.entrypoints {
			is_boolean(data.svc.decision[e].result.allow) with input as {}
		}
	}
}

# ---- schemas: their keywords, and the rows that they refuse

keywords := {
	"$schema", "title", "description", "default", "x-control", "x-key", "type", "properties", "required",
	"additionalProperties", "items", "enum", "pattern", "minimum", "maximum", "minItems",
	"maxItems", "minLength", "maxLength", "uniqueItems", "format", "anyOf",
}

# All schemas and the schemas in them: the members of `properties`, `items`, `additionalProperties` and
# `anyOf`, but not the value of a `default`.
subschemas := array.concat(
	[schema | some schema in fixture.schemas],
	[schema |
		walk(fixture.schemas, [path, schema])
		is_object(schema)
		last := count(path) - 1
		last > 0
		holds_schema(path[last - 1], path[last])
	],
)

holds_schema(_, "items")

holds_schema(_, "additionalProperties")

holds_schema("properties", _)

holds_schema("anyOf", _)

test_every_reference_is_replaced_by_its_definition if {
	count([path | walk(shipped.schemas, [path, _]); path[count(path) - 1] == "$ref"]) > 0
	count([path | walk(fixture.schemas, [path, _]); path[count(path) - 1] == "$ref"]) == 0
}

test_schemas_use_only_the_keywords_that_the_service_checks if {
	count(subschemas) > 50
	every schema in subschemas {
		object.keys(schema) - keywords == set()
	}
}

# The settings: each place of a row that has a value, as GET /admin/api/controls/settings lists them.
# Items of arrays are not settings, but their members are.
settings := [{"schema": schema, "required": is_required(path)} |
	walk(fixture.schemas, [path, schema])
	last := count(path) - 1
	last > 0
	names_setting(path[last - 1], path[last])
	is_object(schema)
]

names_setting("properties", _)

names_setting(_, "additionalProperties")

default is_required(_) := false

is_required(path) if {
	last := count(path) - 1
	path[last] in object.get(fixture.schemas, array.concat(array.slice(path, 0, last - 1), ["required"]), [])
}

test_every_setting_has_a_type_and_a_description if {
	count(settings) > 60
	every setting in settings {
		types(setting.schema) - {"object", "array", "string", "integer", "boolean"} == set()
		regex.match(`^[A-Za-z].*[.]`, setting.schema.description)
	}
}

types(schema) := {schema.type} if is_string(schema.type)

types(schema) := {type | some type in schema.type} if is_array(schema.type)

# A setting has a default, or its description explains its absence.
test_every_setting_has_a_default_or_explains_its_absence if {
	every setting in settings {
		absence_told(setting)
	}
}

absence_told(setting) if setting.required

absence_told(setting) if _ := setting.schema["default"]

absence_told(setting) if contains(setting.schema.description, "Absent: ")

test_every_default_may_be_written if {
	every setting in settings {
		writable(setting.schema)
	}
}

writable(schema) if not "default" in object.keys(schema)

# json.match_schema does not accept a bare number or boolean.
writable(schema) if json.match_schema({"default": schema["default"]}, {"properties": {"default": schema}})[0]

# The operator chooses the keys of a map; `x-key` names them.
test_every_map_names_its_keys if {
	every schema in subschemas {
		keyed(schema)
	}
}

keyed(schema) if not is_object(object.get(schema, "additionalProperties", false))

keyed(schema) if regex.match(`^[a-z][a-z_]*$`, schema["x-key"])

test_objects_are_closed if {
	every schema in subschemas {
		closed(schema)
	}
}

closed(schema) if object.get(schema, "type", "") != "object"

closed(schema) if schema.additionalProperties == false

closed(schema) if is_object(schema.additionalProperties)

# Free in form, explicitly.
closed(schema) if schema.additionalProperties == true

refused_rows := [
	["svc.operator.controls.client", {"allowed_auth_methods": []}],
	["svc.operator.controls.client", {"allowed_auth_methods": ["magic"]}],
	["svc.operator.controls.client", []],
	["svc.operator.controls.authentication", {"by_resource_type": {"urn:r:orders": {"acr": "x"}}}],
	["svc.operator.controls.authentication", {"by_resource_type": {"urn:r:orders": {"max_age": -1}}}],
	["svc.operator.controls.claims", {"incomplete": "skip"}],
	["svc.operator.controls.claims", {"except": "app"}],
	["svc.operator.controls.environment", {"allow_cidr": []}],
	["svc.operator.controls.environment", {"hours": {"tz": "UTC", "from": "08:00"}}],
	["svc.operator.controls.lifetime", {"max_ttl": "300"}],
	["svc.operator.controls.lifetime", {"default_ttl": -1}],
	["svc.operator.controls.introspection", {"require_audience": "yes"}],
	["svc.operator.controls.authzen", {"default": "allow"}],
	["svc.operator.controls.authzen", {"roles": {"editor": ["todo"]}}],
	["svc.operator.controls.authzen", {"roles": {"editor": {"todo": "write"}}}],
	["svc.operator.controls.authzen", {"subjects": {"user": {"alice": ["editor"]}}}],
	["svc.operator.controls.authzen", {"subjects": {"user": {"alice": {"roles": ["a", "a"]}}}}],
	["svc.operator.controls.gateway", {"truncated": true}],
	["svc.operator.controls.gateway", {"cedar_unmapped": "skip"}],
	["svc.operator.controls.gateway", {"unmapped": "allow"}],
	["svc.operator.controls.audit", {"argument_mode": "all"}],
	["svc.operator.controls.audit", {"arguments": "full"}],
	["svc.entitlements.bindings", {"clients": {"a": {"gateway_scopes": ["github:write"]}}}],
	["svc.entitlements.bindings", {"clients": {"a": {"gateway_scopes": ["*write"]}}}],
	["svc.entitlements.bindings", {"clients": {"a": {"gateway_scopes": "*"}}}],
	["svc.operator.controls.consent", {"mode": "sometimes"}],
	["svc.operator.controls.consent", {}],
	["svc.operator.controls.console", {"people": [{"claim": "groups", "values": ["staff"], "role": "auditor"}]}],
	["svc.operator.controls.console", {"people": [{"idp": "corp", "values": ["staff"], "role": "auditor"}]}],
	["svc.operator.controls.console", {"people": [{"idp": "corp", "claim": "groups", "role": "auditor"}]}],
	["svc.operator.controls.console", {"people": [{"idp": "corp", "claim": "groups", "values": [], "role": "auditor"}]}],
	["svc.operator.controls.console", {"people": [{"idp": "corp", "claim": "groups", "values": ["staff"]}]}],
	["svc.operator.controls.console", {"people": [{"idp": "corp", "claim": "groups", "values": ["staff"], "role": "root"}]}],
	["svc.operator.controls.console", {"role": "auditor"}],
	["svc.operator.controls.changes", {"guards": [{"limits": {}}]}],
	["svc.operator.controls.changes", {"guards": [{"name": "a"}]}],
	["svc.operator.controls.changes", {"guards": [{"name": "", "limits": {}}]}],
	["svc.operator.controls.changes", {"guards": [{"name": "a", "limits": {}} | some _ in numbers.range(1, 21)]}],
	["svc.operator.controls.changes", {"guards": [{"name": "a", "limits": {"newlyDenied": -1}}]}],
	["svc.operator.controls.changes", {"guards": [{"name": "a", "limits": {"newlyDenied": 0.5}}]}],
	["svc.operator.controls.changes", {"guards": [{"name": "a", "limits": {"newlyDenied": "101%"}}]}],
	["svc.operator.controls.changes", {"guards": [{"name": "a", "limits": {"newlyDenied": "5"}}]}],
	["svc.operator.controls.changes", {"guards": [{"name": "a", "limits": {"same": 1}}]}],
	["svc.operator.controls.changes", {"guards": [{"name": "a", "limits": {}, "period": "31d"}]}],
	["svc.operator.controls.changes", {"guards": [{"name": "a", "limits": {}, "period": "721h"}]}],
	["svc.operator.controls.changes", {"guards": [{"name": "a", "limits": {}, "period": "0d"}]}],
	["svc.operator.controls.changes", {"guards": [{"name": "a", "limits": {}, "period": "2026-01-01T00:00:00Z"}]}],
	["svc.operator.controls.changes", {"guards": [{"name": "a", "limits": {}, "when": {"scopes": []}}]}],
	["svc.operator.controls.changes", {"guards": [{"name": "a", "limits": {}, "when": {"scope": ["a"]}}]}],
	["svc.operator.controls.changes", {"guards": [{"name": "a", "limits": {}, "least": -1}]}],
	["svc.operator.controls.changes", {"guards": [{"name": "a", "limits": {}, "notKnown": "allow"}]}],
	["svc.operator.controls.changes", {"overrides": ["ci"]}],
	["svc.operator.controls.changes", {"overrides": ["person:"]}],
	["svc.operator.controls.changes", {"limits": {"newlyDenied": 0}}],
	["svc.registry.scopes", {"scopes": {"a": {"en": {}}}}],
	["svc.registry.scopes", {"scopes": {"a": {"en": "Read"}}}],
	["svc.registry.scopes", {"scopes": {"a": {"en": {"title": ""}}}}],
	["svc.registry.scopes", {"scopes": {"a": {"en": {"title": "Read", "name": "x"}}}}],
	["svc.registry.scopes", {"a": {"en": {"title": "Read"}}}],
	["svc.registry.jwt_resources", {"https://api.example": {"alg": "HS256"}}],
	["svc.registry.jwt_resources", {"https://api.example": {"ttl": 9}}],
	["svc.registry.jwt_resources", {"https://api.example": {"ttl": 601}}],
	["svc.registry.jwt_resources", {"https://api.example": {"claims": ["email"]}}],
	["svc.registry.jwt_resources", {"https://api.example": {"clients": "crm"}}],
	["svc.registry.jwt_resources", {"https://api.example": true}],
	["svc.operator.controls.exchange", {"max_depth": 9}],
	["svc.operator.controls.exchange", {"allowed": [{"actor": "a"}]}],
	["svc.operator.controls.trust", {"trusted_issuers": [1]}],
	["svc.operator.controls.trust", {"trusted_issuers": [{"jwks_uri": "https://a.example/jwks"}]}],
	["svc.operator.controls.public_client_policy", {"enabled": true}],
	["svc.operator.controls.public_client_policy", {"enabled": true, "dcr": {"allowed_grant_types": ["password"]}}],
	["svc.registry.resource_types", {"resource": {"types": {}}}],
	["svc.registry.resource_types", {"resource": {"types": {"urn:r": {"scopes": [], "default_ttl": 0}}}, "rar": {"types": {}}}],
	["svc.entitlements.bindings", {"clients": {"a": {"grant": ["client_credentials"]}}}],
	["svc.entitlements.bindings", {"clients": {"a": {"grants": ["implicit"]}}}],
	["svc.entitlements.bindings", {"clients": {"a": {"scopes": ["x", "x"]}}}],
	["svc.entitlements.bindings", {"clients": {"a": {"ttl": 0}}}],
	["svc.entitlements.bindings", {"registrations": {"OTHER": {}}}],
	["svc.entitlements.bindings", {"scopes": {"x": {}}}],
]

test_schemas_refuse_broken_rows if {
	every pair in refused_rows {
		json.match_schema(pair[1], shipped.schemas[pair[0]])[0] == false
	}
}

test_schemas_accept_good_rows if {
	every pair in [
		["svc.operator.controls.trust", {"trusted_issuers": ["https://idp.example", {"issuer": "https://b.example", "audiences": ["x"]}]}],
		["svc.operator.controls.environment", {"allow_cidrs": ["10.0.0.0/8"], "hours": {"tz": "Europe/Berlin", "from": "08:00", "to": "18:00"}}],
		["svc.entitlements.bindings", {"clients": {"demo": {"grants": ["client_credentials"], "scopes": ["orders.read"], "endpoints": ["introspect"]}}}],
		["svc.operator.controls.authzen", {"roles": {"editor": {"todo": ["write"]}}, "subjects": {"user": {"alice": {"roles": ["editor"]}}}}],
		["svc.registry.resource_types", fixture.registry],
		["svc.entitlements.bindings", fixture.wide],
		["svc.entitlements.bindings", {"registrations": {"CIMD": {"gateway_scopes": ["*", "github:*"]}}}],
		["svc.operator.controls.audit", {"argument_mode": "full"}],
		["svc.operator.controls.changes", {"guards": [{"name": "a", "limits": {}} | some _ in numbers.range(1, 20)]}],
		["svc.operator.controls.gateway", {"truncated": "allow", "cedar_unmapped": "allow"}],
		["svc.registry.scopes", {}],
		["svc.registry.scopes", {"scopes": {"a": {"en": {"title": "Read", "description": "All of it."}, "de": {"title": "Lesen"}}}}],
		["svc.operator.controls.console", {}],
		["svc.operator.controls.console", {"people": [{"idp": "corp", "claim": "groups", "values": ["staff"], "role": "owner"}]}],
	] {
		json.match_schema(pair[1], shipped.schemas[pair[0]])[0]
	}
}

test_guards_have_limits_of_each_class_as_numbers_and_percentages if {
	every limit in ["newlyDenied", "newlyAllowed", "narrowed", "widened", "other", "failing", "notKnown"] {
		every max in [0, "0%", "0.5%", "100%"] {
			every period in ["1m", "9999m", "720h", "1d", "30d"] {
				row := {"guards": [{"name": "a", "limits": {limit: max}, "period": period}], "overrides": []}
				json.match_schema(row, shipped.schemas["svc.operator.controls.changes"])[0]
			}
		}
	}
}
