-- plan: expand
-- Client assertions that were used (RFC 7523 3, jti): each is accepted once, on whichever host. The primary key decides.
CREATE TABLE client_assertion (
    digest     bytea PRIMARY KEY,             -- SHA-256 of client_id, a line feed and jti
    expires_at timestamptz NOT NULL           -- the assertion itself is refused from then on
);
CREATE INDEX client_assertion_expiry ON client_assertion (expires_at);
