# METADATA
# title: Trust
# description: The issuers of trusted software statements, now and for the bindings of registered clients, and of ID tokens that are exchanged.
package svc.controls.trust

import data.svc.operator.controls.public_client_policy
import data.svc.operator.controls.trust as row

deny contains {
	"code": "statement_missing", "category": "trust", "control": "trust",
	"message": "a software statement is required",
} if {
	not statement_present
}

statement_present if input.registration.mode == "statement"

statement_present if {
	input.registration.mode == "plain"
	object.get(public_client_policy.dcr, "require_statement", false) == false
}

deny contains {
	"code": "statement_not_trusted", "category": "trust", "control": "trust",
	"message": "the issuer of the software statement is not trusted",
} if {
	not statement_trusted
}

statement_trusted if {
	input.registration.mode == "plain"
	not input.statement == input.statement
}

statement_trusted if {
	input.registration.mode == "statement"
	holds(input.statement)
}

# ---- ID tokens that are exchanged, and the tokens that were issued for them

# The service judges the issuer of an ID token before it fetches its keys. This rule makes the tokens end
# that were exchanged for one of an issuer that is not listed any more, along the whole chain.
deny_issuer contains {
	"code": "issuer_not_trusted", "category": "trust", "control": "trust",
	"message": "the issuer of the exchanged token is not trusted",
} if {
	iss := subject_token.claims.iss
	not iss in token_issuers
}

subject_token := input.subject_token if input.evaluation in {"issue", "preview"}

subject_token := input.issued.subject_token if input.evaluation == "introspect"

token_issuers contains name(entry) if {
	is_array(row.trusted_issuers)
	some entry in row.trusted_issuers
}

# ---- statements, of the registration itself or of a client that registered earlier

# True if the issuer of a statement is trusted now. The service has checked the signature and sets
# `verified`; it accepts statements in its own name only if they are verified, and needs no entry.
holds(statement) if {
	statement.verified == true
	statement.iss == input.issuer
}

holds(statement) if {
	is_boolean(statement.verified)
	statement.iss in issuers
}

issuers contains name(entry) if {
	is_array(row.statement_issuers)
	some entry in row.statement_issuers
}

name(entry) := entry if is_string(entry)

name(entry) := entry.issuer if is_object(entry)

# True if a software binding applies to the software of a statement. A software_id is only a text that an
# issuer writes: one could claim the software of another. So the binding names its issuers as soon as the
# row lists two. The service's own issuer counts if it is listed; only the administrator has its
# statements made.
vouches(statement, binding) if {
	holds(statement)
	statement.iss in binding.issuers
}

vouches(statement, binding) if {
	holds(statement)
	not binding.issuers == binding.issuers
	count(issuers) < 2
}
