# The scope orders.write is issued only from Monday to Friday, 8:00 to 18:00 in Berlin. The other scopes of a
# request are issued at any time. Tokens end later than the hours do: give the client a short ttl in its binding.
package custom.issue

block_scopes contains "orders.write" if not hours_open

# The rule says when it is open. If the time cannot be read, the rule is undefined, and the scope is blocked.
hours_open if {
	now := [input.request.time_ns, "Europe/Berlin"]
	time.weekday(now) in {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday"}
	[hour, _, _] := time.clock(now)
	hour >= 8
	hour < 18
}
