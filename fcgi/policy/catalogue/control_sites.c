#include "config.h"

#include "policy/catalogue/control_sites.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "policy/catalogue/shipped_files.h"
#include "policy/engine/no_decision.h"

#define WORD "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* A part of the text; `start` is NULL if it is absent. */
struct span {
    const char *start;
    size_t length;
};

/* State of the scan of one file. */
struct scan {
    struct op *op;
    const char *id;      /* of the control */
    const char *file;    /* its name */
    struct span package; /* as declared */
    struct span rule;    /* of the current line */
    int line;            /* number, from 1 */
    json_t *sites;       /* found so far */
};

static bool
span_is(struct span span, const char *text)
{
    return span.length == strlen(text) && memcmp(span.start, text, span.length) == 0;
}

/* Return the value of a member written `"name": "value"` in a line. */
static struct span
member_text(struct span line, const char *name)
{
    const char *at = memmem(line.start, line.length, name, strlen(name));
    if (at == NULL)
        return (struct span){NULL, 0};
    at += strlen(name);
    const char *end = memchr(at, '"', line.length - (size_t) (at - line.start));
    return (struct span){end != NULL ? at : NULL, end != NULL ? (size_t) (end - at) : 0};
}

/* Add a site at the current line; without code it is the package. */
static enum az_status
add_site(struct scan *scan, struct span code)
{
    char *rule = talloc_strndup(scan->op->mem, scan->package.start, scan->package.length);
    if (code.start != NULL && scan->rule.start != NULL)
        rule = talloc_asprintf_append(rule, ".%.*s", (int) scan->rule.length, scan->rule.start);
    json_t *site = json_pack("{s:s,s:s,s:i}", "file", scan->file, "rule", rule, "line", scan->line);
    if (code.start != NULL
        && json_object_set_new(site, "code", json_stringn(code.start, code.length)) != 0) {
        json_decref(site);
        site = NULL;
    }
    if (json_array_append_new(scan->sites, site) != 0)
        return op_no_memory(scan->op);
    return AZ_OK;
}

/* Scan a line that begins in the first column: the package, a rule, or something else. */
static enum az_status
scan_head(struct scan *scan, struct span line)
{
    struct span word = {line.start, strspn(line.start, WORD)};
    if (span_is(word, "default") || span_is(word, "package")) {
        const char *next = word.start + word.length + strspn(word.start + word.length, " ");
        bool package = span_is(word, "package");
        word = (struct span){next, strspn(next, package ? WORD "." : WORD)};
        if (package) {
            const char *own = talloc_asprintf(scan->op->mem, "svc.controls.%s", scan->id);
            scan->package = word;
            return own != NULL && span_is(word, own) ? add_site(scan, (struct span){NULL, 0})
                                                     : AZ_OK;
        }
    }
    if (!span_is(word, "import") && !span_is(word, "else"))
        scan->rule = word;
    return AZ_OK;
}

static enum az_status
scan_line(struct scan *scan, struct span line)
{
    size_t blanks = strspn(line.start, " \t");
    if (blanks >= line.length || line.start[blanks] == '#')
        return AZ_OK;
    if (strchr(WORD, line.start[0]) != NULL) {
        enum az_status st = scan_head(scan, line);
        if (st != AZ_OK)
            return st;
    }
    struct span code = member_text(line, "\"code\": \""),
                control = member_text(line, "\"control\": \"");
    if (code.start == NULL || control.start == NULL || !span_is(control, scan->id))
        return AZ_OK;
    return add_site(scan, code);
}

enum az_status
control_sites_scan(struct op *op, const char *id, const char *file, const char *text, json_t *sites)
{
    struct scan scan = {.op = op, .id = id, .file = file, .sites = sites};
    enum az_status st = AZ_OK;
    scan.package = (struct span){text, 0};
    for (const char *line = text; st == AZ_OK && *line != '\0';) {
        size_t length = strcspn(line, "\n");
        scan.line++;
        st = scan_line(&scan, (struct span){line, length});
        line += length + (line[length] == '\n');
    }
    return st;
}

/* State of the walk over the files. */
struct hunt {
    const char *id;
    json_t *sites;
};

static enum az_status
take_file(struct op *op, void *arg, const char *name, const char *text)
{
    const struct hunt *hunt = arg;
    return control_sites_scan(op, hunt->id, name, text, hunt->sites);
}

/* Add the rows of the service's own table; they are the reasons of the control `system`. */
static enum az_status
add_own_sites(struct op *op, json_t *sites)
{
    for (size_t i = 0; i < NO_DECISION_COUNT; i++) {
        const struct no_decision_row *row = &no_decision_rows[i];
        json_t *site = json_pack("{s:s,s:s,s:i,s:s}", "file", NO_DECISION_FILE, "rule",
                                 "no_decision_rows", "line", row->line, "code", row->code);
        if (json_array_append_new(sites, site) != 0)
            return op_no_memory(op);
    }
    return AZ_OK;
}

enum az_status
control_sites(struct op *op, const char *id, json_t **ret)
{
    struct hunt hunt = {id, jsonx_own(op->mem, json_array())};
    if (hunt.sites == NULL)
        return op_no_memory(op);
    enum az_status st = shipped_each(op, "svc", ".rego", take_file, &hunt);
    if (st == AZ_OK && strcmp(id, "system") == 0)
        st = add_own_sites(op, hunt.sites);
    if (st == AZ_OK)
        *ret = hunt.sites;
    return st;
}
