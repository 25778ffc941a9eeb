package environment_test

import data.fixture

issue(row) := r if {
	r := fixture.issue({}) with data.svc.entitlements.bindings as fixture.bindings
		with data.svc.operator.controls.environment as row
}

issue_without(row, path) := r if {
	r := fixture.issue_without({}, [path]) with data.svc.entitlements.bindings as fixture.bindings
		with data.svc.operator.controls.environment as row
}

introspect(row) := r if {
	r := fixture.introspect({}) with data.svc.entitlements.bindings as fixture.bindings
		with data.svc.operator.controls.environment as row
}

test_empty_lists_allow_every_address if {
	issue({"allow_cidrs": [], "deny_cidrs": []}).allow
	issue_without({"allow_cidrs": [], "deny_cidrs": []}, "environment/ip").allow
}

test_an_address_inside_is_allowed if issue({"allow_cidrs": ["10.0.0.0/8", "192.0.2.0/24"]}).allow

test_an_address_outside_is_refused if fixture.refused(issue({"allow_cidrs": ["10.0.0.0/8"]}), "ip_not_allowed")

test_a_denied_range_is_refused if {
	fixture.refused(issue({"deny_cidrs": ["10.0.0.0/8", "192.0.2.0/24"]}), "ip_not_allowed")
	fixture.refused(issue({"allow_cidrs": ["192.0.2.0/24"], "deny_cidrs": ["192.0.2.7/32"]}), "ip_not_allowed")
}

test_an_address_outside_the_denied_ranges_is_allowed if issue({"deny_cidrs": ["10.0.0.0/8", "2001:db8::/32"]}).allow

test_an_absent_address_denies if {
	fixture.refused(issue_without({"allow_cidrs": ["0.0.0.0/0"]}, "environment/ip"), "ip_not_allowed")
	fixture.refused(issue_without({"deny_cidrs": ["10.0.0.0/8"]}, "environment/ip"), "ip_not_allowed")
}

# A token family has many addresses; evaluation 1 checks the address of each refresh.
test_introspection_of_a_refresh_token_ignores_addresses if {
	own := object.union(fixture.bindings.clients.crm, {"endpoints": ["introspect"]})
	refresh := {"token": {"kind": "refresh_token"}, "caller": {"client_id": "crm"}}
	every row in [{"allow_cidrs": ["10.0.0.0/8"]}, {"deny_cidrs": ["192.0.2.0/24"]}] {
		r := fixture.introspect_without(refresh, ["issued/environment"]) with data.svc.entitlements.bindings as fixture.bind("crm", own)
			with data.svc.operator.controls.environment as row
		r.allow
		fixture.refused(introspect(row), "ip_not_allowed")
		fixture.refused(issue(row), "ip_not_allowed")
		posed := fixture.issue({"token": {"kind": "refresh_token"}}) with data.svc.entitlements.bindings as fixture.bindings
			with data.svc.operator.controls.environment as row
		fixture.refused(posed, "ip_not_allowed")
	}
	hours := fixture.introspect(refresh) with data.svc.entitlements.bindings as fixture.bind("crm", own)
		with data.svc.operator.controls.environment as {"hours": {"tz": "UTC", "from": "12:00", "to": "13:00"}}
	fixture.refused(hours, "outside_hours")
}

# A rule that cannot evaluate its check denies.
test_a_broken_range_denies if {
	every row in [
		{"allow_cidrs": ["192.0.2.0/33"]},
		{"deny_cidrs": ["10.0.0.0/33"]},
		{"deny_cidrs": ["10.0.0.0/8", "nonsense"]},
		{"deny_cidrs": "10.0.0.0/8"},
		{"allow_cidrs": "192.0.2.0/24"},
		{"deny_cidrs": {"a": "10.0.0.0/8"}},
		{"deny_cidrs": null},
		{"allow_cidrs": false},
		[], "x", false, null,
	] {
		fixture.refused(issue(row), "ip_not_allowed")
	}
}

# In the fixture the present time is 11:00 UTC, which is 12:00 in Berlin.
test_open_hours_are_local if {
	issue({"hours": {"tz": "Europe/Berlin", "from": "12:00", "to": "12:01"}}).allow
	fixture.refused(issue({"hours": {"tz": "Europe/Berlin", "from": "12:01", "to": "18:00"}}), "outside_hours")
	fixture.refused(issue({"hours": {"tz": "Europe/Berlin", "from": "08:00", "to": "12:00"}}), "outside_hours")
	issue({"hours": {"tz": "UTC", "from": "11:00", "to": "12:00"}}).allow
}

test_hours_may_span_midnight if {
	issue({"hours": {"tz": "UTC", "from": "22:00", "to": "11:01"}}).allow
	issue({"hours": {"tz": "UTC", "from": "11:00", "to": "06:00"}}).allow
	fixture.refused(issue({"hours": {"tz": "UTC", "from": "22:00", "to": "11:00"}}), "outside_hours")
	issue({"hours": {"tz": "UTC", "from": "00:00", "to": "00:00"}}).allow
}

test_broken_hours_deny if {
	every hours in [
		{"tz": "Europe/Berln", "from": "00:00", "to": "23:59"},
		{"tz": "UTC", "from": "0:00", "to": "23:59"},
		{"tz": "UTC", "from": "00:00", "to": "24:00"},
		{"tz": "UTC", "from": "00:00"},
		{"from": "00:00", "to": "23:59"},
		{}, false, "always",
	] {
		fixture.refused(issue({"hours": hours}), "outside_hours")
	}
}

test_introspection_checks_the_address_of_issuance_and_the_present_time if {
	introspect({"allow_cidrs": ["192.0.2.0/24"]}).allow
	fixture.refused(introspect({"allow_cidrs": ["10.0.0.0/8"]}), "ip_not_allowed")
	introspect({"hours": {"tz": "UTC", "from": "11:01", "to": "12:00"}}).allow
	fixture.refused(introspect({"hours": {"tz": "UTC", "from": "11:02", "to": "12:00"}}), "outside_hours")
}
