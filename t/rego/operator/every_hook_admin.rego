package custom.admin

deny contains "at night" if {
	input.action.method != "GET"
	[hour, _, _] := time.clock([input.request.time_ns, "Europe/Berlin"])
	hour < 6
}

deny contains {"code": "team", "detail": {"groups": input.subject.claims.groups}} if {
	some value in input.action.values
	not startswith(value, "team-")
}
