# METADATA
# title: Registration
# description: Decides whether a client may register, and with which grant types and scopes.
package svc.decision.register

import data.svc.controls.public_client_policy
import data.svc.controls.trust
import data.svc.lib.answer
import data.svc.lib.hooks

# There is no plain case here, because clients register rarely.
result := answer.of(general)

general := {
	"allow": true,
	"grant_types": public_client_policy.grant_types,
	"scopes": public_client_policy.scopes,
	"resource_types": public_client_policy.resource_types,
	"deny_reasons": [],
} if {
	input.evaluation == "register"
	deny == set()
} else := {
	"allow": false,
	"grant_types": [],
	"scopes": [],
	"resource_types": [],
	"deny_reasons": deny,
}

deny contains r if some r in public_client_policy.deny

deny contains r if some r in public_client_policy.deny_method

deny contains r if some r in trust.deny

deny contains r if some r in hooks.register_deny
