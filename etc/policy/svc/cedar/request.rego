# The questions that Cedar rules are asked about one request: one for each action.
package svc.cedar.request

import data.svc.cedar.rt
import data.svc.cedar.value
import data.svc.controls.entitlements
import data.svc.lib.ask
import data.svc.lib.url

# The input that a rule sees, by the name of the action. There is none if the request has no form in Cedar.
questions[action] := {
	"principal": principal,
	"action": value.uid("Action", action),
	"resource": resource,
	"context": context,
	"entities": described,
} if {
	some action in actions
}

# ---- who

person := {"client": "Client", "user": "User"}

principal := value.uid(person[ask.subject.type], ask.subject.id) if input.evaluation in {"issue", "preview", "introspect"}

principal := value.uid(type_of(asked.subject.type), asked.subject.id) if input.evaluation == "authzen"

principal := value.uid(person[input.subject.type], input.subject.id) if input.evaluation == "gateway"

asked := input.authzen

# The row comes first, so that one type of Cedar can stand for users here and in tokens.
type_of(type) := mapped if {
	mapped := data.svc.cedar_data.types[type]
	value.is_name(mapped)
} else := type if {
	value.is_name(type)
}

# ---- what

actions contains concat("", ["issue:access_token:", ask.grant]) if input.evaluation in {"issue", "preview"}

# The scopes that the token would have.
actions contains concat("", ["issue:scope:", scope]) if {
	input.evaluation in {"issue", "preview"}
	some scope in entitlements.granted
}

actions contains "introspect" if input.evaluation == "introspect"

actions contains asked.action.name if input.evaluation == "authzen"

actions contains concat("", ["gateway:", operation]) if input.evaluation == "gateway"

# The action of a route, or the tool. A route without an action has its id. MCP resources, prompts and
# completions are told apart by their kind, because an upstream chooses their names; so are its questions. A completion
# for a prompt is no completion for a template of the same text.
operation := concat(":", ["prompt_completion", input.action.name]) if {
	input.action.kind == "completion"
	not input.action.template
} else := concat(":", [input.action.kind, input.action.name]) if {
	input.action.kind in {"resource", "prompt", "instructions", "completion", "elicitation", "sampling", "roots"}
} else := name if {
	name := input.action.name
} else := input.action.route

# ---- on what

resource := value.uid("Audience", audience) if input.evaluation in {"issue", "preview", "introspect"}

resource := value.uid(type_of(asked.resource.type), asked.resource.id) if input.evaluation == "authzen"

resource := value.uid("Resource", input.resource.name) if input.evaluation == "gateway"

# Of two equal forms it is the one without a slash at the end: a client may not choose the entity that rules
# are asked about. A token that names no resource is for the service itself.
audience := min(url.forms(indicator)) if {
	indicator := ask.indicator
} else := input.issuer

# ---- attributes that the request states

# The rows under svc.cedar_data have all other entities, and what a row says counts more. Of an entity that is
# both principal and resource, the attributes of the principal count.
described[rt.key(principal)] := entry(principal, stated_of_principal) if stated_of_principal != {}

described[rt.key(resource)] := entry(resource, stated_of_resource) if {
	stated_of_resource != {}
	resource != principal
}

described[rt.key(action)] := entry(action, stated_of_action) if {
	stated_of_action != {}
	some name in actions
	action := value.uid("Action", name)
	not action in {principal, resource}
}

entry(entity, stated) := {
	"attrs": object.union(object.remove(stated, object.keys(own)), own),
	"tags": object.get(row, "tags", {}),
	"anc": object.get(row, "anc", {}),
} if {
	row := rt.known(rt.key(entity))
	own := object.get(row, "attrs", {})
}

facts_of_user := ["acr", "amr", "auth_time", "claims", "claims_incomplete", "idp", "iss"]

stated_of_principal := record(object.filter(ask.subject, facts_of_user)) if input.evaluation in {"issue", "preview", "introspect"}

stated_of_principal := record(object.filter(input.subject, facts_of_user)) if input.evaluation == "gateway"

stated_of_principal := record(asked.subject.properties) if input.evaluation == "authzen"

stated_of_resource := record(asked.resource.properties) if input.evaluation == "authzen"

stated_of_resource := record(object.remove(input.resource, ["name"])) if input.evaluation == "gateway"

stated_of_action := record(asked.action.properties) if input.evaluation == "authzen"

stated_of_action := record(object.remove(input.action, ["name"])) if input.evaluation == "gateway"

# An object as a record. One that would be another value of Cedar states nothing.
record(x) := made if {
	made := value.of(x)
	rt.record(made)
} else := {}

# ---- the context: what the caller sent, and as `svc` what the service knows

context := object.union(object.remove(sent, ["svc"]), {"svc": svc})

default sent := {}

sent := record(asked.context) if input.evaluation == "authzen"

sent := record(input.context) if input.evaluation == "introspect"

sent := record(of_call) if input.evaluation == "gateway"

# What the caller of the gateway sends to an upstream; of a question of an upstream, what it asks and for which call.
of_call["arguments"] := input.arguments

of_call["answers"] := input.answers

of_call["call"] := input.call

svc["evaluation"] := evaluations[input.evaluation]

svc["endpoint"] := input.request.endpoint

svc["time"] := rt.datetime(input.request.now * 1000)

svc["ip"] := input.environment.ip

svc["client"] := object.filter(input.client, described_of_client)

svc["caller"] := object.filter(input.caller, described_of_client)

svc["grant_type"] := ask.grant

svc["scopes"] := sort({scope | some scope in ask.scopes}) if input.evaluation in {"issue", "preview", "introspect"}

svc["resource_types"] := sort(ask.types) if input.evaluation in {"issue", "preview", "introspect"}

svc["detail_types"] := sort({detail.type | some detail in ask.details}) if ask.details

svc["scopes"] := sort({scope | some scope in input.token.scopes}) if input.evaluation == "gateway"

svc["dpop"] := input.environment.dpop.valid if input.evaluation in {"issue", "preview"}

svc["dpop"] := input.token.bound if input.evaluation == "gateway"

# What the caller of a request wrote as JSON, in the form that is mapped.
written contains of_call if input.evaluation == "gateway"

written contains input.context if input.evaluation == "introspect"

written contains asked.context if input.evaluation == "authzen"

written contains asked[part].properties if {
	input.evaluation == "authzen"
	some part in ["subject", "action", "resource"]
}

# True if a part of that has no value of Cedar and was left out.
partial if {
	some part in written
	value.partial(part)
}

partial if {
	some part in written
	not part == {}
	record(part) == {}
}

# True if a number of it became a decimal.
fraction if {
	some part in written
	value.fraction(part)
}

svc["partial"] if partial

# Arguments that are too large are left out.
svc["truncated"] := input.truncated if input.evaluation == "gateway"

svc["actor"] := value.uid("Client", input.actor.id)

# A preview is the question of an issuance.
evaluations := {
	"issue": "issue", "preview": "issue", "introspect": "introspect",
	"authzen": "authzen", "gateway": "gateway",
}

# Members that are texts or booleans.
described_of_client := [
	"auth_method", "client_id", "enabled", "id", "registration", "service", "software_id", "software_version", "type",
]
