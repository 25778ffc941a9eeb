#include "config.h"

#include "store/tokens/signing_keys_turn.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/words.h"
#include "crypto/keypair.h"
#include "crypto/keyring.h"
#include "store/db/db.h"
#include "store/db/keep/locks.h"
#include "store/tokens/signing_keys_private.h"

/* A key is seen when its insertion is committed, a moment after created_at, and an answer of the
 * key set is on its way for another. Longer than both, in seconds. */
#define PUBLICATION_MARGIN 1

static enum az_status
generate_rsa(TALLOC_CTX *mem, struct jwk **ret)
{
    return keypair_generate_rsa(mem, SIGNING_KEY_BITS, ret);
}

/* The kinds of keys. Those of ID tokens beside the one that always exists are made if the settings
 * list them. */
static const struct signing_kind {
    enum signing_use use;
    const char *alg;
    enum az_status (*generate)(TALLOC_CTX *mem, struct jwk **ret);
} kinds[] = {
    {SIGNING_OIDC,      SIGNING_ALG_ALWAYS, generate_rsa         },
    {SIGNING_OIDC,      "ES256",            keypair_generate_p256},
    {SIGNING_STATEMENT, SIGNING_ALG_ALWAYS, generate_rsa         },
    {SIGNING_AUDIT,     SIGNING_ALG_AUDIT,  keypair_generate_p256},
    {SIGNING_ACCESS,    "ES256",            keypair_generate_p256},
    {SIGNING_ACCESS,    "RS256",            generate_rsa         },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const struct db_stmt signing_key_insert_stmt = {
    "signing_key_insert",
    "INSERT INTO signing_key (kid, use, alg, state, public_jwk, private_sealed, created_at, "
    "activated_at)"
    " SELECT $1, $2, $3, $4, $5::jsonb, $6, clock_timestamp(),"
    "  CASE WHEN $4 = 'active' THEN now() END"
    "  WHERE NOT EXISTS (SELECT 1 FROM signing_key WHERE use = $2 AND alg = $3 AND state = $4)",
    6};
static const struct db_stmt signing_key_retire_stmt = {
    "signing_key_retire",
    "UPDATE signing_key k SET state = 'retired', retired_at = now() FROM signing_key n"
    " WHERE n.kid = ANY ($1::text[]) AND n.state = 'next' AND k.use = n.use AND k.alg = n.alg"
    "  AND k.state = 'active'",
    1};
static const struct db_stmt signing_key_activate_stmt = {
    "signing_key_activate",
    "UPDATE signing_key SET state = 'active', activated_at = now()"
    " WHERE kid = ANY ($1::text[]) AND state = 'next'",
    1};
static const struct db_stmt signing_key_withdraw_stmt = {
    "signing_key_withdraw",
    "UPDATE signing_key SET state = 'retired', retired_at = now()"
    " WHERE use = $1 AND state <> 'retired' AND alg <> ALL ($2::text[])",
    2};
static const struct db_stmt signing_key_purge_stmt = {
    "signing_key_purge",
    "DELETE FROM signing_key WHERE state = 'retired' AND use <> 'audit' "
    "AND " SIGNING_PUBLISHED_UNTIL " < now()",
    2};

/* Make a key and add its insertion for one state to the batch. The step writes nothing if another
 * process made the key first. */
static enum az_status
signing_key_add(struct op *op, struct db_batch *batch, const struct signing_kind *kind,
                const char *state, struct db_step **ret_step)
{
    struct jwk *key;
    unsigned char *der, *box;
    size_t length, box_length;
    json_t *public_half;
    struct db_step *step = db_batch_add(batch, &signing_key_insert_stmt);
    if (kind->generate(op->mem, &key) != AZ_OK || keypair_dump(op->mem, key, &der, &length) != AZ_OK
        || keyring_seal(op->mem, op->az->keyring, KEYRING_SIGNING_KEY,
                        signing_key_place(op->mem, key->kid), der, length, &box, &box_length)
               != AZ_OK
        || jwk_dump(key, &public_half) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "a signing key cannot be created");
    db_text(&step->params, key->kid);
    db_text(&step->params, signing_use_name(kind->use));
    db_text(&step->params, kind->alg);
    db_text(&step->params, state);
    db_text(&step->params, jsonx_dump(op->mem, jsonx_own(op->mem, public_half)));
    db_octets(&step->params, box, box_length);
    *ret_step = step;
    return AZ_OK;
}

/* Begin a batch with BEGIN and the key lock, so that two hosts never make two keys for one
 * state. */
static struct db_batch *
signing_key_batch(struct op *op, enum signing_use use)
{
    struct db_batch *batch = db_batch_new(op);
    const char *name = signing_use_name(use);
    db_batch_begin(batch);
    lock_add(batch, LOCK_KEYS, name, strlen(name));
    return batch;
}

/* ---- making keys ---- */

static enum az_status
make_key(struct op *op, const struct signing_kind *kind, const char *state, bool *ret_made)
{
    struct db_step *step;
    struct db_batch *batch = signing_key_batch(op, kind->use);
    enum az_status st = signing_key_add(op, batch, kind, state, &step);
    db_batch_commit(batch);
    if (st == AZ_OK)
        st = db_run(op, batch, false);
    *ret_made = *ret_made || (st == AZ_OK && db_written(step->result) > 0);
    return st;
}

static bool
is_always(const struct signing_kind *kind)
{
    const char *always = signing_alg_always(kind->use);
    return always != NULL && strcmp(kind->alg, always) == 0;
}

static bool
is_wanted(const struct settings *cfg, const struct signing_kind *kind)
{
    return kind->use != SIGNING_OIDC || is_always(kind) || words_has(cfg->id_token_algs, kind->alg);
}

/* `first`: the service has had no keys, so nobody has a key set without these. */
static enum az_status
ensure_use(struct op *op, enum signing_use use, bool first, bool *ret_made)
{
    const struct settings *cfg = op->az->cfg;
    PGresult *result;
    enum az_status st = signing_key_states(op, use, &result);
    /* No cache holds a key set without the new keys on the first start, or if it is not cached. */
    bool unseen = first || cfg->jwks_cache_seconds == 0;
    for (const struct signing_kind *kind = kinds; kind < kinds + KINDS && st == AZ_OK; kind++) {
        if (kind->use != use || !is_wanted(cfg, kind))
            continue;
        if ((unseen || is_always(kind)) && signing_key_row(result, kind->alg, "active") < 0)
            st = make_key(op, kind, "active", ret_made);
        if (st == AZ_OK && signing_key_row(result, kind->alg, "next") < 0)
            st = make_key(op, kind, "next", ret_made);
    }
    return st;
}

enum az_status
signing_keys_ensure(struct op *op, bool *ret_made)
{
    PGresult *oidc;
    enum az_status st = signing_key_states(op, SIGNING_OIDC, &oidc);
    bool first = st == AZ_OK && PQntuples(oidc) == 0;
    *ret_made = false;
    for (int use = 0; use < SIGNING_USES && st == AZ_OK; use++)
        st = ensure_use(op, (enum signing_use) use, first, ret_made);
    return st;
}

/* ---- next keys become active ---- */

/* The keys that become active in one transaction. */
struct turn {
    const struct signing_kind *kind[KINDS];
    const char *kid[KINDS]; /* their next keys */
    size_t count;
};

/* Return the seconds until all verifiers know a key; 0 or less: they do. Without a cache no
 * verifier can lack it. */
static int64_t
seconds_to_wait(const struct op *op, const PGresult *result, int row)
{
    int64_t cached = op->az->cfg->jwks_cache_seconds;
    return cached > 0 ? cached + PUBLICATION_MARGIN - db_get_number(result, row, STATES_AGE, 0) : 0;
}

static void
turn_add(struct turn *turn, const struct signing_kind *kind, const PGresult *result, int next)
{
    turn->kind[turn->count] = kind;
    turn->kid[turn->count++] = db_get(result, next, STATES_KID);
}

static enum az_status
turn_run(struct op *op, enum signing_use use, const struct turn *turn)
{
    enum az_status st = AZ_OK;
    struct db_step *ignored;
    struct db_batch *batch = signing_key_batch(op, use);
    struct db_step *retire = db_batch_add(batch, &signing_key_retire_stmt);
    struct db_step *activate = db_batch_add(batch, &signing_key_activate_stmt);
    db_words(op->mem, &retire->params, turn->kid, turn->count);
    db_words(op->mem, &activate->params, turn->kid, turn->count);
    for (size_t i = 0; i < turn->count && st == AZ_OK; i++)
        st = signing_key_add(op, batch, turn->kind[i], "next", &ignored);
    db_batch_commit(batch);
    return st == AZ_OK ? db_run(op, batch, false) : st;
}

enum az_status
signing_keys_rotate(struct op *op, enum signing_use use)
{
    struct turn turn = {.count = 0};
    int64_t wait = 0;
    PGresult *result;
    enum az_status st = signing_key_states(op, use, &result);
    if (st != AZ_OK)
        return st;
    for (const struct signing_kind *kind = kinds; kind < kinds + KINDS; kind++) {
        int next = signing_key_row(result, kind->alg, "next");
        if (kind->use != use
            || (next < 0 && !is_always(kind) && signing_key_row(result, kind->alg, "active") < 0))
            continue;
        if (next < 0)
            return op_fail(op, AZ_CONFLICT, "No next signing key exists; run `authzctl db migrate`",
                           NULL);
        int64_t its = seconds_to_wait(op, result, next);
        wait = its > wait ? its : wait;
        turn_add(&turn, kind, result, next);
    }
    if (wait > 0)
        return op_fail(op, AZ_CONFLICT,
                       talloc_asprintf(op->mem,
                                       "Not all verifiers know the next key yet; "
                                       "try again in %lld seconds",
                                       (long long) wait),
                       NULL);
    return turn_run(op, use, &turn);
}

static enum az_status
begin_use(struct op *op, enum signing_use use, int *ret_begun)
{
    struct turn turn = {.count = 0};
    PGresult *result;
    enum az_status st = signing_key_states(op, use, &result);
    for (const struct signing_kind *kind = kinds; kind < kinds + KINDS && st == AZ_OK; kind++) {
        int next = signing_key_row(result, kind->alg, "next");
        if (kind->use == use && next >= 0 && signing_key_row(result, kind->alg, "active") < 0
            && seconds_to_wait(op, result, next) <= 0)
            turn_add(&turn, kind, result, next);
    }
    if (st == AZ_OK && turn.count > 0)
        st = turn_run(op, use, &turn);
    if (st == AZ_OK)
        *ret_begun += (int) turn.count;
    return st;
}

enum az_status
signing_keys_begin(struct op *op, int *ret_begun)
{
    *ret_begun = 0;
    enum az_status st = begin_use(op, SIGNING_OIDC, ret_begun);
    return st == AZ_OK ? begin_use(op, SIGNING_ACCESS, ret_begun) : st;
}

/* ---- the end of keys ---- */

enum az_status
signing_keys_withdraw(struct op *op)
{
    struct db_params params = {.count = 0};
    db_text(&params, signing_use_name(SIGNING_OIDC));
    db_words_or_null(op->mem, &params, op->az->cfg->id_token_algs);
    return db_exec(op, &signing_key_withdraw_stmt, &params, false, NULL);
}

enum az_status
signing_keys_purge(struct op *op)
{
    struct db_params params = {.count = 0};
    signing_key_bind_retirement(op, &params);
    return db_exec(op, &signing_key_purge_stmt, &params, false, NULL);
}
