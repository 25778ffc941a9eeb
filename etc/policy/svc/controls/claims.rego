# METADATA
# title: Claims
# description: The users of whom the identity provider did not give all claims, so that a rule that denies by a claim would permit them.
package svc.controls.claims

import data.svc.lib.claims
import data.svc.operator.controls.claims as row

deny contains {
	"code": "claims_incomplete", "category": "subject", "control": "claims",
	"message": "the identity provider did not give all claims of this user",
} if {
	_ := claims.incomplete_names
	not allowed
}

# A row of the wrong type allows nothing.
allowed if row.incomplete == "allow"

allowed if input.client.id in row.except
