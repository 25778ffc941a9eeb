-- plan: expand; locks signing_key AccessExclusive; reads signing_key
-- JWT access tokens are signed by keys of their own (doc/design/world.md T2).
ALTER TABLE signing_key DROP CONSTRAINT signing_key_use_check;
ALTER TABLE signing_key ADD CONSTRAINT signing_key_use_check CHECK (use IN ('oidc', 'statement', 'audit', 'access'));
