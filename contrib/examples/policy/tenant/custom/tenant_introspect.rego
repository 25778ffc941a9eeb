# Obligations tell the API what it must do: here, to show the rows of this tenant only.
package custom.introspect

obligations["tenant"] := input.baseline.claims.tenant
