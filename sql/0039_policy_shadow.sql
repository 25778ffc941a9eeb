-- plan: expand
-- Shadows of the policy: a change that decides nothing, and what it would have decided (doc/design/policy.md 7.2).
CREATE TABLE policy_shadow (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    made_at     timestamptz NOT NULL DEFAULT now(),
    ends_at     timestamptz NOT NULL,
    ended_at    timestamptz,
    who         text NOT NULL,                -- label of the admin key, or authzctl
    ended_by    text,                         -- so; NULL: at ends_at
    message     text,
    state       text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'promoted', 'dropped', 'expired')),
    change      text NOT NULL,                -- a deploy: JSON
    rate        integer NOT NULL CHECK (rate > 0), -- one of so many decisions is compared
    base        text NOT NULL,                -- revisions, as the shadow was last made
    candidate   text NOT NULL,
    note        text,                         -- why it cannot be made of the policy of now
    reported_at timestamptz,                  -- of the newest report of a host
    result      text                          -- counts of all hosts: JSON, at most 1 MiB
);
CREATE UNIQUE INDEX policy_shadow_one ON policy_shadow (state) WHERE state = 'active';
