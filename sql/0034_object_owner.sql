-- plan: expand; locks client ShareRowExclusive, connector ShareRowExclusive, identity_provider ShareRowExclusive, managed_resource ShareRowExclusive, policy_data ShareRowExclusive, policy_rule ShareRowExclusive
-- Directories of files (authzctl apply) that keep an object as they say. A rule, row or entry of a row is an object too.
CREATE TABLE object_owner (
    kind       text NOT NULL,        -- client, provider, resource, connector, rule, row or entry (of a row)
    key        text NOT NULL,        -- its name; of an entry DATAKEY/MEMBER/NAME
    owner      text NOT NULL,        -- `owner` of instance.json
    digest     text NOT NULL,        -- hex SHA-256 of the object as it was applied
    secret_mac bytea,                -- HMAC of its secrets from the files, NULL: they have none
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (kind, key)
);

-- Whoever deletes an object deletes its mark: an object of the same name that someone makes later is not owned.
CREATE FUNCTION object_owner_forget() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    gone text := to_jsonb(OLD) ->> TG_ARGV[1];
BEGIN
    DELETE FROM object_owner WHERE kind = TG_ARGV[0] AND key = gone;
    IF TG_ARGV[0] = 'row' THEN
        DELETE FROM object_owner WHERE kind = 'entry' AND starts_with(key, gone || '/');
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER client_forget_owner AFTER DELETE ON client
    FOR EACH ROW EXECUTE FUNCTION object_owner_forget('client', 'client_id');
CREATE TRIGGER identity_provider_forget_owner AFTER DELETE ON identity_provider
    FOR EACH ROW EXECUTE FUNCTION object_owner_forget('provider', 'idp_id');
CREATE TRIGGER managed_resource_forget_owner AFTER DELETE ON managed_resource
    FOR EACH ROW EXECUTE FUNCTION object_owner_forget('resource', 'name');
CREATE TRIGGER connector_forget_owner AFTER DELETE ON connector
    FOR EACH ROW EXECUTE FUNCTION object_owner_forget('connector', 'id');
CREATE TRIGGER policy_rule_forget_owner AFTER DELETE ON policy_rule
    FOR EACH ROW EXECUTE FUNCTION object_owner_forget('rule', 'path');
CREATE TRIGGER policy_data_forget_owner AFTER DELETE ON policy_data
    FOR EACH ROW EXECUTE FUNCTION object_owner_forget('row', 'data_key');
