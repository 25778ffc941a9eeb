# Comparing resource indicators.
package svc.lib.url

# The equal forms of an indicator: `https://h` and `https://h/` are the same resource. With a path, a
# trailing slash names another resource, but not below the service's gateway, whose endpoints answer at both.
forms(indicator) := {indicator, concat("", [indicator, "/"])} if {
	parts := split(indicator, "/")
	count(parts) == 3
	authority_only(indicator, parts)
}

else := {indicator, concat("/", array.slice(parts, 0, 3))} if {
	parts := split(indicator, "/")
	count(parts) == 4
	parts[3] == ""
	authority_only(indicator, parts)
} else := {bare, concat("", [bare, "/"])} if {
	bare := trim_suffix(indicator, "/")
	not endswith(bare, "/")
	is_gateway(bare)
} else := {indicator}

authority_only(indicator, parts) if {
	parts[0] in {"https:", "http:"}
	parts[1] == ""
	parts[2] != ""
	not contains(indicator, "?")
	not contains(indicator, "#")
}

# An address as a browser writes it (WHATWG URL): scheme and host in lower case, without the port that the scheme
# has anyway. The issuer may be configured in another spelling.
normal(address) := concat("/", array.concat(
	[lower(parts[0]), "", trim_suffix(lower(parts[2]), default_port[lower(parts[0])])],
	array.slice(parts, 3, count(parts)),
)) if {
	parts := split(address, "/")
	count(parts) > 2
	parts[1] == ""
}

default_port := {"https:": ":443", "http:": ":80"}

# True for a resource behind the service's gateway. Dot segments, plain or percent-encoded, and
# backslashes are refused: a program that resolves `/gateway/../admin` would leave the gateway.
is_gateway(indicator) if {
	prefix := concat("", [normal(trim_suffix(input.issuer, "/")), "/gateway/"])
	address := normal(indicator)
	startswith(address, prefix)
	address != prefix
	not contains(indicator, "/.")
	not contains(lower(indicator), "%2e")
	not contains(indicator, "\\")
}
