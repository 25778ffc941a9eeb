-- plan: expand; locks managed_resource ShareRowExclusive
-- Access tokens of the gateway at upstreams (upstreamAuth of type client_credentials): one for all workers and hosts.
CREATE TABLE upstream_token (
    resource_id  bigint PRIMARY KEY REFERENCES managed_resource (id) ON DELETE CASCADE,
    version      bigint NOT NULL,      -- of the resource for which it was fetched; a save ends its use
    token_sealed bytea NOT NULL,       -- AES-256-GCM, bound to this row
    expires_at   timestamptz NOT NULL
);
