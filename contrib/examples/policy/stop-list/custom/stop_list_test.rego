package custom.stop_list_test

row := {"clients": {"tablet": "stolen"}, "users": {"mallory": "left"}}

user(id) := {"type": "user", "id": id}

issue(client, subject) := {r.code |
	some r in data.svc.decision.issue.deny with input as {"evaluation": "issue", "client": {"id": client}, "subject": subject}
		with data.example.stopped as row
}

introspect(client, subject) := {r.code |
	some r in data.custom.introspect.deny with input as {"client": {"id": client}, "issued": {"subject": subject}}
		with data.example.stopped as row
}

stopped := {"client_stopped", "user_stopped"}

test_client if {
	"client_stopped" in issue("tablet", user("alice"))
	introspect("tablet", user("alice")) == {"client_stopped"}
}

test_user if {
	"user_stopped" in issue("shop", user("mallory"))
	introspect("shop", user("mallory")) == {"user_stopped"}
}

test_others if {
	issue("shop", user("alice")) & stopped == set()
	introspect("shop", user("alice")) == set()
}

# The subject of client_credentials is the client; a client with the id of a user is another one.
test_client_with_the_id_of_a_user if {
	issue("mallory", {"type": "client", "id": "mallory"}) & stopped == set()
	introspect("mallory", {"type": "client", "id": "mallory"}) == set()
}

test_shipped_row if is_object(data.example.stopped.users)
