# No token has both payments.create and payments.approve. The client must request them one at a time.
package custom.issue

deny contains {
	"code": "duties_not_separate", "category": "scope",
	"message": "payments.create and payments.approve must be requested separately",
} if {
	duties := {"payments.create", "payments.approve"}
	duties & duties_asked == duties
}

duties_asked contains scope if some scope in input.scopes.requested

# A request without the parameter scope asks for the default scopes.
duties_asked contains scope if {
	not input.scopes.requested
	some scope in input.scopes.default
}
