-- plan: expand; locks audit_checkpoint AccessExclusive
-- What the service sends of the audit log to other servers (doc/design/decisions.md "Audit stream"): the rows to a collector, and
-- the checkpoints to an address. One row for each.
CREATE TABLE audit_stream (
    name         text PRIMARY KEY,             -- rows or checkpoints
    up_to        bigint NOT NULL,              -- rows: those up to this id were sent, or are not to be sent
    lease        uuid,                         -- of the process that sends; NULL: none does
    leased_until timestamptz,
    tries        integer NOT NULL DEFAULT 0,   -- that failed, since the last one that did not
    next_at      timestamptz,                  -- nothing is sent before; NULL: at once
    held         boolean NOT NULL DEFAULT false, -- the server refuses the credential or has no such address
    error        text,                         -- of the last try, NULL: it was taken
    sent_at      timestamptz,                  -- something was taken
    sent         bigint NOT NULL DEFAULT 0,    -- rows that were taken
    rejected     bigint NOT NULL DEFAULT 0,    -- of those, that the collector says it did not keep
    skipped      bigint NOT NULL DEFAULT 0,    -- rows that the collector refused alone
    passed       bigint NOT NULL DEFAULT 0     -- rows that retention dropped before they were sent
);
ALTER TABLE audit_checkpoint ADD COLUMN posted_at timestamptz; -- posted to SVC_AUDIT_CHECKPOINT_URL, or a newer one was
ALTER TABLE audit_checkpoint ADD COLUMN cosigned text;         -- signature lines that were answered
