package custom.todo_app_test

morty := "CiRmZDE2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs"

rick := "CiRmZDA2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs"

beth := "CiRmZDM2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs"

request(subject, action, owner) := {
	"subject": {"type": "user", "id": subject}, "action": {"name": action},
	"resource": {"type": "todo", "id": "t1", "properties": {"ownerID": owner}},
}

permitted(asked) if {
	answer := data.svc.controls.authzen.answer with input as {"evaluation": "authzen", "authzen": asked}
	answer.allow
}

test_an_editor_updates_and_deletes_his_own if {
	permitted(request(morty, "can_update_todo", "morty@the-citadel.com"))
	permitted(request(morty, "can_delete_todo", "morty@the-citadel.com"))
}

test_an_editor_leaves_those_of_others if {
	not permitted(request(morty, "can_update_todo", "rick@the-citadel.com"))
	not permitted(request(morty, "can_delete_todo", "rick@the-citadel.com"))
}

test_an_admin_deletes_all if permitted(request(rick, "can_delete_todo", "morty@the-citadel.com"))

test_a_viewer_reads_alone if {
	permitted(request(beth, "can_read_todos", "rick@the-citadel.com"))
	not permitted(request(beth, "can_create_todo", "beth@the-smiths.com"))
	not permitted(request(beth, "can_update_todo", "beth@the-smiths.com"))
}

test_an_owner_without_properties_is_nobody if {
	asked := {"subject": {"type": "user", "id": morty}, "action": {"name": "can_update_todo"}, "resource": {"type": "todo", "id": "t1"}}
	not permitted(asked)
}

test_a_stranger_with_no_address_owns_nothing if {
	not permitted(request("nobody", "can_update_todo", null))
}
