-- plan: expand; locks access_token Share, client AccessExclusive, refresh_token Share, subject AccessExclusive, token_grant AccessExclusive; reads access_token, refresh_token
-- All tokens of a person or a client are revoked by one write, and found by the person.

-- Tokens with an older audit_id, and families with an older number, are revoked: the id of the audit row of the revocation.
-- One sequence orders them all, so no clock decides.
ALTER TABLE client ADD COLUMN revoked_before bigint NOT NULL DEFAULT 0;
ALTER TABLE subject ADD COLUMN revoked_before bigint NOT NULL DEFAULT 0;

-- The families that are there have number 0, without a write to their rows.
ALTER TABLE token_grant ADD COLUMN number bigint NOT NULL DEFAULT 0;
ALTER TABLE token_grant ALTER COLUMN number SET DEFAULT nextval('audit_id_seq');

-- For lists. A client's own tokens have no subject, and are in none of these. Texts are compared octet by octet.
CREATE INDEX access_token_subject ON access_token (subject text_pattern_ops) WHERE subject IS NOT NULL;
CREATE INDEX refresh_token_grant ON refresh_token (grant_id);
