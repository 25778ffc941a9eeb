-- plan: expand; locks upstream_token AccessExclusive; reads upstream_token
-- Tokens of persons at upstreams (upstreamAuth of type token_exchange) beside those of the service itself.
ALTER TABLE upstream_token ADD COLUMN owner bytea NOT NULL DEFAULT '';  -- SHA-256 of person and client; empty: the service
ALTER TABLE upstream_token DROP CONSTRAINT upstream_token_pkey, ADD PRIMARY KEY (resource_id, owner);
CREATE INDEX upstream_token_expires_at ON upstream_token (expires_at);
