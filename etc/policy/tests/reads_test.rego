# Checks the catalogue against the documents that the rules read: rows, members of the input, and the
# controls of each entrypoint. parsed.rego makes data.found of the rules.
package reads_test

import data.found
import data.shipped

within(path, top) if path == top

within(path, top) if startswith(path, concat("", [top, "."]))

# The rules that a rule uses. Tables are whole documents here, because a rule with a key would be
# evaluated again for each key.
uses := {name: used |
	some name, paths in found.reads
	used := {other |
		some path in paths
		words := split(path, ".")
		some n in numbers.range(1, count(words))
		other := concat(".", array.slice(words, 0, n))
		found.reads[other]
	}
}

reached(top) := graph.reachable(uses, {name | some name, _ in found.reads; within(name, top)})

# ---- rows

keys := {concat("", ["data.", row.key]) | some c in shipped.catalogue; some row in c.rows}

row_reads := {path |
	some paths in found.reads
	some path in paths
	startswith(path, "data.svc.")
	not of_a_package(path)
	not path in found.tops
	not path in made
}

# Documents that the service makes when it builds a bundle: the rules that it generated, and the entities of
# the rows svc.cedar_data.*, and the places of rules, none of which is shipped.
made := {"data.svc.cedar.policies", "data.svc.cedar_data.entities", "data.svc.rule_places"}

of_a_package(path) if {
	some name in found.packages
	within(path, name)
}

test_every_row_that_a_rule_reads_is_owned if {
	count(row_reads) > 10
	every path in row_reads {
		some key in keys
		within(path, key)
	}
}

test_a_name_for_several_rows_covers_owned_rows_only if {
	every top in found.tops {
		is_above_a_row(top)
	}
}

is_above_a_row(top) if startswith(top, "data.custom.")

is_above_a_row(top) if {
	some key in keys
	within(key, top)
}

# A control that no entrypoint uses says so, and no rule reads its rows. `endpoints` are those that read a
# row themselves.
unused := {c.id | some c in shipped.catalogue; c.entrypoints == []}

test_a_control_that_is_not_used_says_so if {
	{c.id | some c in shipped.catalogue; c.entrypoints == []; c.endpoints == []} == {c.id |
		some c in shipped.catalogue
		contains(c.decides, "No endpoint of this version uses it.")
	}
}

test_a_control_that_only_the_service_reads_says_so if {
	{c.id | some c in shipped.catalogue; c.entrypoints == []; c.endpoints != []} == {c.id |
		some c in shipped.catalogue
		contains(c.decides, "No entrypoint asks it: the service itself reads the row")
	}
}

test_the_controls_whose_rows_are_not_read_are_those_that_are_not_used if {
	unread := {c.id |
		some c in shipped.catalogue
		some row in c.rows
		every path in row_reads {
			not within(path, concat("", ["data.", row.key]))
		}
	}
	unread == unused
}

# ---- entrypoints: an entrypoint uses a control if it reaches one of its rules

# The rules of a control: those of its package, and those that give its reasons elsewhere.
own := {control: {name | some [other, name] in pairs; other == control} | some [control, _] in pairs}

pairs := {[split(name, ".")[3], name] |
	some name, _ in found.reads
	startswith(name, "data.svc.controls.")
} | {pair | some pair in found.gives}

# The control system has no rules: the service gives its reasons when the engine has no answer.
ruled := [c | some c in shipped.catalogue; c.id != "system"]

# The question to Cedar rules is made for every entrypoint in one package, so it says nothing about which
# entrypoint uses a control.
beside_cedar := {name: used |
	some name, used in uses
	not startswith(name, "data.svc.cedar.")
}

decisions := {e: graph.reachable(beside_cedar, {n | some n, _ in found.reads; within(n, name)}) |
	some name in found.packages
	startswith(name, "data.svc.decision.")
	e := split(name, ".")[3]
}

test_the_entrypoints_of_a_control_are_those_that_reach_it if {
	count(decisions) > 1
	every c in ruled {
		{e | some e in c.entrypoints} == {d |
			some d, names_reached in decisions
			own[c.id] & names_reached != set()
		}
	}
}

test_the_control_system_is_of_every_entrypoint_and_in_no_rule if {
	some c in shipped.catalogue
	c.id == "system"
	{e | some e in c.entrypoints} == object.keys(decisions)
	not own.system
	c.inputs == []
}

test_every_package_of_a_control_is_in_the_catalogue if {
	{c.id | some c in ruled; c.entrypoints != []} == {"custom"} | {split(name, ".")[3] |
		some name in found.packages
		startswith(name, "data.svc.controls.")
	}
}

# ---- members of the input

# Members that a rule of several entrypoints reads at one of them only.
elsewhere("issue") := [
	"input.baseline", "input.caller", "input.context", "input.issued", "input.registration", "input.statement",
	"input.token",
]

elsewhere("introspect") := [
	"input.authorization_details", "input.environment", "input.registration", "input.request.grant_type",
	"input.resource", "input.scopes", "input.statement", "input.subject", "input.subject_token",
]

elsewhere("register") := [
	"input.baseline", "input.caller", "input.client", "input.context", "input.issued", "input.resource",
	"input.scopes", "input.subject", "input.token",
]

elsewhere(e) := [
	"input.action", "input.actor", "input.answers", "input.arguments", "input.authorization_details", "input.baseline",
	"input.call", "input.client", "input.context", "input.environment.dpop", "input.truncated", "input.issued", "input.registration", "input.request.grant_type",
	"input.resource", "input.scopes", "input.statement", "input.subject", "input.token",
] if {
	e in {"authzen", "authzen_batch"}
}

elsewhere(e) := [] if e in {"gateway", "gateway_tools"}

# `input.evaluation` selects the entrypoint and is no input of a control. `input.cedar` is the question to
# Cedar rules, which svc.cedar.result makes.
input_reads := {c.id: {path |
	some name in graph.reachable(uses, own[c.id])
	some path in found.reads[name]
	startswith(path, "input.")
	path != "input.evaluation"
	not within(path, "input.cedar")
	some e in c.entrypoints
	every other in elsewhere(e) {
		not within(path, other)
	}
} |
	some c in shipped.catalogue
	c.entrypoints != []
}

# Operators' rules may read everything.
judged := [c | some c in ruled; c.entrypoints != []; c.id != "custom"]

test_every_member_that_a_control_reads_is_among_its_inputs if {
	every c in judged {
		unlisted := {path |
			some path in input_reads[c.id]
			not listed(c, path)
		}
		unlisted == set()
	}
}

listed(c, path) if {
	some i in c.inputs
	within(path, concat("", ["input.", i]))
}

test_every_input_of_a_control_is_read if {
	every c in judged {
		every i in c.inputs {
			some path in input_reads[c.id]
			within(path, concat("", ["input.", i]))
		}
	}
}
