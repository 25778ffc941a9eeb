-- plan: expand
-- A new partition has the grants of its table: the service writes to partitions by name, and its role may not be the one that owns
-- them (`authzctl db grant`).

CREATE OR REPLACE FUNCTION partition_create(parent text, number integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    epoch constant timestamptz := '2026-01-01 00:00:00+00';
    width interval;
    child text;
    given record;
BEGIN
    IF parent = 'access_token' THEN
        width := interval '1 hour';
    ELSIF parent IN ('audit_log', 'refresh_token') THEN
        width := interval '1 day';
    ELSE
        RAISE EXCEPTION 'no partitioned table %', parent;
    END IF;
    child := parent || '_p' || number;
    PERFORM pg_advisory_xact_lock(1, hashtext(child));
    IF to_regclass(child) IS NOT NULL THEN
        RETURN child;
    END IF;
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', child, parent);
    EXECUTE format('CREATE UNIQUE INDEX ON %I (id)', child);
    IF parent IN ('access_token', 'refresh_token') THEN
        EXECUTE format('ALTER TABLE %I SET (fillfactor = 95)', child);
    END IF;
    FOR given IN
        SELECT r.rolname, string_agg(a.privilege_type, ', ') AS rights
          FROM pg_class c, aclexplode(c.relacl) a JOIN pg_roles r ON r.oid = a.grantee
         WHERE c.oid = to_regclass(parent) AND a.grantee <> c.relowner GROUP BY 1
    LOOP
        EXECUTE format('GRANT %s ON %I TO %I', given.rights, child, given.rolname);
    END LOOP;
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, child,
                   epoch + number * width, epoch + (number + 1) * width);
    RETURN child;
END $$;
