# Clients that register themselves have redirect URIs at example.org and its subdomains, or on the user's own machine.
package custom.register

deny contains {
	"code": "redirect_uri_foreign", "category": "registration",
	"message": "a redirect URI is not in a domain of this organisation",
} if {
	some uri in input.registration.redirect_uris
	not domain_ok(uri)
}

domain_ok(uri) if uri.loopback

# The pattern covers the address up to the path, so that nothing before it can be taken for the host.
domain_ok(uri) if regex.match(`^https://([a-z0-9-]+\.)*example\.org(:[0-9]+)?/`, uri.uri)
