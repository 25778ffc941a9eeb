# JSON as values of Cedar: the properties, the context and the claims that a request carries.
#
# A number is a Long if it is whole, and a decimal if it has at most four places. Cedar has neither null nor other
# numbers: such a value is left out, so that a rule that reads it has an error; and so is a set that contains one,
# because a part of it is another set. `partial` is true then. A list becomes a set. An object with the one member
# __entity or __extn is an entity or a value of an extension type, as Cedar's own tools write it.
package svc.cedar.value

import data.svc.cedar.rt

# Rego has no recursion, so each level of nesting is a function. What is nested deeper is left out.
of(x) := level8(x)

level8(x) := leaf(x)

level8(x) := set_of([level7(member) | some member in x], x) if is_array(x)

level8(x) := {name: level7(member) | some name, member in x} if rt.record(x)

level7(x) := leaf(x)

level7(x) := set_of([level6(member) | some member in x], x) if is_array(x)

level7(x) := {name: level6(member) | some name, member in x} if rt.record(x)

level6(x) := leaf(x)

level6(x) := set_of([level5(member) | some member in x], x) if is_array(x)

level6(x) := {name: level5(member) | some name, member in x} if rt.record(x)

level5(x) := leaf(x)

level5(x) := set_of([level4(member) | some member in x], x) if is_array(x)

level5(x) := {name: level4(member) | some name, member in x} if rt.record(x)

level4(x) := leaf(x)

level4(x) := set_of([level3(member) | some member in x], x) if is_array(x)

level4(x) := {name: level3(member) | some name, member in x} if rt.record(x)

level3(x) := leaf(x)

level3(x) := set_of([level2(member) | some member in x], x) if is_array(x)

level3(x) := {name: level2(member) | some name, member in x} if rt.record(x)

level2(x) := leaf(x)

level2(x) := set_of([level1(member) | some member in x], x) if is_array(x)

level2(x) := {name: level1(member) | some name, member in x} if rt.record(x)

level1(x) := leaf(x)

level1(x) := set_of([leaf(member) | some member in x], x) if is_array(x)

level1(x) := {name: leaf(member) | some name, member in x} if rt.record(x)

# The set of the values of a list, unless one of its members has none.
set_of(values, list) := sort({value | some value in values}) if count(values) == count(list)

leaf(x) := x if is_boolean(x)

leaf(x) := x if is_string(x)

leaf(x) := rt.long(x) if whole(x)

leaf(x) := measured(units[0], units[1]) if {
	fractional(x)
	units := in_units(json.marshal(x))
}

# The text of a number tells 1 from 1.0.
whole(x) if {
	is_number(x)
	regex.match(`\A-?[0-9]+\z`, json.marshal(x))
}

fractional(x) if {
	is_number(x)
	not regex.match(`\A-?[0-9]+\z`, json.marshal(x))
}

# A number with a point or an exponent, as the sign and the digits of how often it has 0.0001. Its text decides, because
# arithmetic could round it. Undefined: it has more than four places.
in_units(text) := [m[1], digits] if {
	some m in regex.find_all_string_submatch_n(`\A(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?)0*([0-9]{0,3}))?\z`, text, 1)
	digits := shifted(trim_left(concat("", [m[2], m[3]]), "0"), (rt.signed(rt.number(m[5]), trim_left(m[4], "+")) + 4) - count(m[3]))
}

shifted(digits, _) := "" if digits == ""

# No Long has more than 19 digits before its four places.
shifted(digits, by) := concat("", [digits, substring("00000000000000000000000", 0, by)]) if {
	digits != ""
	by >= 0
	by <= 23
}

shifted(digits, by) := substring(digits, 0, kept) if {
	digits != ""
	by < 0
	kept := count(digits) + by
	kept > 0
	trim_left(substring(digits, kept, -1), "0") == ""
}

measured(sign, digits) := rt.signed(rt.number(whole_part(digits)), sign) if is_whole(digits)

measured(sign, digits) := {"__extn": {"fn": "decimal", "v": rt.signed(rt.number(digits), sign)}} if not is_whole(digits)

is_whole(digits) if digits == ""

is_whole(digits) if endswith(digits, "0000")

whole_part(digits) := substring(digits, 0, max([0, count(digits) - 4]))

leaf(x) := entity(uid.type, uid.id) if {
	uid := x.__entity
	object.keys(x) == {"__entity"}
	object.keys(uid) == {"id", "type"}
}

leaf(x) := value if {
	call := x.__extn
	object.keys(x) == {"__extn"}
	object.keys(call) == {"arg", "fn"}
	value := constructed(call.fn, call.arg)
}

constructed("ip", text) := rt.ip(text)

constructed("decimal", text) := rt.decimal(text)

constructed("datetime", text) := rt.datetime_of(text)

constructed("duration", text) := rt.duration_of(text)

# An entity, unless the type is no name of Cedar.
entity(type, id) := uid(type, id) if is_name(type)

uid(type, id) := {"__entity": {"id": id, "type": type}} if is_string(id)

is_name(type) if regex.match(`\A[A-Za-z_][0-9A-Za-z_]*(::[A-Za-z_][0-9A-Za-z_]*)*\z`, type)

# ---- what a value lacks in Cedar

# True if a part of a value was left out.
partial(x) if {
	some path, member
	walk(x, [path, member])
	lost(count(path), member)
}

lost(_, x) if is_null(x)

lost(_, x) if {
	is_number(x)
	not leaf(x)
}

lost(_, x) if {
	is_object(x)
	not rt.record(x)
	not leaf(x)
}

# level8 has seven levels below it that are no leaves.
lost(8, x) if is_array(x)

lost(8, x) if {
	is_object(x)
	not leaf(x)
}

# True if a number of a value became a decimal, which no rule can compare with a Long.
fraction(x) if {
	walk(x, [_, member])
	fractional(member)
	leaf(member).__extn
}
