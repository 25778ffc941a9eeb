-- plan: expand; locks managed_resource ShareRowExclusive
-- URIs at MCP upstreams of whose changes clients are told (gateway-admin.md 1.15). A row stays while a stream or a subscription wants
-- it; the relays of all hosts see by its number of changes what they have to tell.
CREATE TABLE gateway_feed_uri (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    resource_id  bigint NOT NULL REFERENCES managed_resource (id) ON DELETE CASCADE,
    uri          text NOT NULL,              -- as the upstream knows it
    wanted_until timestamptz NOT NULL,
    changes      bigint NOT NULL DEFAULT 0,  -- that the upstream told of
    changed_at   timestamptz,
    UNIQUE (resource_id, uri)
);

-- The feeder that hears a resource: one of all hosts.
CREATE TABLE gateway_feed (
    resource_id bigint PRIMARY KEY REFERENCES managed_resource (id) ON DELETE CASCADE,
    holder      bytea NOT NULL,
    held_until  timestamptz NOT NULL
);
