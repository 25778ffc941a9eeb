# METADATA
# title: Trust
# description: The issuers of trusted software statements.
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

# The service has checked the signature and sets `verified`. Its own issuer needs no entry.
statement_trusted if {
	input.registration.mode == "statement"
	is_boolean(input.statement.verified)
	input.statement.iss == input.issuer
}

statement_trusted if {
	input.registration.mode == "statement"
	is_boolean(input.statement.verified)
	some entry in row.statement_issuers
	names(entry, input.statement.iss)
}

names(entry, issuer) if entry == issuer

names(entry, issuer) if entry.issuer == issuer
