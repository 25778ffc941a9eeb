# Hooks of an operator that read the input; see hooked.rego.
package custom.gateway

deny contains "repo_closed" if {
	input.request.id == "hooked"
	input.arguments.repo == "secret"
}

deny contains "no_writing" if {
	input.request.id == "hooked"
	input.evaluation == "gateway"
	input.action.name == "write"
	not input.tools
}
