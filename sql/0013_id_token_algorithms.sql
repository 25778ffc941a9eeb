-- plan: expand; locks client AccessExclusive, signing_key AccessExclusive; reads client, signing_key
-- Each use has an active and a next key for every algorithm that it signs by.
ALTER TABLE signing_key ADD COLUMN alg text NOT NULL DEFAULT 'RS256' CHECK (alg IN ('RS256', 'ES256'));
DROP INDEX signing_key_active;
DROP INDEX signing_key_next;
CREATE UNIQUE INDEX signing_key_active ON signing_key (use, alg) WHERE state = 'active';
CREATE UNIQUE INDEX signing_key_next ON signing_key (use, alg) WHERE state = 'next';

-- The algorithm that the client asks for; NULL means RS256 (OpenID Connect Dynamic Client Registration 2).
ALTER TABLE client ADD COLUMN id_token_signed_response_alg text CHECK (id_token_signed_response_alg IN ('RS256', 'ES256'));
