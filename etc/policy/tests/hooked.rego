# A hook of an operator. `with` puts a value in the place of a hook, and so cannot tell how often the hook is
# asked and what it sees.
package custom.authzen

context := {"n": input.authzen.context.n, "evaluation": input.evaluation} if input.request.id == "hooked"
