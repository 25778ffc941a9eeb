# Rules of an operator that use every hook, and what authors reach for: texts, patterns, times, networks, sets.
package custom.issue

deny contains {"code": "frozen", "message": sprintf("%s is frozen", [input.client.id]), "detail": {"id": input.client.id}} if {
	startswith(input.client.id, "shop")
	not "orders.read" in input.scopes.requested
}

deny contains "at_night" if {
	[hour, _, _] := time.clock(input.request.time_ns)
	hour < 6
}

deny contains "weak" if {
	input.subject.type == "user"
	count({m | some m in input.subject.amr} & {"otp", "hwk"}) == 0
}

block_scopes contains scope if {
	some scope in input.scopes.requested
	regex.match(`^admin|:write$`, scope)
}

block_scopes contains scope if {
	some detail in input.authorization_details
	scope := lower(detail.type)
}

opaque contains "partner" if not startswith(input.resource.indicator, "https://api.acme.example/")

obligations[name] := values if {
	some name, value in input.subject.claims
	values := sort({v | some v in value})
}

claims["tenant"] := concat("/", ["acme", upper(input.client.id)])

claims["groups"] := [g | some g in input.subject.claims.groups; not contains(g, "/")]

extensions["left"] := input.request.default_ttl - 60

extensions["of"] := object.get(input, ["subject", "claims", "iss"], "nobody")
