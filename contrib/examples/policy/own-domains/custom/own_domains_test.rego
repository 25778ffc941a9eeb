package custom.own_domains_test

uri(text) := {"uri": text, "scheme": split(text, ":")[0], "loopback": false}

allowed(uris) if not denied(uris)

denied(uris) if {
	some r in data.svc.decision.register.deny with input as {"evaluation": "register", "registration": {"redirect_uris": uris}}
	r.code == "redirect_uri_foreign"
}

test_own if allowed([uri("https://app.example.org/callback"), uri("https://example.org:8443/callback")])

test_own_machine if allowed([{"uri": "http://127.0.0.1:1234/cb", "scheme": "http", "loopback": true}])

test_foreign if denied([uri("https://example.com/callback")])

test_one_foreign_among_several if denied([uri("https://app.example.org/callback"), uri("https://example.com/callback")])

test_names_that_only_look_alike if {
	every text in [
		"https://notexample.org/callback", "https://example.org.evil.example/callback",
		"https://evil.example/?.example.org/", "https://app.example.org@evil.example/",
		"http://app.example.org/callback", "com.example.org:/callback",
	] {
		denied([uri(text)])
	}
}
