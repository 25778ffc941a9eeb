-- plan: expand; locks managed_resource AccessExclusive
-- What a sync read of an MCP upstream beside its tools (gateway-admin.md 1.7). A program without this table serves none of it.
CREATE TABLE gateway_listing (
    resource_id     bigint NOT NULL REFERENCES managed_resource (id) ON DELETE CASCADE,
    kind            text NOT NULL CHECK (kind IN ('prompt')),
    key             text NOT NULL,             -- name at the upstream
    entry           json NOT NULL,             -- as the upstream described it last
    seen_sha256     text NOT NULL,             -- of that description
    approved_sha256 text,                      -- of the description that was approved; NULL: none was
    listed          boolean NOT NULL,          -- false: the upstream lists it no longer
    seen_at         timestamptz NOT NULL,
    PRIMARY KEY (resource_id, kind, key)
);

-- The first sync that is stored approves what it finds.
ALTER TABLE managed_resource ADD COLUMN prompts_synced_at timestamptz;
