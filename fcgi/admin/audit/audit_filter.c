#include "config.h"

#include "admin/audit/audit_filter.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "base/digits.h"
#include "base/iso8601.h"
#include "base/words.h"

/* Return NULL, or the fault of a value, as a text that fits after the name of the parameter. */
typedef const char *param_rule_fn(const char *text);

const char *const audit_filter_outcomes[] = {"allowed", "denied", "rejected", "error", NULL};

static const char *
outcome_fault(const char *text)
{
    return words_has(audit_filter_outcomes, text) ? NULL
                                                  : "must be allowed, denied, rejected or error";
}

const char *
audit_filter_flow_fault(const char *text)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    size_t at = 0;
    while (form[at] != '\0' && (form[at] == 'x' ? digits_hex(text[at]) >= 0 : text[at] == form[at]))
        at++;
    return form[at] == '\0' && text[at] == '\0' ? NULL : "must be a UUID";
}

static const char *
ip_fault(const char *text)
{
    unsigned char octets[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, text, octets) == 1 || inet_pton(AF_INET6, text, octets) == 1
               ? NULL
               : "must be an address of IPv4 or IPv6";
}

static const struct text_param {
    const char *name;
    size_t offset; /* of a const char * in struct audit_filter */
    param_rule_fn *rule;
} text_params[] = {
    {"endpoint",  offsetof(struct audit_filter, endpoint),   NULL                   },
    {"clientId",  offsetof(struct audit_filter, client_id),  NULL                   },
    {"subjectId", offsetof(struct audit_filter, subject_id), NULL                   },
    {"outcome",   offsetof(struct audit_filter, outcome),    outcome_fault          },
    {"flowId",    offsetof(struct audit_filter, flow_id),    audit_filter_flow_fault},
    {"requestId", offsetof(struct audit_filter, request_id), NULL                   },
    {"operation", offsetof(struct audit_filter, operation),  NULL                   },
    {"reason",    offsetof(struct audit_filter, reason),     NULL                   },
    {"resource",  offsetof(struct audit_filter, resource),   NULL                   },
    {"tool",      offsetof(struct audit_filter, tool),       NULL                   },
    {"ip",        offsetof(struct audit_filter, ip),         ip_fault               },
    {"object",    offsetof(struct audit_filter, object),     NULL                   },
};

const char *
audit_filter_param(const struct request *req, const char *name)
{
    const char *text = request_param(req, name);
    return text != NULL && *text != '\0' ? text : NULL;
}

static void
read_texts(struct request *req, struct audit_filter *filter)
{
    for (size_t i = 0; i < sizeof(text_params) / sizeof(text_params[0]); i++) {
        const struct text_param *param = &text_params[i];
        const char *text = audit_filter_param(req, param->name), *why = NULL;
        if (text == NULL)
            continue;
        if (strlen(text) > AUDIT_FILTER_TEXT_MAX)
            why = "is too long";
        else if (param->rule != NULL)
            why = param->rule(text);
        if (why != NULL)
            request_field_error(req, param->name, why);
        *(const char **) (void *) ((char *) filter + param->offset) = text;
    }
}

/* Read a time; false: absent, or at fault. */
static bool
audit_filter_time(struct request *req, const char *name, bool day, int64_t *ret_ms)
{
    const char *text = audit_filter_param(req, name);
    if (text == NULL)
        return false;
    if ((day ? iso8601_parse_day : iso8601_parse)(text, strlen(text), ret_ms) == AZ_OK)
        return true;
    request_field_error(req, name,
                        day ? "must be a day like 2026-01-31"
                            : "must be a date-time like 2026-01-31T12:00:00Z or "
                              "2026-01-31T12:00:00%2B02:00");
    return false;
}

/* Days and instants together select the time that is in both periods. */
static void
read_times(struct request *req, struct audit_filter *filter)
{
    int64_t ms;
    if (audit_filter_time(req, "from", true, &ms)) {
        filter->from_ms = ms;
        filter->has_from = true;
    }
    if (audit_filter_time(req, "to", true, &ms)) {
        filter->until_ms = ms + AUDIT_DAY * 1000;
        filter->has_until = true;
    }
    if (filter->has_from && filter->has_until && filter->from_ms >= filter->until_ms)
        request_field_error(req, "to", "must not be before from");
    if (audit_filter_time(req, "fromInstant", false, &ms)
        && (!filter->has_from || ms > filter->from_ms)) {
        filter->from_ms = ms;
        filter->has_from = true;
    }
    if (audit_filter_time(req, "toInstant", false, &ms)
        && (!filter->has_until || ms < filter->until_ms)) {
        filter->until_ms = ms;
        filter->has_until = true;
    }
}

enum az_status
audit_filter_read(struct request *req, struct audit_filter *ret)
{
    const char *status = audit_filter_param(req, "status");
    *ret = (struct audit_filter){.endpoint = NULL};
    read_texts(req, ret);
    read_times(req, ret);
    if (ret->reason != NULL && ret->outcome == NULL)
        ret->outcome = "denied"; /* no other row has one, and there is an index */
    if (status != NULL && (!digits_read(status, 599, &ret->http_status) || ret->http_status < 100))
        request_field_error(req, "status", "must be a status from 100 to 599");
    return req->error_body == NULL && req->op.fault.status == AZ_OK
               ? AZ_OK
               : op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
}
