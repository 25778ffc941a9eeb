-- plan: expand; locks client AccessExclusive
-- The administrator's demand that a confidential client sends a code_challenge (RFC 7636). A public client sends one anyway.
ALTER TABLE client ADD COLUMN pkce_required boolean NOT NULL DEFAULT false;
