#include "config.h"

#include "admin/audit/audit_text.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum member_kind { MEMBER_TEXT, MEMBER_JSON };

/* Members of AuditLogDto between `id` and `requestSummary`, and those after `requestSummary`. */
static const struct member {
    const char *name;
    enum member_kind kind;
    size_t offset; /* of a const char * in struct audit_row */
} members[] = {
    {"createdAt",      MEMBER_TEXT, offsetof(struct audit_row, created_at)},
    {"requestId",      MEMBER_TEXT, offsetof(struct audit_row, request_id)},
    {"flowId",         MEMBER_TEXT, offsetof(struct audit_row, flow_id)   },
    {"clientId",       MEMBER_TEXT, offsetof(struct audit_row, client_id) },
    {"subjectId",      MEMBER_TEXT, offsetof(struct audit_row, subject_id)},
    {"endpoint",       MEMBER_TEXT, offsetof(struct audit_row, endpoint)  },
    {"method",         MEMBER_TEXT, offsetof(struct audit_row, method)    },
    {"outcome",        MEMBER_TEXT, offsetof(struct audit_row, outcome)   },
    {"ip",             MEMBER_TEXT, offsetof(struct audit_row, ip)        },
    {"userAgent",      MEMBER_TEXT, offsetof(struct audit_row, user_agent)},
    {"policyInput",    MEMBER_JSON, offsetof(struct audit_row, input)     },
    {"policyDecision", MEMBER_JSON, offsetof(struct audit_row, decision)  },
};
#define MEMBERS (sizeof(members) / sizeof(members[0]))

static const char *
member_value(const struct audit_row *row, const struct member *member)
{
    return *(const char *const *) (const void *) ((const char *) row + member->offset);
}

static int
append_json(const char *octets, size_t length, void *out)
{
    return buf_append(out, octets, length) == AZ_OK ? 0 : -1;
}

void
audit_text_quote(struct buf *out, const char *text)
{
    json_auto_t *string = json_string(text);
    if (string == NULL
        || json_dump_callback(string, append_json, out, JSON_ENCODE_ANY | JSON_COMPACT) != 0)
        out->status = out->status == AZ_OK ? AZ_SERVER_ERROR : out->status;
}

/* Append the summary: the members that every row has, then those of the stored object. */
static void
append_summary(struct buf *out, const struct audit_row *row)
{
    buf_append_text(out, "{\"operation\":");
    audit_text_quote(out, row->operation);
    buf_append_format(out, ",\"status\":%d", (int) row->http_status);
    if (row->summary == NULL || row->summary[0] != '{' || row->summary[1] == '}') {
        buf_append_char(out, '}');
        return;
    }
    buf_append_char(out, ',');
    buf_append_text(out, row->summary + 1);
}

void
audit_text_json(struct buf *out, const struct audit_row *row)
{
    buf_append_format(out, "{\"id\":%lld", (long long) row->id);
    for (size_t i = 0; i < MEMBERS; i++) {
        const char *value = member_value(row, &members[i]);
        if (value == NULL)
            continue;
        buf_append_format(out, ",\"%s\":", members[i].name);
        if (members[i].kind == MEMBER_JSON)
            buf_append_text(out, value);
        else
            audit_text_quote(out, value);
    }
    buf_append_text(out, ",\"requestSummary\":");
    append_summary(out, row);
    buf_append_char(out, '}');
}

/* True if a spreadsheet may take the text for a formula. With East Asian settings the full-width
 * forms of = + - @ (U+FF1D, U+FF0B, U+FF0D, U+FF20) begin one too. */
static bool
is_formula(const char *text)
{
    static const char *const signs[] = {
        "=",           "+", "-", "@", "\t", "\r", "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d",
        "\xef\xbc\xa0"};
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
        if (strncmp(text, signs[i], strlen(signs[i])) == 0)
            return true;
    return false;
}

/* Append a cell in quotes; NULL is an empty cell. */
static void
append_cell(struct buf *out, const char *text)
{
    buf_append_char(out, ',');
    if (text == NULL)
        return;
    buf_append_char(out, '"');
    if (is_formula(text))
        buf_append_char(out, '\'');
    for (size_t length; *text != '\0'; text += length) {
        length = strcspn(text, "\"");
        buf_append(out, text, length);
        if (text[length] == '"') {
            buf_append_text(out, "\"\"");
            length++;
        }
    }
    buf_append_char(out, '"');
}

void
audit_text_csv_head(struct buf *out)
{
    buf_append_text(out, "id");
    for (size_t i = 0; i < MEMBERS; i++)
        buf_append_format(out, ",%s", members[i].name);
    buf_append_text(out, ",operation,status,requestSummary\r\n");
}

void
audit_text_csv(struct buf *out, const struct audit_row *row)
{
    buf_append_format(out, "%lld", (long long) row->id);
    for (size_t i = 0; i < MEMBERS; i++)
        append_cell(out, member_value(row, &members[i]));
    append_cell(out, row->operation);
    buf_append_format(out, ",%d", (int) row->http_status);
    append_cell(out, row->summary);
    buf_append_text(out, "\r\n");
}
