# The fixture of "Authorization API 1.0 - Certification Scenario" (openid/authzen, section 2.4): the eight decisions that the
# conformance suite of the OpenID Foundation checks. Deploy it before the suite runs:
#
#     authzctl bundle deploy contrib/examples/authzen-certification
package custom.authzen

record if {
	input.authzen.subject.type == "user"
	input.authzen.resource.type == "record"
}

allow if {
	record
	input.authzen.action.name == "read"
	input.authzen.subject.id in {"alice", "bob"}
}

allow if {
	record
	input.authzen.action.name == "write"
	input.authzen.subject.id == "alice"
	not archived
}

allow if {
	record
	input.authzen.action.name == "write"
	input.authzen.subject.properties.role == "admin"
	archived
}

allow if {
	record
	input.authzen.action.name == "delete"
	input.authzen.subject.id == "alice"
	input.authzen.action.properties.soft == true
}

archived if input.authzen.resource.properties.status == "archived"
