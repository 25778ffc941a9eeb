package custom.register

deny contains "foreign" if {
	some redirect in input.registration.redirect_uris
	not regex.match(`^https://([a-z]+\.)*example(/|$)`, redirect.uri)
}

deny contains {"code": "name", "detail": {"name": trim_space(input.registration.client_name)}} if count(input.registration.client_name) > 100
