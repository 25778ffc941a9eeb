#include "config.h"

#include "store/schema/roles.h"

#include "store/db/db.h"

/* An empty database belongs to whoever makes the tables. */
enum roles_owns_column { OWNS_OWNS };
static const struct db_stmt roles_owns_stmt = {
    "roles_owns",
    "SELECT coalesce((SELECT pg_has_role(relowner, 'USAGE') FROM pg_class"
    "  WHERE oid = to_regclass('audit_log')), true) AS owns",
    0};

/* The reason why a role cannot be one of the service; NULL: it can. Whoever creates roles gives
 * itself the owner's. */
enum roles_fault_column { FAULT_FAULT };
static const struct db_stmt roles_fault_stmt = {
    "roles_fault",
    "SELECT CASE WHEN NOT pg_has_role(c.relowner, 'USAGE') THEN 'is not granted: the role of "
    "SVC_DATABASE_URL does not own the tables; run this verb as their owner'"
    "  WHEN r.oid IS NULL THEN 'does not exist: create it (CREATE ROLE ... LOGIN)'"
    "  WHEN r.rolsuper OR r.rolcreaterole THEN 'is a superuser or may create roles: take another'"
    "  WHEN pg_has_role(r.oid, c.relowner, 'MEMBER') THEN 'is the owner of the tables, or may "
    "become it: take another'"
    " END AS fault"
    "  FROM pg_class c LEFT JOIN pg_roles r ON r.rolname = $1 WHERE c.oid = 'audit_log'::regclass",
    1};
/* Rights that a role has beyond the grant, by PUBLIC or by another role. */
enum roles_excess_column { EXCESS_EXCESS };
static const struct db_stmt roles_excess_stmt = {
    "roles_excess",
    "SELECT CASE WHEN has_schema_privilege($1::name, 'public', 'CREATE') THEN 'can create tables: "
    "as a superuser, REVOKE CREATE ON SCHEMA public FROM PUBLIC'"
    "  WHEN has_table_privilege($1::name, 'audit_log', 'UPDATE, DELETE, TRUNCATE, TRIGGER')"
    "   OR has_table_privilege($1::name, 'audit_note', 'UPDATE, DELETE, TRUNCATE, TRIGGER')"
    "   OR has_table_privilege($1::name, 'audit_checkpoint', 'UPDATE, DELETE, TRUNCATE, TRIGGER')"
    "   OR has_table_privilege($1::name, 'audit_tile', 'DELETE, TRUNCATE, TRIGGER')"
    "  THEN 'can change the audit log by a grant to PUBLIC or to a role that it is a member of: "
    "revoke that'"
    " END AS excess",
    1};
static const struct db_stmt roles_name_stmt = {"roles_name",
                                               "SELECT set_config('authz.role', $1, true)", 1};
enum roles_granted_column { GRANTED_ROLE };
static const struct db_stmt roles_granted_stmt = {
    "roles_granted",
    "SELECT r.rolname AS role FROM pg_class c, aclexplode(c.relacl) a JOIN pg_roles r ON r.oid = "
    "a.grantee WHERE c.oid = 'audit_log'::regclass AND a.privilege_type = 'INSERT'"
    "  AND a.grantee <> c.relowner AND pg_has_role(c.relowner, 'USAGE') ORDER BY 1",
    0};

/* The role is in the setting authz.role, because a DO has no parameters. Rows of the audit log and
 * its notes are added and read; of a checkpoint the service notes where it was sent; a tile grows.
 * Partitions are made by a function that makes nothing else, with the grants of their table. */
static const char grant_sql[] =
    "CREATE OR REPLACE FUNCTION audit_tile_grows() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
    "  IF NEW.epoch <> OLD.epoch OR NEW.level <> OLD.level OR NEW.n <> OLD.n"
    "   OR substr(NEW.hashes, 1, length(OLD.hashes)) <> OLD.hashes"
    "   OR substr(coalesce(NEW.leaves, ''), 1, length(OLD.leaves)) <> OLD.leaves THEN"
    "   RAISE EXCEPTION 'a tile of the audit log only grows' USING ERRCODE = '42501';"
    "  END IF; RETURN NEW; END $$;"
    "CREATE OR REPLACE TRIGGER audit_tile_grows BEFORE UPDATE ON audit_tile FOR EACH ROW EXECUTE "
    "FUNCTION audit_tile_grows();"
    "ALTER FUNCTION partition_create(text, integer) SECURITY DEFINER SET search_path = public, "
    "pg_temp;"
    "REVOKE EXECUTE ON FUNCTION partition_create(text, integer) FROM PUBLIC;"
    "REVOKE CREATE ON SCHEMA public FROM PUBLIC;"
    "DO $$ DECLARE r text := quote_ident(current_setting('authz.role')); t record; BEGIN"
    "  EXECUTE 'REVOKE ALL ON SCHEMA public FROM ' || r;"
    "  EXECUTE 'REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ' || r;"
    "  EXECUTE 'REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM ' || r;"
    "  EXECUTE 'GRANT USAGE ON SCHEMA public TO ' || r;"
    "  EXECUTE 'GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO ' || r;"
    "  EXECUTE 'GRANT EXECUTE ON FUNCTION partition_create(text, integer) TO ' || r;"
    "  FOR t IN SELECT oid::regclass AS name, CASE"
    "     WHEN relkind = 'v' OR relname = 'schema_migration' THEN 'SELECT'"
    "     WHEN relname ~ '^audit_(log(_p[0-9]+)?|note)$' THEN 'SELECT, INSERT'"
    "     WHEN relname = 'audit_checkpoint'"
    "      THEN 'SELECT, INSERT, UPDATE (filed_at, posted_at, cosigned)'"
    "     WHEN relname IN ('audit_tile', 'audit_log_state') THEN 'SELECT, INSERT, UPDATE'"
    "     ELSE 'SELECT, INSERT, UPDATE, DELETE' END AS rights"
    "   FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v')"
    "    AND (relispartition OR relname !~ '_p[0-9]+$') LOOP"
    "   EXECUTE format('GRANT %s ON %s TO %s', t.rights, t.name, r);"
    "  END LOOP; END $$";

enum az_status
roles_owns(struct op *op, bool *ret)
{
    PGresult *result;
    enum az_status st = db_exec(op, &roles_owns_stmt, NULL, true, &result);
    if (st == AZ_OK)
        *ret = db_get_bool(result, 0, OWNS_OWNS);
    return st;
}

/* Fail if a statement has a text about the role. */
static enum az_status
role_passes(struct op *op, const struct db_stmt *stmt, const char *role)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, role);
    enum az_status st = db_exec(op, stmt, &params, true, &result);
    if (st != AZ_OK || db_get(result, 0, 0) == NULL)
        return st;
    return op_fail(op, AZ_CONFLICT, NULL, "the role %s %s", role, db_get(result, 0, 0));
}

enum az_status
roles_grant(struct op *op, const char *role)
{
    struct db_params params = {.count = 0};
    db_text(&params, role);
    enum az_status st = db_begin(op);
    if (st == AZ_OK)
        st = role_passes(op, &roles_fault_stmt, role);
    if (st == AZ_OK)
        st = db_exec(op, &roles_name_stmt, &params, false, NULL);
    if (st == AZ_OK)
        st = db_script(op, grant_sql);
    if (st == AZ_OK)
        st = role_passes(op, &roles_excess_stmt, role);
    return db_end(op, st);
}

enum az_status
roles_grant_again(struct op *op, int *ret)
{
    PGresult *result;
    enum az_status st = db_exec(op, &roles_granted_stmt, NULL, true, &result);
    *ret = 0;
    for (int row = 0; st == AZ_OK && row < PQntuples(result); row++) {
        st = roles_grant(op, db_get(result, row, GRANTED_ROLE));
        *ret += st == AZ_OK;
    }
    return st;
}
