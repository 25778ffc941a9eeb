# Finds the documents that the rules read, in the rules as the engine parses them. run-tests evaluates this
# once over data.modules and passes the answer to the tests as data.found.
package parsed

found := {"reads": reads, "tops": tops, "gives": gives, "packages": object.keys(rules)}

# The documents that each rule reads, as dotted paths up to the first part that is not fixed.
reads := {name: {path |
	some rule in list
	known := object.union(names[package_name], aliases(rule))
	walk(rule, [_, term])
	term.type in {"ref", "var"}
	path := path_of(term, known)
} |
	some package_name, named in rules
	some word, list in named
	name := concat(".", [package_name, word])
}

# The rules by package and name.
rules := {package_of(module): named |
	some module in data.modules
	named := {rule.head.name: [other | some other in module.rules; other.head.name == rule.head.name] |
		some rule in module.rules
	}
}

package_of(module) := text(module.package.path)

text(terms) := concat(".", [term.value | some term in terms])

# The meaning of the names of a file: imports, and rules of the same package. A package is one file.
names := {name: known |
	some module in data.modules
	name := package_of(module)
	known := object.union_n([
		{"input": "input", "data": "data"},
		{last(i.path.value): text(i.path.value) | some i in module.imports; not i.alias},
		{i.alias: text(i.path.value) | some i in module.imports},
		{word: concat(".", [name, word]) | some word, _ in rules[name]},
	])
}

last(terms) := terms[count(terms) - 1].value

# Local names of documents in a rule: `rows := data.svc.operator.controls`.
aliases(rule) := {expression.terms[1].value: text(expression.terms[2].value) |
	walk(rule, [_, expression])
	expression.terms[0].value[0].value == "assign"
	expression.terms[1].type == "var"
	expression.terms[2].type == "ref"
	expression.terms[2].value[0].value == "data"
	every part in array.slice(expression.terms[2].value, 1, 100) {
		part.type == "string"
	}
}

path_of(term, known) := known[term.value] if term.type == "var"

path_of(term, known) := concat(".", array.concat([known[term.value[0].value]], fixed(term.value))) if {
	term.type == "ref"
	term.value[0].type == "var"
}

# The parts after the first name up to one that is not fixed.
fixed(terms) := [part.value |
	some i, part in terms
	i > 0
	every before in array.slice(terms, 1, i + 1) {
		before.type == "string"
	}
]

# Documents with a local name in a rule; the members that are read are in `reads` too.
tops := {path | some named in rules; some list in named; some rule in list; some path in aliases(rule)}

# The rules that give reasons of each control.
gives := {[pair[1].value, name] |
	some package_name, named in rules
	some word, list in named
	some rule in list
	name := concat(".", [package_name, word])
	walk(rule.head, [_, pair])
	pair[0].value == "control"
}
