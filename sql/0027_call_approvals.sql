-- plan: expand; locks ciba_request AccessExclusive; reads ciba_request
-- Approvals of single calls through the gateway (obligation approve_by_ciba): requests of CIBA that the gateway starts itself.
-- Nobody has their auth_req_id, so that they give no token.
ALTER TABLE ciba_request ADD COLUMN call_hash bytea; -- SHA-256 of the call that an approval lets through once; NULL: a client's own request
CREATE INDEX ciba_request_call ON ciba_request (call_hash) WHERE call_hash IS NOT NULL;
