package registry_test

import data.fixture

issue(binding, over) := issue_in(fixture.registry, binding, over)

issue_in(registry, binding, over) := r if {
	full := object.union({"grants": ["client_credentials"], "scopes": ["orders.read"]}, binding)
	r := fixture.issue(over) with data.svc.entitlements.bindings as fixture.bind("crm", full)
		with data.svc.registry.resource_types as registry
}

details(d) := {"authorization_details": [d], "scopes": {"requested": []}}

pay := {"type": "payment", "actions": ["initiate"], "amount": 50}

test_an_unknown_resource_type_is_refused_as_unknown if {
	r := issue({"resource_types": ["urn:r:none"]}, {"resource": {"types": ["urn:r:none"]}})
	"resource_type_unknown" in fixture.codes(r)
	not "resource_not_entitled" in fixture.codes(r)
	r.allow == false
}

test_entitled_details_are_granted_as_asked if {
	r := issue({"authorization_details": ["payment"]}, details(pay))
	r.allow
	r.authorization_details == [pay]
}

test_resource_types_entitle_details_too if issue({"resource_types": ["payment"]}, details(pay)).allow

test_details_without_entitlement_are_refused if {
	r := issue({}, details(pay))
	fixture.codes(r) == {"rar_not_entitled"}
	r.deny_reasons[0].category == "details"
}

test_details_of_an_unknown_type_are_refused if {
	fixture.codes(issue({"authorization_details": ["other"]}, details({"type": "other"}))) == {"rar_type_unknown"}
}

test_one_bad_entry_refuses_all if {
	r := issue({"authorization_details": ["payment"]}, {"authorization_details": [pay, {"type": "other"}]})
	fixture.refused(r, "rar_type_unknown")
}

# Values that the type does not list are refused (RFC 9396 5).
test_values_outside_the_registry_are_refused if {
	every d in [{"type": "payment", "actions": ["cancel"]}, {"type": "payment", "actions": ["initiate", "cancel"]}, {"type": "payment", "actions": "initiate"}, {"type": "payment", "actions": {"a": "cancel"}}] {
		fixture.refused(issue({"authorization_details": ["payment"]}, details(d)), "rar_value_unknown")
	}
	issue({"authorization_details": ["payment"]}, details({"type": "payment"})).allow
}

test_each_list_is_checked_against_its_own if {
	limits := {"actions": ["a"], "locations": ["https://l"], "datatypes": ["d"]}
	b := {"authorization_details": ["payment"]}
	issue_in(rar(limits), b, details(object.union({"type": "payment", "privileges": ["p"]}, limits))).allow
	every member in ["actions", "locations", "datatypes"] {
		r := issue_in(rar(limits), b, details({"type": "payment", member: ["x"]}))
		fixture.refused(r, "rar_value_unknown")
		r.deny_reasons[0].detail == {"entry": 0, "type": "payment", "member": member, "value": "x"}
		issue_in(rar(object.remove(limits, [member])), b, details({"type": "payment", member: ["x"]})).allow
	}
	fixture.refused(issue_in(rar({}), b, details({"type": "payment", "privileges": "p"})), "rar_value_unknown")
}

test_the_reasons_name_the_entry if {
	r := issue({"authorization_details": ["payment"]}, {"authorization_details": [pay, {"type": "other"}, {"type": "payment", "actions": ["cancel"]}]})
	[x.detail | some x in r.deny_reasons; x.category == "details"] == [
		{"entry": 1, "type": "other"},
		{"entry": 2, "type": "payment", "member": "actions", "value": "cancel"},
	]
}

# ---- resource types as types of details (specification 4.1)

orders := {"type": "urn:r:orders", "actions": ["orders.read"], "locations": ["https://orders.example/"]}

typed := {"resource_types": ["urn:r:orders"], "scopes": ["orders.read"]}

test_a_resource_type_is_a_details_type if {
	r := issue(typed, details(orders))
	r.allow
	r.authorization_details == [orders]
	issue(typed, details({"type": "urn:r:orders"})).allow
}

test_a_resource_type_needs_an_entitlement if {
	fixture.refused(issue({}, details(orders)), "rar_not_entitled")
	fixture.refused(issue({"resource_types": ["urn:r:stock"]}, details(orders)), "rar_not_entitled")
}

test_the_actions_of_a_resource_type_are_scopes_of_the_client if {
	write := object.union(orders, {"actions": ["orders.write"]})
	fixture.refused(issue(typed, details(write)), "rar_action_not_entitled")
	r := issue(typed, details(object.union(orders, {"actions": ["orders.read", "orders.write"]})))
	fixture.codes(r) == {"rar_action_not_entitled"}
	issue({"resource_types": ["urn:r:orders"], "scopes": ["orders.write"]}, details(write)).allow
	issue({"resource_types": [], "authorization_details": ["urn:r:orders"]}, details(write)).allow
	other := issue({"resource_types": ["urn:r:orders"], "scopes": ["stock.read"]}, details(object.union(orders, {"actions": ["stock.read"]})))
	fixture.refused(other, "rar_value_unknown")
}

test_a_scope_that_is_withheld_is_no_action if {
	grouped := object.union(fixture.bind("crm", object.union({"grants": ["client_credentials"]}, typed)), {"scopes": {"orders.read": {"groups": ["corp/ops"]}}})
	r := fixture.issue(details(orders)) with data.svc.entitlements.bindings as grouped
		with data.svc.registry.resource_types as fixture.registry
	fixture.refused(r, "rar_action_not_entitled")
	blocked := issue(typed, details(orders)) with data.custom.issue.block_scopes as {"orders.read"}
	fixture.refused(blocked, "rar_action_not_entitled")
}

test_the_location_of_a_resource_type_is_its_indicator if {
	every location in ["https://orders.example", "https://orders.example/"] {
		issue(typed, details(object.union(orders, {"locations": [location]}))).allow
	}
	every location in ["https://orders.example/x", "https://stock.example", ""] {
		fixture.refused(issue(typed, details(object.union(orders, {"locations": [location]}))), "rar_value_unknown")
	}
}

test_an_entry_of_its_own_describes_a_resource_type if {
	reg := object.union(fixture.registry, {"rar": {"types": {"urn:r:orders": {"actions": ["list"]}}}})
	issue_in(reg, typed, details({"type": "urn:r:orders", "actions": ["list"]})).allow
	fixture.refused(issue_in(reg, typed, details(orders)), "rar_value_unknown")
	every broken in [false, null, "x", []] {
		bad := object.union(fixture.registry, {"rar": {"types": {"urn:r:orders": broken}}})
		fixture.refused(issue_in(bad, typed, details(orders)), "rar_type_unknown")
	}
}

rar(type) := {"resource": {"types": {}}, "rar": {"types": {"payment": type}}}

test_details_must_match_the_types_schema if {
	reg := rar({"schema": {"type": "object", "properties": {"amount": {"type": "integer", "maximum": 50}}}})
	issue_in(reg, {"authorization_details": ["payment"]}, details(pay)).allow
	dear := object.union(pay, {"amount": 51})
	fixture.refused(issue_in(reg, {"authorization_details": ["payment"]}, details(dear)), "rar_value_unknown")
}

test_a_broken_row_denies if {
	every row in [[], "x", false, null, {}, {"rar": []}, {"rar": {"types": "x"}}, {"rar": {"types": {"payment": false}}}] {
		fixture.refused(issue_in(row, {"authorization_details": ["payment"]}, details(pay)), "rar_type_unknown")
	}
	every type in [{"actions": "initiate"}, {"actions": false}, {"schema": "x"}, {"schema": {"type": "nonsense"}}] {
		fixture.refused(issue_in(rar(type), {"authorization_details": ["payment"]}, details(pay)), "rar_value_unknown")
	}
	every row in [[], {}, {"resource": {"types": []}}, {"resource": {"types": {"urn:r:orders": false}}}] {
		r := issue_in(row, {"resource_types": ["urn:r:orders"]}, {"resource": {"types": ["urn:r:orders"]}})
		fixture.refused(r, "resource_type_unknown")
	}
}

# ---- introspection

shown(registry, binding, entries) := r if {
	b := fixture.bind("crm", object.union({"grants": ["client_credentials"], "scopes": ["orders.read", "orders.write"]}, binding))
	r := fixture.introspect({"baseline": {"authorization_details": entries}}) with data.svc.entitlements.bindings as b
		with data.svc.registry.resource_types as registry
}

test_introspection_checks_types_and_details_again if {
	typed_too := {"baseline": {"resource_types": ["urn:r:orders"], "authorization_details": [pay]}}
	b := fixture.bind("crm", {"grants": ["client_credentials"], "scopes": ["orders.read", "orders.write"], "resource_types": ["urn:r:orders"], "authorization_details": ["payment"]})
	ok := fixture.introspect(typed_too) with data.svc.entitlements.bindings as b
		with data.svc.registry.resource_types as fixture.registry
	ok.allow
	ok.authorization_details == [pay]
	gone := fixture.introspect(typed_too) with data.svc.entitlements.bindings as b
	fixture.codes(gone) == {"resource_type_unknown", "rar_type_unknown", "scope_not_entitled"}
}

paying := {"authorization_details": ["payment", "log"]}

two := {"resource": {"types": {}}, "rar": {"types": {"payment": {"actions": ["initiate"]}, "log": {}}}}

test_the_details_that_are_left_are_shown if {
	all := [pay, {"type": "log"}]
	shown(two, paying, all).authorization_details == all
	r := shown(two, {"authorization_details": ["log"]}, all)
	r.allow
	r.authorization_details == [{"type": "log"}]
	"rar_not_entitled" in fixture.codes(r)
	shown(rar({"actions": ["initiate"]}), paying, all).authorization_details == [pay]
}

test_a_value_that_is_gone_is_left_out if {
	wide := object.union(pay, {"actions": ["initiate", "cancel"]})
	r := shown(two, paying, [wide])
	r.authorization_details == [pay]
	"rar_value_unknown" in fixture.codes(r)
	narrow := object.union(pay, {"actions": ["cancel"]})
	fixture.refused(shown(two, paying, [narrow]), "rar_value_unknown")
	shown(two, paying, [narrow, {"type": "log"}]).authorization_details == [{"type": "log"}]
	shown(two, paying, [object.union(pay, {"actions": []})]).authorization_details == [object.union(pay, {"actions": []})]
}

test_a_token_whose_details_are_all_gone_is_denied if {
	r := shown(two, {}, [pay, {"type": "log"}])
	fixture.refused(r, "rar_not_entitled")
	r.scopes == []
	r.authorization_details == []
}

test_an_entry_that_breaks_the_schema_now_is_gone if {
	reg := object.union(two, {"rar": {"types": {"payment": {"schema": {"type": "object", "properties": {"amount": {"type": "integer", "maximum": 49}}}}}}})
	shown(reg, paying, [pay, {"type": "log"}]).authorization_details == [{"type": "log"}]
}

# A cut that the schema does not allow leaves nothing.
test_an_entry_that_breaks_the_schema_once_cut_is_gone if {
	both := {"properties": {"actions": {"minItems": 2}}}
	reg := object.union(two, {"rar": {"types": {"payment": {"actions": ["initiate"], "schema": both}}}})
	shown(reg, paying, [object.union(pay, {"actions": ["initiate", "cancel"]}), {"type": "log"}]).authorization_details == [{"type": "log"}]
}

test_an_action_of_a_resource_type_that_is_gone_is_left_out if {
	wide := object.union(orders, {"actions": ["orders.read", "orders.write"]})
	r := shown(fixture.registry, typed, [wide])
	r.authorization_details == [orders]
	"rar_action_not_entitled" in fixture.codes(r)
}

# ---- the context, if the operator lets it narrow

placed := [{"type": "log", "locations": ["https://a.example"]}, {"type": "log", "locations": ["https://b.example"]}, {"type": "log"}]

in_context(row, context, entries) := r if {
	b := fixture.bind("crm", {"grants": ["client_credentials"], "scopes": ["orders.read", "orders.write"], "authorization_details": ["log", "urn:r:orders"]})
	reg := object.union(fixture.registry, {"rar": {"types": {"log": {}}}})
	r := fixture.introspect({"baseline": {"authorization_details": entries}, "context": context}) with data.svc.entitlements.bindings as b
		with data.svc.registry.resource_types as reg
		with data.svc.operator.controls.introspection as row
}

narrows := {"narrow_to_context": true}

test_a_resource_in_the_context_shows_the_details_for_it if {
	in_context(narrows, {"resource": "https://a.example/"}, placed).authorization_details == [placed[0], placed[2]]
	in_context(narrows, {"resource": "https://c.example"}, placed).authorization_details == [placed[2]]
	every row in [{}, {"narrow_to_context": false}] {
		in_context(row, {"resource": "https://a.example"}, placed).authorization_details == placed
	}
}

test_a_type_in_the_context_shows_the_details_of_it if {
	entries := [orders, {"type": "log"}, {"type": "log", "locations": ["https://orders.example"]}]
	context := {"resource_type": "urn:r:orders"}
	in_context(narrows, context, entries).authorization_details == [orders, entries[2]]
	in_context({}, context, entries).authorization_details == entries
}

test_a_context_for_which_no_details_are_left_denies if {
	fixture.refused(in_context(narrows, {"resource": "https://c.example"}, [placed[0]]), "details_not_in_token")
	fixture.refused(in_context(narrows, {"resource_type": "urn:r:stock"}, placed), "details_not_in_token")
	fixture.refused(in_context(narrows, {"resource": 1}, [placed[0]]), "details_not_in_token")
	in_context({}, {"resource_type": "urn:r:stock"}, placed).allow
}
