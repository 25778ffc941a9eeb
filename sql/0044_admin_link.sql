-- plan: expand; locks admin_key ShareRowExclusive
-- One-time links that sign a browser in to the console with the rights of an admin key (gateway-admin.md 3.9). The row is deleted
-- as the link is used.
CREATE TABLE admin_link (
    id_hash     bytea PRIMARY KEY,           -- SHA-256 of the secret in the link
    admin_key   uuid NOT NULL REFERENCES admin_key (id) ON DELETE CASCADE,
    issuer      text NOT NULL,               -- of the service that made it; no other one takes it
    created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX admin_link_key ON admin_link (admin_key);
