-- plan: expand; locks admin_session AccessExclusive, browser_session ShareRowExclusive, delegation Share; reads admin_session, delegation
-- Sessions of the console of people who signed in at an identity provider (gateway-admin.md 3.9). A session is of a key or
-- of a sign-in, and ends with it.
ALTER TABLE admin_session
    ALTER COLUMN admin_key DROP NOT NULL,
    ADD COLUMN sign_in bytea REFERENCES browser_session (id_hash) ON DELETE CASCADE,
    ADD CONSTRAINT admin_session_of_one CHECK (num_nonnulls(admin_key, sign_in) = 1);
CREATE INDEX admin_session_sign_in ON admin_session (sign_in);

-- The account page lists what a person delegated, of all clients.
CREATE INDEX delegation_grantor ON delegation (grantor_subject);
