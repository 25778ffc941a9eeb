# The shape of an answer.
package svc.lib.answer

# `allow` and `scopes` always; of the rest what says something. The service takes an absent member
# for null, and every octet of an answer is stored with a token and sent back at its introspection.
of(members) := object.union(
	{"allow": members.allow, "scopes": members.scopes},
	{name: value |
		some name, value in members
		not value in nothing
	},
)

nothing := [null, false, [], {}, set()]
