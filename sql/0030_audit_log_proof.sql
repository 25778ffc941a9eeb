-- plan: expand; locks signing_key AccessExclusive; reads signing_key
-- The log over all audit rows (doc/design/decisions.md "An audit that proves itself"): a Merkle tree in the order of ids.
-- Read rows as one log: ids come in the order in which they are given out.
ALTER TABLE signing_key DROP CONSTRAINT signing_key_use_check;
ALTER TABLE signing_key ADD CONSTRAINT signing_key_use_check CHECK (use IN ('oidc', 'statement', 'audit'));
ALTER SEQUENCE audit_id_seq CACHE 1;

-- How far the log reaches. One row; none before the first seal.
CREATE TABLE audit_log_state (
    id    boolean PRIMARY KEY DEFAULT true CHECK (id),
    epoch integer NOT NULL,
    size  bigint NOT NULL,                    -- leaves: rows and notes
    up_to bigint NOT NULL,                    -- rows up to this id are leaves, or were there before the log began
    kid   text                                -- key that the last note of a key names
);

-- Tiles of height 8 (C2SP tlog-tiles). Level 0 has the leaves.
CREATE TABLE audit_tile (
    epoch  integer NOT NULL,
    level  smallint NOT NULL,
    n      bigint NOT NULL,
    width  smallint NOT NULL CHECK (width BETWEEN 1 AND 256),
    hashes bytea NOT NULL,                    -- SHA-256, width of them
    leaves bytea,                             -- level 0: for each leaf the id and the day, as differences (varint)
    PRIMARY KEY (epoch, level, n)
);

-- Leaves that are no rows, as the line that was hashed.
CREATE TABLE audit_note (
    epoch integer NOT NULL,
    leaf  bigint NOT NULL,
    line  text NOT NULL,
    PRIMARY KEY (epoch, leaf)
);

CREATE TABLE audit_checkpoint (
    epoch    integer NOT NULL,
    size     bigint NOT NULL,
    note     text NOT NULL,                   -- signed
    made_at  timestamptz NOT NULL DEFAULT now(),
    filed_at timestamptz,                     -- appended to SVC_AUDIT_CHECKPOINT_FILE
    PRIMARY KEY (epoch, size)
);
