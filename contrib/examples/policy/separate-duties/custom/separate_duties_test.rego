package custom.separate_duties_test

both := ["payments.create", "payments.approve"]

reasons(scopes) := {r.code |
	some r in data.svc.decision.issue.deny with input as {"evaluation": "issue", "scopes": scopes}
}

test_both if "duties_not_separate" in reasons({"requested": both})

test_both_of_three if "duties_not_separate" in reasons({"requested": array.concat(["orders.read"], both)})

test_both_by_default if "duties_not_separate" in reasons({"default": both})

test_one if {
	every scope in both {
		not "duties_not_separate" in reasons({"requested": [scope]})
	}
}

# The requested scopes count, not the default ones.
test_one_of_the_default if not "duties_not_separate" in reasons({"requested": ["payments.create"], "default": both})

test_none if not "duties_not_separate" in reasons({"requested": [], "default": []})
