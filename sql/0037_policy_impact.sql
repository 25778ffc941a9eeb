-- plan: expand
-- Measurements of what a candidate of the policy would have decided (doc/design/policy.md 7). A run writes its progress here, and its result.
CREATE TABLE policy_impact (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    made_at    timestamptz NOT NULL DEFAULT now(),
    ended_at   timestamptz,
    who        text NOT NULL,                 -- label of the admin key, or authzctl
    state      text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done', 'failed')),
    base       text NOT NULL,                 -- revisions
    candidate  text NOT NULL,
    selection  text NOT NULL,                 -- of decisions: JSON
    looked     bigint NOT NULL DEFAULT 0,     -- decisions so far
    result     text,                          -- JSON, at most 1 MiB
    note       text                           -- why it failed
);
