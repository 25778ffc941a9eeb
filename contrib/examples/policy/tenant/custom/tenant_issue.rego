# The tenant of a token is the one group of the user whose name begins with "tenant-". It is kept with the token.
package custom.issue

# One value, or none: if two groups gave the member two values, the engine would answer with an error, and the
# service with 503.
claims["tenant"] := tenant if {
	count(tenants) == 1
	some tenant in tenants
}

deny contains {"code": "several_tenants", "category": "subject", "message": "the user belongs to several tenants"} if {
	count(tenants) > 1
}

tenants contains substring(group, count("tenant-"), -1) if {
	some group in input.subject.claims.groups
	startswith(group, "tenant-")
}
