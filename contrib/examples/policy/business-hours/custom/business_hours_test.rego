package custom.business_hours_test

bindings := {"clients": {"shop": {"grants": ["client_credentials"], "scopes": ["orders.read", "orders.write"]}}, "scopes": {}}

# A request at a time of RFC 3339.
request(at) := {
	"schema": 1, "evaluation": "issue", "issuer": "https://auth.example",
	"request": {
		"id": "req-1", "endpoint": "/token", "grant_type": "client_credentials", "token_type": "access_token",
		"default_ttl": 3600, "now": time.parse_rfc3339_ns(at) / 1000000000, "time": at,
		"time_ns": time.parse_rfc3339_ns(at),
	},
	"client": {
		"id": "shop", "type": "confidential", "registration": "ADMIN",
		"auth_method": "client_secret_basic", "enabled": true,
	},
	"subject": {"type": "client", "id": "shop"},
	"scopes": {"requested": ["orders.read", "orders.write"], "default": []},
	"environment": {"ip": "192.0.2.7"},
	"baseline": null,
}

# The scopes that the shipped rules and this one grant together.
granted(at) := {s |
	some s in data.svc.decision.issue.result.scopes with input as request(at) with data.svc.entitlements.bindings as bindings
}

test_open if granted("2026-11-20T11:00:00Z") == {"orders.read", "orders.write"}

# 8:00 in Berlin is 7:00 UTC in winter and 6:00 UTC in summer.
test_first_minute_in_winter if "orders.write" in granted("2026-11-20T07:00:00Z")

test_minute_before_in_winter if granted("2026-11-20T06:59:59Z") == {"orders.read"}

test_first_minute_in_summer if "orders.write" in granted("2026-07-20T06:00:00Z")

test_last_minute if "orders.write" in granted("2026-11-20T16:59:59Z")

test_closed if granted("2026-11-20T17:00:00Z") == {"orders.read"}

test_weekend if granted("2026-11-21T11:00:00Z") == {"orders.read"}

test_unknown_time if "orders.write" in data.custom.issue.block_scopes with input as {"request": {}}
