-- plan: expand; locks token_grant AccessExclusive
-- DPoP keys (RFC 9449; thumbprints of RFC 7638) of a family: dpop_jkt as the authorization request named it binds the code, jkt
-- binds the refresh tokens of a public client. They are two: a code that was redeemed is judged as before, or its replay by the
-- rightful client would look like the wrong key instead of ending the family of the thief.
ALTER TABLE token_grant ADD COLUMN dpop_jkt text, ADD COLUMN jkt text;

-- DPoP proofs that were used: SHA-256 of key, address and jti.
CREATE TABLE dpop_proof (
    hash      bytea PRIMARY KEY,
    forget_at timestamptz NOT NULL
);
CREATE INDEX dpop_proof_forget_at ON dpop_proof (forget_at);
