# The runtime of rules that were generated from Cedar. An error of Cedar is an undefined value here, so each function
# is undefined for the arguments that Cedar refuses. Nothing here uses `not` on a value: it would turn an error into true.
#
# Bool, Long and String are JSON scalars, a record is an object, an entity is {"__entity": {"type", "id"}}, a value of an
# extension type is {"__extn": {"fn", "v"}}, and a set is an array that is sorted and has each member once.
# An entity is an object {"attrs", "tags", "anc"}, and `anc` is an object by the keys of its ancestors. Those of the
# question are in input.cedar.entities and all others in data.svc.cedar_data.entities, each by its key.
package svc.cedar.rt

# No function has the name of an operator (eq, lt, minus, mul ...): the operator would call it.

# Undefined: the value of an expression that cannot have one.
error if 1 == 2

bool(x) := x if is_boolean(x)

# `x == true` as a body would make the checker of types refuse each call with a value that is no Bool.
neg(x) := r if {
	is_boolean(x)
	r := x == false
}

same(x, y) := r if r := x == y

before(x, y) := r if {
	is_number(x)
	is_number(y)
	r := x < y
}

before(x, y) := r if {
	fn := x.__extn.fn
	fn in {"datetime", "duration"}
	y.__extn.fn == fn
	r := x.__extn.v < y.__extn.v
}

not_after(x, y) := neg(before(y, x))

# ---- arithmetic of 64 bits ----

long(x) := x if {
	x >= -9223372036854775808
	x <= 9223372036854775807
}

sum_of(x, y) := long(x + y) if {
	is_number(x)
	is_number(y)
}

difference(x, y) := long(x - y) if {
	is_number(x)
	is_number(y)
}

product_of(x, y) := long(x * y) if {
	is_number(x)
	is_number(y)
}

opposite(x) := long(0 - x) if is_number(x)

# ---- entities, attributes and tags ----

# A type has no quote, so no two entities have the same key.
key(x) := concat("::\"", [x.__entity.type, x.__entity.id])

known(k) := entity if {
	entity := input.cedar.entities[k]
} else := entity if {
	entity := data.svc.cedar_data.entities[k]
} else := {}

record(x) if {
	is_object(x)
	object.get(x, "__entity", null) == null
	object.get(x, "__extn", null) == null
}

below(k, above) if k == above

below(k, above) := r if {
	k != above
	anc := object.get(known(k), "anc", {})
	r := object.get(anc, above, false)
}

in_(x, y) := r if {
	k := key(x)
	r := below(k, key(y))
}

in_(x, y) := r if {
	k := key(x)
	is_array(y)
	keys := [key(m) | some m in y]
	count(keys) == count(y)
	found := [m | some m in keys; below(k, m) == true]
	r := count(found) > 0
}

is(x, type) := r if r := x.__entity.type == type

# No value is null.
has(x, name) := r if {
	record(x)
	r := object.get(x, name, null) != null
}

has(x, name) := r if {
	attrs := object.get(known(key(x)), "attrs", {})
	r := object.get(attrs, name, null) != null
}

attr(x, name) := x[name] if record(x)

attr(x, name) := known(key(x)).attrs[name]

has_tag(x, name) := r if {
	is_string(name)
	tags := object.get(known(key(x)), "tags", {})
	r := object.get(tags, name, null) != null
}

get_tag(x, name) := known(key(x)).tags[name] if is_string(name)

# ---- strings and sets ----

like(x, pattern) := r if {
	is_string(x)
	r := regex.match(pattern, x)
}

contains_(x, y) := r if {
	is_array(x)
	r := y in x
}

shared(x, y) := n if {
	is_array(x)
	is_array(y)
	n := count([m | some m in y; m in x])
}

contains_all(x, y) := r if r := shared(x, y) == count(y)

contains_any(x, y) := r if r := shared(x, y) > 0

is_empty(x) := r if {
	is_array(x)
	r := count(x) == 0
}

# ---- decimal ----

decimal_v(x) := x.__extn.v if x.__extn.fn == "decimal"

less(x, y) := r if r := decimal_v(x) < decimal_v(y)

less_equal(x, y) := r if r := decimal_v(x) <= decimal_v(y)

greater(x, y) := less(y, x)

greater_equal(x, y) := less_equal(y, x)

# ---- ip: vlo and vhi are the first and the last address of the range, after 4 or 6 and in digits of fixed width ----

ip_range(x) := x.__extn if x.__extn.fn == "ip"

is_ipv4(x) := r if r := startswith(ip_range(x).vlo, "4")

is_ipv6(x) := r if r := startswith(ip_range(x).vlo, "6")

within(x, lo, hi) := count([1 | x.vlo >= lo; x.vhi <= hi]) == 1

is_in_range(x, y) := r if {
	outer := ip_range(y)
	r := within(ip_range(x), outer.vlo, outer.vhi)
}

is_loopback(x) := within(ip_range(x), "47f000000", "47fffffff") if is_ipv4(x) == true

is_loopback(x) := within(ip_range(x), loopback, loopback) if is_ipv6(x) == true

loopback := "600000000000000000000000000000001"

is_multicast(x) := within(ip_range(x), "4e0000000", "4efffffff") if is_ipv4(x) == true

is_multicast(x) := r if {
	is_ipv6(x) == true
	r := within(ip_range(x), "6ff000000000000000000000000000000", "6ffffffffffffffffffffffffffffffff")
}

# ---- datetime and duration, in milliseconds ----

day := 86400000

datetime_v(x) := x.__extn.v if x.__extn.fn == "datetime"

duration_v(x) := x.__extn.v if x.__extn.fn == "duration"

datetime(v) := {"__extn": {"fn": "datetime", "v": v}}

duration(v) := {"__extn": {"fn": "duration", "v": v}}

offset(x, y) := datetime(sum_of(datetime_v(x), duration_v(y)))

duration_since(x, y) := duration(difference(datetime_v(x), datetime_v(y)))

time_of_day(x) := ((datetime_v(x) % day) + day) % day

to_date(x) := datetime(difference(datetime_v(x), time_of_day(x)))

to_time(x) := duration(time_of_day(x))

# Division towards zero.
units(v, unit) := (v - (v % unit)) / unit

to_milliseconds(x) := duration_v(x)

to_seconds(x) := units(duration_v(x), 1000)

to_minutes(x) := units(duration_v(x), 60000)

to_hours(x) := units(duration_v(x), 3600000)

to_days(x) := units(duration_v(x), day)

# ---- constructors, for arguments that are no literals; literals are values in the generated rules ----

number(digits) := 0 if trim_left(digits, "0") == ""

number(digits) := to_number(trim_left(digits, "0")) if trim_left(digits, "0") != ""

signed(n, sign) := long(n) if sign == ""

signed(n, sign) := long(0 - n) if sign == "-"

decimal(x) := {"__extn": {"fn": "decimal", "v": v}} if {
	is_string(x)
	some m in regex.find_all_string_submatch_n(`\A(-?)([0-9]+)\.([0-9]{1,4})\z`, x, 1)
	fraction := substring(concat("", [m[3], "000"]), 0, 4)
	v := signed(number(concat("", [m[2], fraction])), m[1])
}

duration_of(x) := duration(v) if {
	is_string(x)
	not x in {"", "-"}
	some m in regex.find_all_string_submatch_n(
		`\A(-?)(?:([0-9]+)d)?(?:([0-9]+)h)?(?:([0-9]+)m)?(?:([0-9]+)s)?(?:([0-9]+)ms)?\z`,
		x,
		1,
	)
	total := ((((number(m[2]) * day) + (number(m[3]) * 3600000)) + (number(m[4]) * 60000)) + (number(m[5]) * 1000)) + number(m[6])
	v := signed(total, m[1])
}

days_of_month(year, month) := 29 if {
	month == 2
	leap(year)
}

days_of_month(year, month) := 28 if {
	month == 2
	not leap(year)
}

days_of_month(_, month) := 30 if month in {4, 6, 9, 11}

days_of_month(_, month) := 31 if month in {1, 3, 5, 7, 8, 10, 12}

leap(year) if {
	year % 4 == 0
	year % 100 != 0
}

leap(year) if year % 400 == 0

# Days from 1970-01-01. The year begins in March; 400 years more keep it positive.
days(year, month, date) := n if {
	y := (year + 400) - count([1 | month <= 2])
	of_year := (units((153 * ((month + 9) % 12)) + 2, 5) + date) - 1
	n := (((((365 * y) + units(y, 4)) - units(y, 100)) + units(y, 400)) + of_year) - 865565
}

zone(_, _, sign) := 0 if sign == ""

zone(hour, minute, sign) := (hour * 60) + minute if sign == "-"

zone(hour, minute, sign) := 0 - ((hour * 60) + minute) if sign == "+"

datetime_of(x) := datetime(v) if {
	is_string(x)
	some m in regex.find_all_string_submatch_n(
		`\A([0-9]{4})-([0-9]{2})-([0-9]{2})(?:T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{3}))?(?:Z|([+-])([0-9]{2})([0-9]{2})))?\z`,
		x,
		1,
	)
	n := {i: number(m[i]) | some i in {1, 2, 3, 4, 5, 6, 7, 9, 10}}
	n[3] >= 1
	n[3] <= days_of_month(n[1], n[2])
	n[4] <= 23
	n[5] <= 59
	n[6] <= 59
	n[9] <= 23
	n[10] <= 59
	minutes := ((((days(n[1], n[2], n[3]) * 24) + n[4]) * 60) + n[5]) + zone(n[9], n[10], m[8])
	v := (((minutes * 60) + n[6]) * 1000) + n[7]
}

# An address is a list of groups: four of 8 bits or eight of 16 bits.
ip(x) := ip_of("4", groups, 8, "%02x", m[2], 32) if {
	is_string(x)
	some m in regex.find_all_string_submatch_n(`\A([0-9.]{7,15})(?:/(0|[1-9][0-9]?))?\z`, x, 1)
	texts := split(m[1], ".")
	count(texts) == 4
	groups := [number(t) | some t in texts; regex.match(`\A(?:0|[1-9][0-9]{0,2})\z`, t); number(t) <= 255]
	count(groups) == 4
}

ip(x) := ip_of("6", groups, 16, "%04x", m[2], 128) if {
	is_string(x)
	some m in regex.find_all_string_submatch_n(`\A([0-9A-Fa-f:]{2,39})(?:/(0|[1-9][0-9]{0,2}))?\z`, x, 1)
	contains(m[1], ":")
	texts := split(m[1], "::")
	halves := [groups_of(half) | some half in texts]
	count(halves) == count(texts)
	groups := joined(halves)
}

groups_of(half) := [] if half == ""

groups_of(half) := groups if {
	half != ""
	texts := split(half, ":")
	groups := [hex_number(t) | some t in texts]
	count(groups) == count(texts)
}

joined(halves) := halves[0] if {
	count(halves) == 1
	count(halves[0]) == 8
}

joined(halves) := array.concat(array.concat(halves[0], zeros), halves[1]) if {
	count(halves) == 2
	missing := (8 - count(halves[0])) - count(halves[1])
	missing >= 1
	zeros := [0 | some _ in numbers.range(1, missing)]
}

hex_digit := {
	"0": 0, "1": 1, "2": 2, "3": 3, "4": 4, "5": 5, "6": 6, "7": 7,
	"8": 8, "9": 9, "a": 10, "b": 11, "c": 12, "d": 13, "e": 14, "f": 15,
}

hex_number(text) := (((hex_digit[d[0]] * 4096) + (hex_digit[d[1]] * 256)) + (hex_digit[d[2]] * 16)) + hex_digit[d[3]] if {
	regex.match(`\A[0-9A-Fa-f]{1,4}\z`, text)
	padded := lower(concat("", ["000", text]))
	d := split(substring(padded, count(padded) - 4, 4), "")
}

ip_of(version, groups, bits, format, prefix_text, longest) := {"__extn": {
	"fn": "ip",
	"v": sprintf("%s%s/%03d", [version, hex(groups, format), prefix]),
	"vlo": concat("", [version, hex(low, format)]),
	"vhi": concat("", [version, hex(high, format)]),
}} if {
	prefix := prefix_of(prefix_text, longest)
	prefix <= longest
	free := [f | some i, _ in groups; f := power[min([bits, max([0, (bits * (i + 1)) - prefix])])]]
	low := [v | some i, g in groups; v := g - (g % free[i])]
	high := [v | some i, g in low; v := (g + free[i]) - 1]
}

prefix_of(text, longest) := longest if text == ""

prefix_of(text, _) := number(text) if text != ""

hex(groups, format) := concat("", [sprintf(format, [g]) | some g in groups])

power := [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536]
