#include "config.h"

#include "http/header_value.h"

#include <string.h>
#include <strings.h>

#include "base/digits.h"

/* Blanks and commas between the members of a list, in any number (RFC 9110 section 5.6.1). */
#define BETWEEN " \t,"

/* True if a list of entity tags contains the tag. */
static bool
tags_name(const char *list, const char *tag)
{
    size_t wanted = strlen(tag);
    for (const char *at = list; *at != '\0'; at += strspn(at, BETWEEN)) {
        size_t length = strcspn(at, BETWEEN);
        if (length == wanted + 2 && at[0] == '"' && at[length - 1] == '"'
            && memcmp(at + 1, tag, wanted) == 0)
            return true;
        at += length;
    }
    return false;
}

bool
header_if_match(const char *value, const char *tag)
{
    if (tag == NULL)
        return false;
    value += strspn(value, BETWEEN);
    if (value[0] == '*' && value[1 + strspn(value + 1, " \t")] == '\0')
        return true;
    return tags_name(value, tag);
}

char *
header_first_tag(TALLOC_CTX *mem, const char *value)
{
    if (value == NULL)
        return talloc_strdup(mem, "");
    if (strncmp(value, "W/", 2) == 0)
        value += 2;
    value += *value == '"';
    return talloc_strndup(mem, value, strcspn(value, "\""));
}

/* Read digits up to the end of the preference; 0 for anything else. */
static long
read_wait_seconds(const char *text, long max)
{
    int64_t seconds;
    size_t digits = digits_take(text, strlen(text), max, &seconds);
    return strchr(",; \t", text[digits]) != NULL ? (long) seconds : 0;
}

long
header_prefer_wait(const char *value, long max)
{
    static const char name[] = "wait=";
    const char *at = value != NULL ? value : "";
    while (*at != '\0') {
        at += strspn(at, ",; \t");
        if (strncasecmp(at, name, sizeof(name) - 1) == 0)
            return read_wait_seconds(at + sizeof(name) - 1, max);
        at += strcspn(at, ",; \t");
    }
    return 0;
}

/* ---- Accept */

/* Read a weight (RFC 9110 section 12.4.2) in thousandths; 0 if it is malformed. */
static int
read_weight(const char *at, const char *end)
{
    int weight = 0;
    for (int scale = 1000; at < end && scale > 0; at++) {
        if (*at == '.' && scale == 100)
            continue;
        if (*at < '0' || *at > '9')
            break;
        weight += (*at - '0') * scale;
        scale /= 10;
    }
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return (at == end || *at == ';') && weight <= 1000 ? weight : 0;
}

int
header_weight(const char *range, const char *end)
{
    for (const char *at = range; at < end; at++) {
        if (*at != ';')
            continue;
        const char *name = at + 1;
        while (name < end && (*name == ' ' || *name == '\t'))
            name++;
        if (end - name >= 2 && strncasecmp(name, "q=", 2) == 0)
            return read_weight(name + 2, end);
    }
    return 1000;
}

/* True if the media type of a range, which is followed by blanks, parameters or a comma, is JSON.
 */
static bool
is_json(const char *range, size_t length)
{
    return (length == 16 && strncasecmp(range, "application/json", 16) == 0)
           || (length > 5 && strncasecmp(range + length - 5, "+json", 5) == 0);
}

bool
header_prefers_html(const char *accept)
{
    int html = 0, json = 0;
    const char *at = accept != NULL ? accept : "";
    for (at += strspn(at, BETWEEN); *at != '\0'; at += strspn(at, BETWEEN)) {
        const char *end = at + strcspn(at, ",");
        size_t length = strcspn(at, "; \t,");
        int weight = header_weight(at, end);
        if (is_json(at, length) && weight > json)
            json = weight;
        /* HTML is not preferred if a JSON range of the same weight comes first. */
        if (length == 9 && strncasecmp(at, "text/html", 9) == 0 && weight > html && weight > json)
            html = weight;
        at = end;
    }
    return html > 0 && html >= json;
}

static const char *
if_match_of(struct request *req)
{
    return req->io->variable(req->io, "HTTP_IF_MATCH");
}

bool
request_has_if_match(struct request *req)
{
    return if_match_of(req) != NULL;
}

enum az_status
request_if_match(struct request *req, const char *digest)
{
    const char *header = if_match_of(req);
    if (header == NULL || (strlen(header) <= HTTP_HEADER_MAX && header_if_match(header, digest)))
        return AZ_OK;
    return op_fail(&req->op, AZ_PRECONDITION_FAILED, NULL, NULL);
}
