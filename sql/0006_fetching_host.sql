-- plan: expand; locks fetched_document AccessExclusive; reads fetched_document
-- Hosts of client metadata that are being asked now: any caller can name many documents of one host, and this service must
-- not become many requests to it at a time. A row lives as long as its fetch.
CREATE TABLE fetching_host (
    host         text PRIMARY KEY,
    lease        bytea NOT NULL,       -- which fetch
    leased_until timestamptz NOT NULL  -- its process has died if the row is older
);

-- The order in which documents give way: those that never came first, then those that were not used for longest.
CREATE INDEX fetched_document_worth ON fetched_document (kind, (body IS NOT NULL), used_at);
DROP INDEX fetched_document_use;
