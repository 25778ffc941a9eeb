-- plan: expand; locks audit_log Share; reads audit_log
-- Audit rows can be found and counted. Building the indexes takes some seconds for a million rows, in which nothing can
-- write audit rows.

-- An audit row is looked for by its request, its flow, its client or its subject. The newest comes first, and id grows with
-- time. Texts are compared octet by octet (text_pattern_ops): the rules of a language cost several times as much.
CREATE INDEX audit_log_request ON audit_log (request_id text_pattern_ops, id);
CREATE INDEX audit_log_flow ON audit_log (flow_id, id) WHERE flow_id IS NOT NULL;
CREATE INDEX audit_log_client ON audit_log (client_id text_pattern_ops, id) WHERE client_id IS NOT NULL;
CREATE INDEX audit_log_subject ON audit_log (subject_id text_pattern_ops, id) WHERE subject_id IS NOT NULL;
-- Few rows have another outcome than `allowed`, and few are of another endpoint than these; so the rows of /token and
-- /introspect are not in these two indexes. The statements of store/audit/rows.c repeat the conditions.
CREATE INDEX audit_log_outcome ON audit_log (outcome text_pattern_ops, id) WHERE outcome <> 'allowed';
CREATE INDEX audit_log_endpoint ON audit_log (endpoint text_pattern_ops, id)
    WHERE endpoint NOT IN ('/token', '/introspect', '/userinfo', '/access/v1/evaluation', '/access/v1/evaluations');

-- Numbers of audit rows by day (UTC), summed by housekeeping (store/audit/counts.c). A row is here when its id is at most
-- audit_cut.up_to, and is counted where it lies until then.
CREATE TABLE audit_cut (
    one    boolean PRIMARY KEY DEFAULT true CHECK (one),
    up_to  bigint NOT NULL,
    cut_at timestamptz NOT NULL               -- rows with a larger id were written after this
);

CREATE TABLE audit_count (
    client_id text NOT NULL,                  -- '': all clients together, and the rows without one
    day       date NOT NULL,
    endpoint  text NOT NULL,
    outcome   text NOT NULL,
    decision  boolean NOT NULL,               -- policy was asked
    n         bigint NOT NULL,
    PRIMARY KEY (client_id, day, endpoint, outcome, decision)
) WITH (fillfactor = 70);                     -- the rows of today are updated once a minute
CREATE INDEX audit_count_day ON audit_count (day);

-- Reasons of denials. A denial with two reasons counts for each.
CREATE TABLE denial_count (
    client_id text NOT NULL,                  -- '': all clients together
    day       date NOT NULL,
    code      text NOT NULL,
    n         bigint NOT NULL,
    PRIMARY KEY (client_id, day, code)
);
CREATE INDEX denial_count_day ON denial_count (day);

-- The rows that are there. The indexes above have locked all days, so no row is written meanwhile.
CREATE TEMPORARY TABLE written ON COMMIT DROP AS
SELECT client_id, (created_at AT TIME ZONE 'UTC')::date AS day, endpoint, outcome, policy_input IS NOT NULL AS decision,
       CASE WHEN outcome = 'denied' THEN request_summary::json ->> 'denyCodes' END AS codes
  FROM audit_log;
INSERT INTO audit_count (client_id, day, endpoint, outcome, decision, n)
SELECT coalesce(client_id, ''), day, endpoint, outcome, decision, count(*) FROM written
 GROUP BY GROUPING SETS ((client_id, day, endpoint, outcome, decision), (day, endpoint, outcome, decision))
HAVING GROUPING(client_id) = 1 OR client_id IS NOT NULL;
INSERT INTO denial_count (client_id, day, code, n)
SELECT coalesce(client_id, ''), day, code, count(*) FROM written, regexp_split_to_table(codes, ' ') AS code
 GROUP BY GROUPING SETS ((client_id, day, code), (day, code))
HAVING GROUPING(client_id) = 1 OR client_id IS NOT NULL;
INSERT INTO audit_cut (up_to, cut_at) SELECT CASE WHEN is_called THEN last_value ELSE 0 END, now() FROM audit_id_seq;
