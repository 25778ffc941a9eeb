-- plan: expand; locks client ShareRowExclusive
-- Sign-ins that ended because a refresh token was used by two programs, or was stolen: one row for each client, for the overview.
CREATE TABLE sign_in_shared (
    client   bigint PRIMARY KEY REFERENCES client ON DELETE CASCADE,
    first_at timestamptz NOT NULL,
    last_at  timestamptz NOT NULL,
    n        bigint NOT NULL
);

-- What sign-ins ended by in the last 24 hours: faults of identity providers, and these ends, at most 20 of each (ATTENTION_LISTED).
CREATE VIEW recent_trouble AS
(SELECT 'provider_fault' AS kind, idp_id AS name, n, code AS detail, first_at
   FROM recent_fault WHERE enabled ORDER BY last_at DESC LIMIT 20)
UNION ALL
(SELECT 'sign_ins_shared', c.client_id, s.n, NULL, s.first_at FROM sign_in_shared s JOIN client c ON c.id = s.client
  WHERE s.last_at > now() - interval '24 hours' ORDER BY s.n DESC, c.client_id LIMIT 20);
