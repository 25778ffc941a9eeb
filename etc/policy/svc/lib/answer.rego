# The shape of an answer.
package svc.lib.answer

# An answer has `allow` and `scopes`, and the other members only if they are not empty. The service
# reads an absent member as null. Every octet of an answer is stored with a token and sent back at each
# introspection, so empty members are left out.
of(members) := object.union(
	{"allow": members.allow, "scopes": members.scopes},
	{name: value |
		some name, value in members
		not value in nothing
	},
)

nothing := [null, false, [], {}, set()]

# The reasons of a denial. Those that deny nothing by themselves, such as a scope that is left out, are marked, so that
# the service tells the client one that does.
reasons(deny, listed) := deny | {object.union(reason, {"denies": false}) | some reason in (listed - deny)}
