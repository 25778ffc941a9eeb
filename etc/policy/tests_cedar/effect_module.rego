# Generated from Cedar.
package svc.cedar.policies.r0123456789abcdef

import data.svc.cedar.rt

result := {"permits": permits, "forbids": forbids, "errors": errors}
permits contains id if some id in []
forbids contains id if some id in []
errors contains id if some id in []
forbidding := {"office", "writes", "audience", "weak", "frozen", "broken"}

# line 2
x2 := rt.same(input.cedar.action,{"__entity":{"id":"issue:access_token:client_credentials","type":"Action"}})
x1 := false if x2 == false
x1 := x3 if x2 == true
x3 := rt.neg(rt.is_in_range(rt.ip(rt.attr(rt.attr(input.cedar.context,"svc"),"ip")),{"__extn":{"fn":"ip","v":"4c0000200/024","vhi":"4c00002ff","vlo":"4c0000200"}}))
forbids contains "office" if x1 == true
d1 if is_boolean(x1)
errors contains "office" if not d1

# line 6
x5 := rt.same(input.cedar.principal,{"__entity":{"id":"crm","type":"Client"}})
x4 := false if x5 == false
x4 := x6 if x5 == true
x7 := rt.same(input.cedar.action,{"__entity":{"id":"issue:scope:orders.write","type":"Action"}})
x6 := false if x7 == false
x6 := x8 if x7 == true
x8 := rt.same(rt.attr(rt.attr(rt.attr(input.cedar.context,"svc"),"client"),"registration"),"DCR")
forbids contains "writes" if x4 == true
d4 if is_boolean(x4)
errors contains "writes" if not d4

# line 10
x10 := rt.same(input.cedar.action,{"__entity":{"id":"introspect","type":"Action"}})
x9 := false if x10 == false
x9 := x11 if x10 == true
x12 := rt.same(input.cedar.resource,{"__entity":{"id":"https://orders.example","type":"Audience"}})
x11 := false if x12 == false
x11 := x13 if x12 == true
x15 := rt.bool(rt.contains_(rt.attr(rt.attr(input.cedar.context,"svc"),"scopes"),"orders.write"))
x14 := false if x15 == false
x14 := x16 if x15 == true
x19 := input.cedar.context
x20 := rt.has(x19,"purpose")
x17 := x20
x16 := false if x17 == false
x16 := x18 if x17 == true
x18 := rt.same(rt.attr(input.cedar.context,"purpose"),"audit")
x13 := x14
forbids contains "audience" if x9 == true
d9 if is_boolean(x9)
errors contains "audience" if not d9

# line 14
x22 := rt.is(input.cedar.principal,"User")
x21 := false if x22 == false
x21 := x23 if x22 == true
x25 := rt.neg(rt.same(rt.attr(rt.attr(input.cedar.context,"svc"),"evaluation"),"authzen"))
x24 := false if x25 == false
x24 := x26 if x25 == true
x26 := rt.neg(rt.contains_(rt.attr(input.cedar.principal,"amr"),"otp"))
x23 := x24
forbids contains "weak" if x21 == true
d21 if is_boolean(x21)
errors contains "weak" if not d21

# line 18
x27 := rt.in_(input.cedar.resource,{"__entity":{"id":"frozen","type":"Folder"}})
forbids contains "frozen" if x27 == true
d27 if is_boolean(x27)
errors contains "frozen" if not d27

# line 21
x29 := rt.is(input.cedar.principal,"User")
x28 := false if x29 == false
x28 := x30 if x29 == true
x31 := rt.in_(input.cedar.action,{"__entity":{"id":"edit","type":"Action"}})
x30 := false if x31 == false
x30 := x32 if x31 == true
x33 := rt.is(input.cedar.resource,"todo")
x32 := false if x33 == false
x32 := x34 if x33 == true
x34 := rt.same(rt.attr(input.cedar.resource,"owner"),input.cedar.principal)
permits contains "owner" if x28 == true
d28 if is_boolean(x28)
errors contains "owner" if not d28

# line 25
x36 := rt.same(input.cedar.action,{"__entity":{"id":"shred","type":"Action"}})
x35 := false if x36 == false
x35 := x37 if x36 == true
x37 := rt.before(3,rt.attr(input.cedar.resource,"size"))
forbids contains "broken" if x35 == true
d35 if is_boolean(x35)
errors contains "broken" if not d35

# line 29
x39 := rt.in_(input.cedar.principal,{"__entity":{"id":"staff","type":"Group"}})
x38 := false if x39 == false
x38 := x40 if x39 == true
x41 := rt.same(input.cedar.action,{"__entity":{"id":"read","type":"Action"}})
x40 := false if x41 == false
x40 := x42 if x41 == true
x44 := rt.not_after(2,rt.attr(input.cedar.principal,"level"))
x43 := false if x44 == false
x43 := x45 if x44 == true
x45 := rt.same(rt.get_tag(input.cedar.principal,"site"),"north")
x42 := x43
permits contains "staff" if x38 == true
d38 if is_boolean(x38)
errors contains "staff" if not d38

path := "acme/effect.cedar"
