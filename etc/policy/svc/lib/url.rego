# Comparing resource indicators.
package svc.lib.url

# The equal forms of an indicator: `https://h` and `https://h/` are the same resource. With a path, a
# trailing slash names another resource.
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
} else := {indicator}

authority_only(indicator, parts) if {
	parts[0] in {"https:", "http:"}
	parts[1] == ""
	parts[2] != ""
	not contains(indicator, "?")
	not contains(indicator, "#")
}

# True for a resource behind the service's gateway. Dot segments, plain or percent-encoded, and
# backslashes are refused: a program that resolves `/gateway/../admin` would leave the gateway.
is_gateway(indicator) if {
	prefix := concat("", [trim_suffix(input.issuer, "/"), "/gateway/"])
	startswith(indicator, prefix)
	indicator != prefix
	not contains(indicator, "/.")
	not contains(lower(indicator), "%2e")
	not contains(indicator, "\\")
}
