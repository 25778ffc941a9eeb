-- plan: expand; locks gateway_listing AccessExclusive, managed_resource AccessExclusive; reads gateway_listing
-- The instructions of an MCP upstream, which a sync stores as it stores prompts (gateway-admin.md 1.14). An earlier program reads prompts alone.
ALTER TABLE gateway_listing DROP CONSTRAINT gateway_listing_kind_check;
ALTER TABLE gateway_listing ADD CONSTRAINT gateway_listing_kind_check CHECK (kind IN ('prompt', 'instructions'));

-- The first sync that is stored approves what it finds.
ALTER TABLE managed_resource ADD COLUMN instructions_synced_at timestamptz;
