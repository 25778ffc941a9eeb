# A hook of a type that depends on the input, and mostly is the wrong one.
package custom.admin

deny := input.admin
