#include "config.h"

#include "http/request_log.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "crypto/digest.h"
#include "http/counters.h"
#include "http/request.h"
#include "http/route.h"

/* Octets of a subject's hash in the log: enough to find the lines of one person by the audit row's
 * subject, without the log holding names. */
#define SUBJECT_HASH_OCTETS 8

bool
request_leaves_row(const struct request *req)
{
    return req->audited || req->leaves_row
           || (req->route->audited && (req->proved || req->audit.input != NULL)
               && req->op.fault.status != AZ_BUSY);
}

/* Return the outcome: that of the handler's audit row, if it wrote one, because a refusal of policy
 * and a bad request can share an error code. */
static const char *
logged_outcome(const struct request *req)
{
    const struct az_status_row *row = az_status_row(req->op.fault.status);
    return req->audited && row->http < 500 ? req->audit.outcome : row->audit_outcome;
}

/*
 * True if the request may write its log line. Those of an audited endpoint that leave no row share
 * a limited number of lines for each address and minute. How many were left out is told with the
 * first request after that minute.
 */
static bool
line_is_due(const struct request *req, enum az_severity severity)
{
    struct counters *counters = req->op.az->counters;
    bool bounded = req->route->audited && !request_leaves_row(req);
    if (!log_wanted(severity))
        return false;
    if (counters == NULL)
        return true;
    uint64_t left_out = counters_take_left_out(counters, op_now(&req->op));
    if (left_out > 0)
        log_text(AZ_SEV_WARN, "request lines left out",
                 "%llu requests in one minute proved nothing; each address writes at most %d lines "
                 "of them",
                 (unsigned long long) left_out, COUNTERS_LINES_PER_MINUTE);
    return !bounded || counters_admit_line(counters, req->ip, op_now(&req->op));
}

/* Write the first digits of SHA-256 of the subject in hex; NULL without a subject. */
static const char *
hash_subject(const char *subject, char room[SHA256_HEX_SIZE])
{
    if (subject == NULL || sha256_hex(subject, strlen(subject), room) != AZ_OK)
        return NULL;
    room[SUBJECT_HASH_OCTETS * 2] = '\0';
    return room;
}

void
request_log(const struct request *req, int64_t started, uint64_t trips)
{
    char room[SHA256_HEX_SIZE];
    const struct audit_entry *audit = &req->audit;
    const struct az_fault *fault = &req->op.fault;
    const struct az_status_row *row = az_status_row(fault->status);
    enum az_severity severity = fault->status == AZ_OK ? AZ_SEV_INFO : row->severity;
    if (!line_is_due(req, severity))
        return;
    const struct log_field fields[] = {
        LOG_TEXT("request_id", req->op.request_id),
        LOG_TEXT("route", req->route->path),
        LOG_TEXT("method", req->method),
        LOG_NUMBER("status", req->res.status),
        LOG_NUMBER("us", clock_monotonic_us() - started),
        LOG_NUMBER("sql_trips", trips),
        LOG_TEXT("client_id", audit->client_id),
        LOG_TEXT("subject_hash", hash_subject(audit->subject_id, room)),
        LOG_TEXT("flow_id", audit->flow_id),
        LOG_TEXT("ip", req->ip),
        LOG_TEXT("grant_type", audit->grant_type),
        LOG_TEXT("scope", audit->scope),
        LOG_TEXT("outcome", logged_outcome(req)),
        LOG_TEXT("inactive", audit->inactive),
        LOG_TEXT("deny_codes", audit->codes),
        LOG_TEXT("error", fault->status != AZ_OK ? row->error : NULL),
        LOG_TEXT("reason", fault->status != AZ_OK ? fault->public_text : NULL),
        LOG_TEXT("detail", fault->detail[0] != '\0' ? fault->detail : NULL),
    };
    log_line(severity, "request", fields, sizeof(fields) / sizeof(fields[0]));
}
