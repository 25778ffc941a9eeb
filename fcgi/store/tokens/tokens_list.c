#include "config.h"

#include "store/tokens/tokens_list.h"

#include "store/db/db.h"
#include "store/tokens/grants.h"
#include "store/tokens/revocation.h"

/* Both halves read no more rows than the page needs, in the order of the id, which grows with the
 * time of issue: PostgreSQL can walk the indexes of the partitions from their ends. $1, $2 and $5
 * are the filters, $3 the rows up to the end of the page, $4 the rows before it. */
#define FILTERS                                                                                    \
    " AND ($2::text IS NULL OR c.client_id = $2) AND ($5::text IS NULL OR p.idp_id = $5)"
#define HALF " ORDER BY 1 DESC LIMIT $3::bigint)"
#define ACCESS                                                                                     \
    "(SELECT t.id, 'access' AS kind, c.client_id, coalesce(t.subject, c.client_id) AS subject,"    \
    "  t.scope, t.resource, t.issued_at, t.expires_at"                                             \
    " FROM access_token t JOIN client c ON c.id = t.client"                                        \
    " LEFT JOIN token_grant g ON g.id = t.grant_id"                                                \
    " LEFT JOIN identity_provider p ON p.id = coalesce(g.idp, t.idp)"                              \
    " LEFT JOIN subject s ON s.subject = t.subject"                                                \
    " WHERE t.expires_at > now() AND t.revoked_at IS NULL AND g.revoked_at IS NULL AND c.enabled"  \
    "  AND ((t.grant_id IS NULL AND t.idp IS NULL) OR p.enabled) AND " TOKEN_REVOKED_BEFORE        \
    " IS NOT TRUE"
#define REFRESH                                                                                    \
    "(SELECT r.id, 'refresh', c.client_id, g.subject, g.granted_scope, g.resource, r.issued_at,"   \
    "  least(g.idle_expires_at, g.expires_at)"                                                     \
    " FROM refresh_token r JOIN token_grant g ON g.id = r.grant_id JOIN client c ON c.id = "       \
    "g.client JOIN identity_provider p ON p.id = g.idp JOIN subject s ON s.subject = g.subject"    \
    " WHERE r.expires_at > now() AND r.first_used_at IS NULL AND " GRANT_IN_TURN                   \
    " AND g.expires_at > now() AND g.idle_expires_at > now() AND g.redeemed_at IS NOT NULL"        \
    "  AND g.revoked_at IS NULL AND c.enabled AND p.enabled AND NOT " GRANT_REVOKED_BEFORE
#define LIST                                                                                       \
    "SELECT json_strip_nulls(json_build_object('kind', kind, 'tokenId', id, 'clientId',"           \
    " client_id, 'subjectId', subject, 'scope', scope, 'resource', resource, 'issuedAt',"          \
    " instant_text(issued_at), 'expiresAt', instant_text(expires_at))) AS token FROM ("
#define PAGE ") x ORDER BY id DESC LIMIT $3::bigint - $4::bigint OFFSET $4::bigint"

/* Two statements: one has a plan by the index of the subject, the other walks the tokens. */
static const struct db_stmt tokens_of_subject_stmt = {
    "tokens_of_subject",
    LIST ACCESS " AND t.subject = $1" FILTERS HALF " UNION ALL " REFRESH
                " AND g.subject = $1" FILTERS HALF PAGE,
    5,
};
static const struct db_stmt tokens_of_any_stmt = {
    "tokens_of_any",
    LIST ACCESS " AND $1::text IS NULL" FILTERS HALF " UNION ALL " REFRESH FILTERS HALF PAGE,
    5,
};

enum az_status
tokens_list(struct op *op, const struct tokens_list *list, json_t **ret)
{
    struct db_params params = {.count = 0};
    db_text(&params, list->subject);
    db_text(&params, list->client_id);
    db_number(&params, list->offset + list->limit);
    db_number(&params, list->offset);
    db_text(&params, list->idp_id);
    return db_fetch_array(op, list->subject != NULL ? &tokens_of_subject_stmt : &tokens_of_any_stmt,
                          &params, ret);
}
