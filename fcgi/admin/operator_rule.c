#include "config.h"

#include "admin/operator_rule.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/query.h"
#include "http/route.h"
#include "policy/decide/admin_request.h"
#include "token/issue.h"

/* Return the decoded {name} segments of the path: the objects that the request is about. */
static json_t *
path_values(struct request *req)
{
    struct jsonx_build values = {jsonx_own(req->op.mem, json_array()), false};
    for (size_t i = 0; i < HTTP_PATH_VALUES_MAX && req->path_value[i] != NULL; i++)
        jsonx_append(&values, json_string(req->path_value[i]));
    return jsonx_built(&values);
}

/* Return the path in its one spelling: the row's pattern with its values, all but the unreserved
 * characters escaped, so that a rule about a path holds for %70ay-1 as for pay-1. NULL: out of
 * memory. */
static char *
one_path(struct request *req)
{
    const char *pattern = req->route->path;
    char *path = talloc_strdup(req->op.mem, "");
    for (size_t value = 0; path != NULL && *pattern != '\0'; pattern += strcspn(pattern, "/")) {
        pattern++; /* the slash */
        const char *segment =
            *pattern == '{' ? query_escape(req->op.mem, req->path_value[value++]) : NULL;
        if (*pattern == '{' && segment == NULL)
            return NULL;
        if (strcmp(pattern, "**") == 0) /* the rest with its slash, as the caller wrote it */
            return talloc_strdup_append(path, req->path_value[value]);
        path = segment != NULL
                   ? talloc_asprintf_append(path, "/%s", segment)
                   : talloc_asprintf_append(path, "/%.*s", (int) strcspn(pattern, "/"), pattern);
    }
    return path;
}

/* Note the question and the answer for the audit row, which the request leaves in any case. */
static enum az_status
refuse(struct request *req, const struct verdict *verdict, enum az_status st)
{
    token_note_verdict(&req->op, &req->audit, verdict);
    req->leaves_row = true;
    if (st != AZ_OK)
        return st;
    const char *text = admin_request_message(&verdict->decision);
    return op_fail(&req->op, AZ_FORBIDDEN,
                   text != NULL ? text : "A rule of this service refuses the request",
                   "policy denied, revision %s", verdict->decision.revision);
}

enum az_status
operator_rule_check(struct request *req)
{
    const struct admin_key *by = &req->admin;
    const struct question_user user = {.idp = by->idp_id, .claims = by->claims};
    struct verdict verdict = {.input = NULL};
    if (by->subject == NULL && by->role == ADMIN_ROLE_OWNER)
        return AZ_OK;
    const struct admin_question question = {
        .frame = {.endpoint = req->route->path, .ip = req->ip, .user_agent = req->user_agent},
        .key = by->id,
        .label = by->subject == NULL ? by->label : NULL,
        .role = admin_role_word(by->role),
        .session = req->admin_by_session,
        .subject = by->subject,
        .user = &user,
        .operation = req->route->operation,
        .method = req->method,
        .path = one_path(req),
        .values = path_values(req),
    };
    enum az_status st = question.values != NULL && question.path != NULL
                            ? admin_request_ask(&req->op, &question, &verdict)
                            : op_no_memory(&req->op);
    return st == AZ_OK && verdict.decision.allow ? AZ_OK : refuse(req, &verdict, st);
}
