# The tokens that they already have are inactive as soon as the row is active.
package custom.introspect

deny contains {"code": "client_stopped", "category": "client", "message": "the client is stopped"} if {
	_ := data.example.stopped.clients[input.client.id]
}

deny contains {"code": "user_stopped", "category": "subject", "message": "the user is stopped"} if {
	input.issued.subject.type == "user"
	_ := data.example.stopped.users[input.issued.subject.id]
}
