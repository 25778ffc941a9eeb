package custom.introspect

deny contains {"code": "stale", "category": "token"} if input.request.now - input.token.iat > 3000

deny contains r if {
	some r in object.get(input.context, "reasons", [])
}

obligations["log"] := sort(array.concat(input.token.scopes, ["all"]))

claims["issued"] := time.format(input.token.iat * 1000000000)

extensions["share"] := round(input.request.now / 60)
