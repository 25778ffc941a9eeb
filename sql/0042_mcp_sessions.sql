-- plan: expand
-- Sessions of older MCP clients (gateway-admin.md 1.13). All that a session is stands in its sealed id; a row is made when there is
-- more to know of it: the level of its log, or that it was ended.
CREATE TABLE gateway_session (
    id         bytea PRIMARY KEY CHECK (octet_length(id) = 16),
    owner_hash bytea NOT NULL CHECK (octet_length(owner_hash) = 32), -- SHA-256 of subject, provider and client
    log_level  smallint CHECK (log_level BETWEEN 0 AND 7),           -- 0: debug, 7: emergency; NULL: none was set
    ended_at   timestamptz,                                          -- the client ended it
    expires_at timestamptz NOT NULL                                  -- that of the id: the row is of no use then
);
CREATE INDEX gateway_session_owner ON gateway_session (owner_hash);
CREATE INDEX gateway_session_expires ON gateway_session (expires_at);
