-- plan: expand; locks access_token AccessExclusive
-- A token that was exchanged for an ID token of an identity provider has no family. It lives only while the provider is
-- enabled, as the tokens of a family do.

ALTER TABLE access_token ADD COLUMN idp bigint;  -- identity_provider.id; NULL: the family has it, or there is none
