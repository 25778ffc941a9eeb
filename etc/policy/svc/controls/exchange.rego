# METADATA
# title: Token exchange
# description: The clients that may act for the subject of another token, and with what (RFC 8693).
package svc.controls.exchange

import data.svc.lib.ask
import data.svc.operator.controls.exchange as row

# The rules are evaluated only for a token exchange. The client that asks is the actor.

# ---- who may act

deny contains {
	"code": "actor_not_allowed", "category": "delegation", "control": "exchange",
	"message": "the client may not act for the subject of this token",
} if {
	not actor_ok
}

actor_ok if {
	listed
	may_act_ok
}

# Without entries the bindings alone decide. A list of the wrong type restricts, and nothing matches it.
listed if object.get(row, "allowed", []) == []

listed if {
	is_array(row.allowed)
	some entry in row.allowed
	entry.actor == input.actor.id
	is_subject_client(entry)
	every t in ask.types {
		t in entry.resource_types
	}
	every s in ask.scopes {
		s in entry.scopes
	}
}

is_subject_client(entry) if object.get(entry, "subject_client", null) == null

is_subject_client(entry) if entry.subject_client == input.subject_token.client_id

# A subject token that says who may act for its subject is obeyed, whatever the row says (RFC 8693 4.4).
may_act_ok if {
	not input.may_act == input.may_act
	object.get(row, "require_may_act", false) == false
}

may_act_ok if {
	input.may_act.sub == input.actor.id
	object.get(input.may_act, "iss", input.issuer) == input.issuer
}

# ---- never more than the subject token has

deny contains {
	"code": "scope_exceeds_subject", "category": "delegation", "control": "exchange",
	"message": "a requested scope is not among those of the subject token",
} if {
	not within_subject
}

# An ID token has no scopes: the bindings of the client are the limit.
within_subject if input.subject_token.type == "id_token"

within_subject if {
	input.subject_token.type == "access_token"
	every s in ask.scopes {
		s in input.subject_token.scopes
	}
}

# ---- how long the chain may be

deny contains {
	"code": "chain_too_deep", "category": "delegation", "control": "exchange",
	"message": "the chain of actors is too long",
} if {
	not depth_ok
}

depth_ok if {
	most := object.get(row, "max_depth", 4)
	is_number(most)
	depth <= most
}

# The actors of the new token: the client, and those that acted before it.
depth := count([path |
	[path, actor] := walk(input.act)
	is_object(actor)
	every name in path {
		name == "act"
	}
])
