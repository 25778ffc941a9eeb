# The owner of a todo. What a role permits on every todo stands in the row svc.operator.controls.authzen; what depends on the
# owner stands here. The application sends the owner's address as the property ownerID.
package custom.authzen

allow if {
	input.authzen.action.name == "can_update_todo"
	some role in ["admin", "editor"]
	role in roles_of_subject
	owns
}

allow if {
	input.authzen.action.name == "can_delete_todo"
	"editor" in roles_of_subject
	owns
}

roles_of_subject := data.svc.operator.controls.authzen.subjects.user[input.authzen.subject.id].roles if {
	input.authzen.subject.type == "user"
}

owns if {
	input.authzen.resource.type == "todo"
	input.authzen.resource.properties.ownerID == data.example.todo.users[input.authzen.subject.id].email
}
