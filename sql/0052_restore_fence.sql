-- plan: expand
-- The time of the last `authzctl restore-fence`: a restored database has forgotten which client assertions and DPoP proofs were used,
-- so none that may be from before this time is accepted. One row, or none.
CREATE TABLE restore_fence (
    only_row  boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    fenced_at timestamptz NOT NULL
);
