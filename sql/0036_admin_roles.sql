-- plan: expand; locks admin_key AccessExclusive; reads admin_key
-- What an admin key may do, until when, and who made it (gateway-admin.md 3.9). A key of before may do everything.
ALTER TABLE admin_key
    ADD COLUMN role         text NOT NULL DEFAULT 'owner' CHECK (role IN ('auditor', 'operator', 'owner')),
    ADD COLUMN expires_at   timestamptz,      -- NULL: it does not end by itself
    ADD COLUMN last_used_at timestamptz,      -- of the last minute in which it was used
    ADD COLUMN created_by   text,             -- label of the key that made it; NULL: a setting, or made before this column
    ADD CONSTRAINT admin_key_configured CHECK (managed_by <> 'environment' OR (role = 'owner' AND expires_at IS NULL));

-- AdminApiKeyView (specification 2.8)
CREATE OR REPLACE VIEW admin_key_dto AS
SELECT id, label, managed_by AS "managedBy", created_at AS "createdAt", revoked_at AS "revokedAt",
       role, expires_at AS "expiresAt", last_used_at AS "lastUsedAt", created_by AS "createdBy"
  FROM admin_key;

-- Sessions of the console: an admin key exchanged for a cookie. A session ends with its key.
CREATE TABLE admin_session (
    id_hash      bytea PRIMARY KEY,           -- SHA-256 of the cookie
    admin_key    uuid NOT NULL REFERENCES admin_key (id) ON DELETE CASCADE,
    role         text NOT NULL,               -- of the key at sign-in; another one since ends the session
    created_at   timestamptz NOT NULL DEFAULT now(),
    last_seen_at timestamptz NOT NULL DEFAULT now()
);
