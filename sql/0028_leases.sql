-- plan: expand; locks gateway_connection AccessExclusive, upstream_token AccessExclusive
-- Leases in place of locks: a request to another server is made outside of transactions, and a process that dies leaves a lease
-- that ends.
ALTER TABLE gateway_connection ADD COLUMN refreshing_until timestamptz; -- a process refreshes the tokens; NULL: none does
ALTER TABLE upstream_token ADD COLUMN fetching_until timestamptz;       -- a process fetches the token; NULL: none does
-- Scopes besides those of upstreamAuth that the person was asked for when the account was connected: the upstream wanted them.
ALTER TABLE gateway_connection ADD COLUMN asked_scopes text[] NOT NULL DEFAULT '{}';
