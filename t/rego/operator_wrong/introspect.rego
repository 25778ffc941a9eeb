# Hooks of types that depend on the input, and mostly are the wrong ones.
package custom.introspect

deny := input.request.deny

obligations := input.request.mcp

claims := input.subject.claims

extensions := input.client

block_scopes := input.scopes.requested

allow := input.authzen.context

context := input.authzen.context
