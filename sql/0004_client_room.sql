-- plan: expand; locks client AccessExclusive; reads client
-- Room for clients that register themselves: each registration type is counted on its own, and the oldest client that
-- never had a token makes room for a new one.

-- Counts one registration type, and finds its oldest client. It replaces client_dynamic, which had all types together.
CREATE INDEX client_registered ON client (registration_type, created_at);
DROP INDEX client_dynamic;

-- Who registered the client: HMAC-SHA-256 of the address (of IPv6 its /64) under a key that is not in the database.
-- NULL: made in another way. The row may live for years, the address is kept in the audit log alone, as long as that is
-- kept; a plain hash of an IPv4 address is found by trying all of them.
ALTER TABLE client ADD COLUMN registered_from bytea;
CREATE INDEX client_registered_from ON client (registered_from, created_at) WHERE registered_from IS NOT NULL;
