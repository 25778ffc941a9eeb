package custom.tenant_test

request(groups) := {"subject": {"type": "user", "id": "alice", "claims": {"groups": groups}}}

claims(groups) := found if {
	found := data.custom.issue.claims with input as request(groups)
}

reasons(groups) := {r.code | some r in data.custom.issue.deny with input as request(groups)}

test_tenant if claims(["ops", "tenant-acme"]) == {"tenant": "acme"}

test_no_tenant if claims(["ops"]) == {}

test_several_tenants if {
	claims(["tenant-a", "tenant-b"]) == {}
	reasons(["tenant-a", "tenant-b"]) == {"several_tenants"}
}

test_no_groups if {
	data.custom.issue.claims == {} with input as {"subject": {"type": "client", "id": "shop"}}
	data.custom.issue.deny == set() with input as {"subject": {"type": "client", "id": "shop"}}
}

test_obligation if data.custom.introspect.obligations == {"tenant": "acme"} with input as {"baseline": {"claims": {"tenant": "acme"}}}

test_no_obligation if data.custom.introspect.obligations == {} with input as {"baseline": {}}
