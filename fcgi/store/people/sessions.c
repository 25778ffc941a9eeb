#include "config.h"

#include "store/people/sessions.h"

#include <string.h>

#include "base/b64url.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "crypto/keyring.h"
#include "crypto/random.h"
#include "store/db/db.h"
#include "store/db/trip/db_row.h"
#include "store/people/stored_claims.h"

/* Random octets of a sid, which names a session in ID tokens and is not a credential. */
#define SID_OCTETS 16
/* Nesting of the control's row; its schema has one level. */
#define CONTROL_DEPTH_MAX 8

/* The end moves once a tenth of the timeout has passed, so that a busy session is written ten times
 * per timeout and not with each request, but never beyond SVC_SESSION_MAX_AGE ($4) after the
 * sign-in. It moves back if one of the two was made shorter. Running the statement twice has no
 * further effect. */
/* The newest 100 consents of a subject; between the two, a statement names the subject, the client
 * and the redirect host. An application asks for a few combinations of scopes and resources; a user
 * who gave more is asked again. */
#define CONSENTS_OF "to_json(ARRAY(SELECT encode(c.what, 'hex') FROM consent c WHERE c.subject = "
#define CONSENTS_NEWEST " ORDER BY c.granted_at DESC LIMIT 100)) AS consents,"
/* A row of the two statements. */
struct session_stored {
    struct session session;
    const char *control; /* the control `consent`, or NULL */
    bool stale;          /* the list of providers has changed */
};
/* clang-format off */
#define SESSION_ROWS(into, member)                                                                 \
    {"subject", DB_INTO(into, member.subject)},                                                    \
    {"idp", DB_INTO(into, member.idp)},                                                            \
    {"idp_id", DB_INTO(into, member.idp_id)},                                                      \
    {"issuer", DB_INTO(into, member.issuer)},                                                      \
    {"auth_time", DB_INTO(into, member.auth_time)},                                                \
    {"acr", DB_INTO(into, member.acr)},                                                            \
    {"amr", DB_INTO(into, member.amr)},                                                            \
    {"claims", DB_INTO(into, member.claims)},                                                      \
    {"consents", DB_INTO(into, member.consents)},                                                  \
    {"control", DB_INTO(into, control)}
static const struct db_column session_find_columns[] = {
    SESSION_ROWS(struct session_stored, session),
};
static const struct db_column session_create_columns[] = {
    SESSION_ROWS(struct session_stored, session),
    {"stale", DB_INTO(struct session_stored, stale), .needed = true},
};
/* clang-format on */
static const struct db_stmt session_find_stmt = {
    "session_find",
    "WITH found AS (SELECT s.*, p.idp_id, u.issuer, u.claims,"
    "    s.created_at + make_interval(secs => $3::double precision) AS last"
    "   FROM browser_session s JOIN identity_provider p ON p.id = s.idp"
    "    JOIN subject u ON u.subject = s.subject"
    "   WHERE s.id_hash = $1 AND s.expires_at > now() AND p.enabled"
    "    AND s.created_at + make_interval(secs => $3::double precision) > now()),"
    " until AS (SELECT least(now() + make_interval(secs => $2::double precision), last) AS most,"
    "   least(now() + make_interval(secs => $2::double precision * 0.9), last) AS least"
    "   FROM found),"
    " moved AS (UPDATE browser_session s SET expires_at = u.most, last_seen_at = now() FROM until u"
    "   WHERE s.id_hash = $1 AND s.expires_at > now() AND (s.expires_at NOT BETWEEN u.least AND "
    "u.most"
    "    OR coalesce(s.last_seen_at, s.created_at)"
    "     < now() - make_interval(secs => $2::double precision * 0.1)))"
    " SELECT f.subject, f.idp, f.idp_id, f.issuer,"
    "  floor(extract(epoch FROM f.auth_time))::bigint AS auth_time,"
    "  f.acr, to_json(f.amr) AS amr, f.claims::text AS claims,"
    "  " CONSENTS_OF "f.subject AND c.client = $4::bigint"
    "   AND c.redirect_host = $5::text" CONSENTS_NEWEST "  d.payload AS control"
    " FROM (SELECT 1) AS one LEFT JOIN found f ON true"
    "  LEFT JOIN policy_data d ON d.data_key = 'svc.operator.controls.consent'",
    5};

/*
 * One statement checks that the provider and the list of providers are unchanged, writes the
 * subject, ends the old session and makes the new one. The first sign-in also stores the home
 * issuer; of two at once one is first, and both have it from the same list. It does not take the
 * name of another subject or of a client: a token's `sub` would name two. Two first sign-ins of a
 * user at the same moment can collide in the unique indexes; the caller then runs the statement
 * again.
 */
static const struct db_stmt session_create_stmt = {
    "session_create",
    "WITH list AS (SELECT last_value <> $17 AS stale FROM identity_provider_version_seq),"
    " ok AS (SELECT p.id, p.idp_id, p.issuer FROM identity_provider p, list"
    "   WHERE p.id = $1 AND p.enabled AND p.issuer = $2 AND NOT list.stale),"
    " person AS (INSERT INTO subject (subject, issuer, upstream_sub, idp_id, claims)"
    "   SELECT CASE WHEN EXISTS (SELECT 1 FROM subject WHERE subject = $4)"
    "     OR EXISTS (SELECT 1 FROM client WHERE client_id = $4) THEN $5 ELSE $4 END,"
    "    ok.issuer, $3, ok.idp_id, $6::json FROM ok"
    "   ON CONFLICT (issuer, upstream_sub) DO UPDATE SET claims = excluded.claims,"
    "    idp_id = excluded.idp_id, signed_in_at = now() RETURNING subject),"
    " home AS (INSERT INTO home_issuer (issuer) SELECT $18 FROM ok"
    "   WHERE NOT EXISTS (SELECT 1 FROM home_issuer) ON CONFLICT DO NOTHING),"
    " joined AS (INSERT INTO provider_userinfo AS x (idp, joined_at) SELECT ok.id, now() FROM ok"
    "   WHERE $23::boolean AND NOT EXISTS (SELECT 1 FROM provider_userinfo y WHERE y.idp = ok.id"
    "    AND y.joined_at > now() - interval '1 hour')"
    "   ON CONFLICT (idp) DO UPDATE SET joined_at = now()),"
    " ended AS (DELETE FROM browser_session WHERE id_hash = $8 AND EXISTS (SELECT 1 FROM ok)),"
    " made AS (INSERT INTO browser_session (id_hash, sid, subject, idp, auth_time, acr, amr,"
    "    upstream_sid, id_token_sealed, expires_at, last_seen_at, ip, user_agent, for_console)"
    "   SELECT $7, $9, person.subject, ok.id, $10::timestamptz, $11, $12::text[], $13, $14,"
    "    now() + make_interval(secs => $15::double precision), now(), $20::inet, $21, $22::boolean"
    "    FROM ok, person"
    "   RETURNING subject, idp, auth_time, acr, amr)"
    " SELECT m.subject, m.idp, ok.idp_id, ok.issuer,"
    "  floor(extract(epoch FROM m.auth_time))::bigint AS auth_time,"
    "  m.acr, to_json(m.amr) AS amr, $6::text AS claims,"
    "  " CONSENTS_OF "m.subject AND c.client = $16::bigint"
    "   AND c.redirect_host = $19::text" CONSENTS_NEWEST "  d.payload AS control, list.stale"
    " FROM list LEFT JOIN (made m CROSS JOIN ok) ON true"
    "  LEFT JOIN policy_data d ON d.data_key = 'svc.operator.controls.consent'",
    23};

static const struct db_stmt session_take_console_stmt = {
    "session_take_console",
    "UPDATE browser_session SET for_console = false WHERE id_hash = $1 AND for_console"
    " AND created_at > now() - make_interval(secs => $2::double precision) AND expires_at > now()",
    2};

static const struct db_stmt session_person_stmt = {
    "session_person",
    "SELECT coalesce(s.claims ->> 'email', s.claims ->> 'preferred_username',"
    "  s.claims ->> 'name') AS label, p.name"
    " FROM identity_provider p LEFT JOIN subject s ON s.subject = $1 WHERE p.id = $2",
    2};
struct person_shown {
    const char *label; /* of the person, or NULL */
    const char *name;  /* of the provider, or NULL */
};
static const struct db_column session_person_columns[] = {
    {"label", DB_INTO(struct person_shown, label)},
    {"name",  DB_INTO(struct person_shown, name) },
};

/* Return the mode of the consent control. A missing or broken row gives the shipped default: ask
 * for clients that registered themselves. */
static enum consent_mode
read_consent_mode(TALLOC_CTX *mem, const char *payload)
{
    json_t *control;
    if (payload == NULL
        || jsonx_parse(mem, payload, strlen(payload), CONTROL_DEPTH_MAX, &control, NULL) != AZ_OK)
        return CONSENT_DYNAMIC_CLIENTS;
    const char *mode = json_string_value(json_object_get(control, "mode"));
    if (mode != NULL && strcmp(mode, "off") == 0)
        return CONSENT_OFF;
    if (mode != NULL && strcmp(mode, "always") == 0)
        return CONSENT_ALWAYS;
    return CONSENT_DYNAMIC_CLIENTS;
}

/* Give a session, whose texts stay in the result, which lives as long as the operation. */
static enum az_status
session_give(struct op *op, const struct session_stored *stored, const unsigned char *id_hash,
             struct session *ret, enum consent_mode *ret_mode)
{
    enum az_status st = stored_claims_typed(op, stored->session.claims);
    if (st != AZ_OK)
        return st;
    *ret = stored->session;
    ret->found = ret->subject != NULL;
    memcpy(ret->id_hash, id_hash, SHA256_OCTETS);
    *ret_mode = read_consent_mode(op->mem, stored->control);
    return AZ_OK;
}

/* Add the place for which consents are read. Without a place no consent is read. */
static void
bind_client(struct db_params *params, const struct consent_place *place)
{
    db_number(params, place != NULL ? place->client : 0);
}

static void
bind_host(struct db_params *params, const struct consent_place *place)
{
    db_text(params, place != NULL ? place->host : NULL);
}

enum az_status
session_find(struct op *op, const unsigned char *id_hash, const struct consent_place *place,
             struct session *ret, enum consent_mode *ret_mode)
{
    struct db_params params = {.count = 0};
    struct session_stored stored = {.stale = false};
    db_octets(&params, id_hash, SHA256_OCTETS);
    db_number(&params, op->az->cfg->session_timeout);
    db_number(&params, op->az->cfg->session_max_age);
    bind_client(&params, place);
    bind_host(&params, place);
    enum az_status st =
        db_fetch_row(op, &session_find_stmt, &params, true,
                     DB_TABLE(struct session_stored, session_find_columns), &stored, NULL);
    return st == AZ_OK ? session_give(op, &stored, id_hash, ret, ret_mode) : st;
}

enum az_status
session_take_console(struct op *op, const unsigned char id_hash[SHA256_OCTETS], bool *ret_taken)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_octets(&params, id_hash, SHA256_OCTETS);
    db_number(&params, SESSION_CONSOLE_VALIDITY);
    enum az_status st = db_exec(op, &session_take_console_stmt, &params, false, &result);
    *ret_taken = st == AZ_OK && db_written(result) == 1;
    return st;
}

enum az_status
session_person(struct op *op, const struct session *session, const char **ret_label,
               const char **ret_provider)
{
    struct db_params params = {.count = 0};
    struct person_shown shown = {.label = NULL};
    db_text(&params, session->subject);
    db_number(&params, session->idp);
    enum az_status st =
        db_fetch_row(op, &session_person_stmt, &params, true,
                     DB_TABLE(struct person_shown, session_person_columns), &shown, NULL);
    if (st != AZ_OK)
        return st;
    *ret_label = shown.label;
    *ret_provider = shown.name;
    return AZ_OK;
}

const char *
session_id_token_place(TALLOC_CTX *mem, const char *sid)
{
    return talloc_asprintf(mem, "browser_session/id_token/%s", sid);
}

/* Values made for a new session. */
struct fresh {
    const char *sid;       /* random */
    unsigned char *sealed; /* the provider's ID token, or NULL */
    size_t sealed_length;  /* octets */
};

static enum az_status
make_fresh(struct op *op, const char *id_token, struct fresh *ret)
{
    unsigned char random[SID_OCTETS];
    if (random_octets(random, sizeof(random)) != AZ_OK
        || (ret->sid = b64url_encode(op->mem, random, sizeof(random))) == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "a session cannot be created");
    if (id_token == NULL)
        return AZ_OK;
    const char *place = session_id_token_place(op->mem, ret->sid);
    if (place == NULL
        || keyring_seal(op->mem, op->az->keyring, KEYRING_SIGN_IN, place, id_token,
                        strlen(id_token), &ret->sealed, &ret->sealed_length)
               != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "an ID token cannot be encrypted");
    return AZ_OK;
}

/* Input of session_create_stmt. */
struct create {
    const struct sign_in_result *who;  /* result of the sign-in */
    const struct fresh *fresh;         /* values of the new session */
    const unsigned char *id_hash;      /* of the new cookie */
    const unsigned char *old_id_hash;  /* of the session before, or NULL */
    const struct consent_place *place; /* or NULL */
};

/* Return the seconds until a new session ends if it is not used. */
static int64_t
session_first_end(const struct settings *cfg)
{
    return cfg->session_timeout < cfg->session_max_age ? cfg->session_timeout
                                                       : cfg->session_max_age;
}

static enum az_status
bind_create(struct op *op, struct db_params *params, const struct create *create)
{
    const struct sign_in_result *who = create->who;
    const char *claims = jsonx_dump(op->mem, who->claims);
    db_number(params, who->idp);
    db_text(params, who->issuer);
    db_text(params, who->upstream_sub);
    db_text(params, who->subject_name);
    db_text(params, who->subject_other);
    db_text(params, claims);
    db_octets(params, create->id_hash, SHA256_OCTETS);
    db_octets(params, create->old_id_hash, SHA256_OCTETS);
    db_text(params, create->fresh->sid);
    db_time(params, who->auth_time * 1000);
    db_text(params, who->acr);
    db_words_or_null(op->mem, params, who->amr);
    db_text(params, who->upstream_sid);
    db_octets(params, create->fresh->sealed, create->fresh->sealed_length);
    db_number(params, session_first_end(op->az->cfg));
    bind_client(params, create->place);
    db_number(params, who->providers_version);
    db_text(params, who->home_issuer);
    bind_host(params, create->place);
    db_text(params, who->ip);
    db_text(params, who->user_agent);
    db_bool(params, who->for_console);
    db_bool(params, who->userinfo_joined);
    return claims != NULL ? AZ_OK : op_no_memory(op);
}

/* Try once; AZ_RETRY without a fault if another request made the same subject at the same
 * moment. */
static enum az_status
try_create(struct op *op, const struct create *create, struct session_stored *ret)
{
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step = db_batch_add(batch, &session_create_stmt);
    enum az_status st = bind_create(op, &step->params, create);
    if (st == AZ_OK)
        st = db_run_or_retry(op, batch, false, SQLSTATE_UNIQUE_VIOLATION);
    return st == AZ_OK ? db_read_row(op, step->result, 0,
                                     DB_TABLE(struct session_stored, session_create_columns), ret)
                       : st;
}

enum az_status
session_create(struct op *op, const struct sign_in_result *result,
               const unsigned char id_hash[SHA256_OCTETS], const unsigned char *old_id_hash,
               const struct consent_place *place, struct session *ret, enum consent_mode *ret_mode,
               bool *ret_stale)
{
    struct fresh fresh = {NULL, NULL, 0};
    const struct create create = {result, &fresh, id_hash, old_id_hash, place};
    struct session_stored stored = {.stale = false};
    enum az_status st = make_fresh(op, result->id_token, &fresh);
    if (st == AZ_OK && (st = try_create(op, &create, &stored)) == AZ_RETRY)
        st = try_create(op, &create, &stored);
    if (st == AZ_RETRY)
        return op_fail(op, AZ_UNAVAILABLE, NULL, "two sign-ins of one user collided twice");
    if (st != AZ_OK)
        return st;
    *ret_stale = stored.stale;
    return session_give(op, &stored, id_hash, ret, ret_mode);
}
