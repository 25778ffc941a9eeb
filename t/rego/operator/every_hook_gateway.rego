package custom.gateway

deny contains "closed" if {
	input.action.method in {"POST", "DELETE"}
	some _, value in input.arguments
	value == "a"
}

deny contains {"code": "glob", "message": input.action.path} if glob.match("/repos/*/b/**", ["/"], input.action.path)

obligations := {"mask": [k | some k, _ in input.arguments], "by": input.client.id}
