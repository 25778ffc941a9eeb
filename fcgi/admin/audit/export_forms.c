#include "config.h"

#include "admin/audit/export_forms.h"

#include <string.h>

#include "admin/audit/audit_export.h"
#include "admin/audit/audit_filter.h"
#include "admin/audit/audit_text.h"
#include "audit/ocsf.h"
#include "audit/otlp.h"
#include "base/iso8601.h"

static void
json_begin(struct request *req, const struct export *export, struct buf *out)
{
    char now[ISO8601_MS_SIZE];
    const char *between = "";
    (void) export;
    iso8601_format_ms(req->op.now_ms, now);
    buf_append_format(out, "{\"exportedAt\":\"%s\",\"filters\":{", now);
    for (const struct route_param *param = audit_export_params; param->name != NULL; param++) {
        const char *value = audit_filter_param(req, param->name);
        if (value == NULL || strcmp(param->name, "format") == 0)
            continue;
        buf_append_format(out, "%s\"%s\":", between, param->name);
        audit_text_quote(out, value);
        between = ",";
    }
    buf_append_text(out, "},\"rows\":[");
}

/* Append a row with its leaf, if it is sealed. */
static void
row_and_leaf(struct buf *out, const struct export_row *row)
{
    audit_text_json(out, row->row);
    if (row->place.number < 0 || out->status != AZ_OK)
        return;
    out->len--; /* the last brace */
    buf_append_format(out, ",\"leafIndex\":%lld,\"leafHash\":\"%s\"}",
                      (long long) row->place.number, row->place.hash);
}

static void
json_row(struct buf *out, const struct export *export, const struct export_row *row)
{
    buf_append_text(out, export->count > 0 ? ",\n" : "\n");
    row_and_leaf(out, row);
}

static void
json_end(const struct export *export, struct buf *out)
{
    buf_append_format(out, "\n],\"count\":%lld,\"truncated\":%s}\n", (long long) export->count,
                      export->truncated ? "true" : "false");
}

static void
ndjson_row(struct buf *out, const struct export *export, const struct export_row *row)
{
    (void) export;
    row_and_leaf(out, row);
    buf_append_char(out, '\n');
}

/* A list that breaks off must not look complete. */
static void
ndjson_end(const struct export *export, struct buf *out)
{
    if (export->truncated)
        buf_append_text(out, "{\"truncated\":true}\n");
}

static void
csv_begin(struct request *req, const struct export *export, struct buf *out)
{
    (void) req;
    (void) export;
    audit_text_csv_head(out);
}

static void
csv_row(struct buf *out, const struct export *export, const struct export_row *row)
{
    (void) export;
    audit_text_csv(out, row->row);
}

static void
csv_end(const struct export *export, struct buf *out)
{
    if (export->truncated)
        buf_append_text(out, "truncated\r\n");
}

/* Append a row as an event of another format. */
static void
event_row(struct buf *out, const struct export *export, const struct export_row *row,
          char *(*text_of)(const struct audit_event *event))
{
    struct audit_event event = {.mem = row->mem,
                                .row = row->row,
                                .epoch = export->leaves.epoch,
                                .leaf_hash = row->place.number >= 0 ? row->place.hash : NULL,
                                .documents = true};
    const char *text = audit_event_begin(&event) == AZ_OK ? text_of(&event) : NULL;
    if (text != NULL)
        buf_append_text(out, text);
    else
        out->status = out->status == AZ_OK ? AZ_SERVER_ERROR : out->status;
}

static void
ocsf_row(struct buf *out, const struct export *export, const struct export_row *row)
{
    event_row(out, export, row, ocsf_event_text);
    buf_append_char(out, '\n');
}

/* One ExportLogsServiceRequest a line, as collectors of OpenTelemetry read files. */
static void
otlp_row(struct buf *out, const struct export *export, const struct export_row *row)
{
    buf_append_text(out, otlp_begin);
    event_row(out, export, row, otlp_record_text);
    buf_append_text(out, otlp_end);
    buf_append_char(out, '\n');
}

static void
otlp_tail(const struct export *export, struct buf *out)
{
    if (!export->truncated)
        return;
    buf_append_text(out, otlp_begin);
    buf_append_text(out, otlp_truncated);
    buf_append_text(out, otlp_end);
    buf_append_char(out, '\n');
}

#define ATTACHMENT(name) "attachment; filename=\"" name "\""

static const struct export_format formats[] = {
    {"json",   "application/json",        ATTACHMENT("audit-logs.json"),        json_begin, json_row,   json_end},
    {"ndjson", "application/x-ndjson",    ATTACHMENT("audit-logs.ndjson"),      NULL,       ndjson_row,
     ndjson_end                                                                                                 },
    {"csv",    "text/csv; charset=utf-8", ATTACHMENT("audit-logs.csv"),         csv_begin,  csv_row,    csv_end },
    {"ocsf",   "application/x-ndjson",    ATTACHMENT("audit-logs.ocsf.ndjson"), NULL,       ocsf_row,
     ndjson_end                                                                                                 },
    {"otlp",   "application/x-ndjson",    ATTACHMENT("audit-logs.otlp.ndjson"), NULL,       otlp_row,
     otlp_tail                                                                                                  },
    {"lines",  "application/x-ndjson",    ATTACHMENT("audit-log.lines"),        NULL,       NULL,       NULL    },
};

const struct export_format *
export_form_find(const char *name)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (name == NULL || strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}
