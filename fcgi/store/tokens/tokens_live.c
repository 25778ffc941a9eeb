#include "config.h"

#include "store/tokens/tokens_live.h"

#include "store/db/db.h"
#include "store/db/keep/partitions.h"
#include "store/tokens/revocation.h"

/* clang-format off */
static const struct db_stmt tokens_live_stmt = {
    "tokens_live",
    "SELECT o.n FROM unnest($1::uuid[]) WITH ORDINALITY AS o (id, n) JOIN access_token_p%P t ON t.id = o.id"
    " JOIN client c ON c.id = t.client LEFT JOIN token_grant g ON g.id = t.grant_id"
    " LEFT JOIN identity_provider p ON p.id = coalesce(g.idp, t.idp) LEFT JOIN subject s ON s.subject = t.subject"
    " WHERE t.revoked_at IS NULL AND g.revoked_at IS NULL AND " TOKEN_REVOKED_BEFORE " IS NOT TRUE AND t.expires_at > now()"
    " AND c.enabled AND ((t.grant_id IS NULL AND t.idp IS NULL) OR p.enabled IS TRUE)", 1};
/* clang-format on */

enum az_status
tokens_live(struct op *op, uint32_t bucket, const unsigned char (*id)[UUID7_OCTETS], size_t count,
            bool *live)
{
    bool there;
    const char **words = talloc_array(op->mem, const char *, (unsigned) count + 1);
    for (size_t i = 0; i < count; i++)
        live[i] = false;
    for (size_t i = 0; words != NULL && i < count; i++) {
        char text[UUID7_TEXT_LENGTH + 1];
        uuid7_format(id[i], text);
        words[i] = talloc_strdup(words, text);
    }
    enum az_status st = partition_has_bucket(op, bucket, &there);
    if (st != AZ_OK || !there)
        return st;
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step = db_batch_add_in(batch, &tokens_live_stmt, bucket, DB_NO_PARTITION);
    db_words(op->mem, &step->params, words, words != NULL ? count : 0);
    st = db_run_or_retry(op, batch, true, SQLSTATE_UNDEFINED_TABLE);
    if (st == AZ_RETRY) /* dropped: all of its tokens have expired */
        return partition_reload(op);
    for (int row = 0; st == AZ_OK && row < PQntuples(step->result); row++) {
        int64_t n = db_get_number(step->result, row, 0, 0);
        if (n >= 1 && n <= (int64_t) count)
            live[n - 1] = true;
    }
    return st;
}
