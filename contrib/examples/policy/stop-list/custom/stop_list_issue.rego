# Clients and users in the data row example.stopped get no token. The row has the reason of each, for its readers.
package custom.issue

deny contains {"code": "client_stopped", "category": "client", "message": "the client is stopped"} if {
	_ := data.example.stopped.clients[input.client.id]
}

deny contains {"code": "user_stopped", "category": "subject", "message": "the user is stopped"} if {
	input.subject.type == "user"
	_ := data.example.stopped.users[input.subject.id]
}
