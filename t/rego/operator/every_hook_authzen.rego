package custom.authzen

allow if {
	input.authzen.subject.id == input.authzen.resource.id
	net.cidr_contains("192.0.2.0/24", input.environment.ip)
}

deny contains {"code": "denied", "detail": input.authzen.context} if input.authzen.action.properties.deep

context := {"who": input.authzen.subject, "n": count(input.authzen)}
