-- plan: expand; locks gateway_session AccessExclusive
-- Subscriptions of sessions of older MCP clients (resources/subscribe; gateway-admin.md 1.13). The stream of a session that began
-- before a change ends, and the client opens it again with the URIs of then.
ALTER TABLE gateway_session
    ADD COLUMN uris    text[] NOT NULL DEFAULT '{}', -- as the client wrote them
    ADD COLUMN changes bigint NOT NULL DEFAULT 0;    -- of uris
