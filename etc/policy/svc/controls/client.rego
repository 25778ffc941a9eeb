# METADATA
# title: Client
# description: The conditions for a client to get and keep tokens.
package svc.controls.client

import data.svc.lib.ask
import data.svc.operator.controls.client as row

type_ok if input.client.type == "confidential"

type_ok if {
	input.client.type == "public"
	grant := ask.grant
	not grant in confidential_only
}

# Grants that prove only the client itself, or act for a user who is not present. A client that cannot
# keep a secret must not use them. build-aux/grants writes the set from the table of grants.
confidential_only := {
	"client_credentials",
	"urn:openid:params:grant-type:ciba",
	"urn:ietf:params:oauth:grant-type:token-exchange",
}

# The row has one member. The check passes only if the member is absent or lists the method.
auth_method_ok if row == {}

auth_method_ok if input.client.auth_method in row.allowed_auth_methods

# A preview does not know how a confidential client will authenticate at /token.
auth_method_ok if {
	input.evaluation == "preview"
	not input.client.auth_method
}

deny contains {
	"code": "client_disabled", "category": "client", "control": "client",
	"message": "the client is disabled",
} if {
	not input.client.enabled == true
}

deny contains {
	"code": "client_type_not_allowed", "category": "client", "control": "client",
	"message": "a client of this type may not use this grant type",
} if {
	not type_ok
}

deny contains {
	"code": "auth_method_not_allowed", "category": "client", "control": "client",
	"message": "the client authentication method is not allowed",
} if {
	not auth_method_ok
}
