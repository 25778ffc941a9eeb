# The claims of the user that the identity provider did not give, or not all of. A rule that denies by a
# claim asks svc.lib.claims.incomplete("groups") too, where the control `claims` allows such users.
package svc.lib.claims

# Absent if the claims are complete. Evaluation 2 reads what evaluation 1 saw.
incomplete_names := input.subject.claims_incomplete if input.evaluation in {"issue", "preview", "gateway", "gateway_tools", "admin"}

incomplete_names := input.issued.subject.claims_incomplete if input.evaluation == "introspect"

# "*" stands for any claim.
incomplete(name) if {
	some listed in incomplete_names
	listed in {name, "*"}
}
