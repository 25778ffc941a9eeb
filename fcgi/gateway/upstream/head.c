#include "config.h"

#include "gateway/upstream/head.h"

#include <string.h>
#include <strings.h>

#include "base/digits.h"
#include "managed/headers.h"

#define LOWER_TYPE_CHARS "abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~/"
/* Longest media type without parameters: RFC 6838 4.2 allows two names of 127 octets. */
#define TYPE_MAX 255

/* ---- lines */

static bool
upstream_refuse(struct upstream_head *head, const char *why)
{
    head->fault = head->fault != NULL ? head->fault : why;
    return false;
}

static bool
is_space(char c)
{
    return c == ' ' || c == '\t';
}

/* Cut white space at both ends (OWS of RFC 9110 5.6.3). */
static void
cut_space(const char **text, size_t *length)
{
    while (*length > 0 && is_space(**text)) {
        (*text)++;
        (*length)--;
    }
    while (*length > 0 && is_space((*text)[*length - 1]))
        (*length)--;
}

/* True if a value has no control character but tabs. A line end would end our own header line. */
static bool
value_is_clean(const char *value, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (((unsigned char) value[i] < 0x20 && value[i] != '\t') || value[i] == 0x7f)
            return false;
    return true;
}

static char *
copy_lower(TALLOC_CTX *mem, const char *text, size_t length)
{
    char *copy = talloc_strndup(mem, text, length);
    for (char *c = copy; c != NULL && *c != '\0'; c++)
        *c = (char) (*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
    return copy;
}

/*
 *   status-line = HTTP-version SP status-code SP [ reason-phrase ]
 * An upgrade was not asked for, so 101 is not an answer to our request.
 */
static bool
read_status(struct upstream_head *head, const char *line, size_t length)
{
    int64_t status;
    if (length < 12 || line[8] != ' ' || (length > 12 && line[12] != ' ')
        || digits_take(line + 9, 3, 999, &status) != 3 || !value_is_clean(line, length)
        || (memcmp(line, "HTTP/1.1", 8) != 0 && memcmp(line, "HTTP/1.0", 8) != 0))
        return upstream_refuse(head, "the status line is malformed");
    if (status < 100 || status > 599 || status == 101)
        return upstream_refuse(head, "the status code is not one of an answer");
    head->open = true;
    head->interim = status < 200;
    head->http10 = line[7] == '0';
    head->answer->status = (int) status;
    return true;
}

/* Content-Length = 1*DIGIT. Two that differ, or one beside Transfer-Encoding, are an attempt to
 * make readers disagree (RFC 9112 6.3). */
static bool
head_take_length(struct upstream_head *head, const char *value, size_t length)
{
    int64_t announced;
    if (length == 0 || digits_take(value, length, INT64_MAX, &announced) != length
        || (head->answer->announced >= 0 && head->answer->announced != announced))
        return upstream_refuse(head, "the Content-Length is malformed, or there are two");
    head->answer->announced = announced;
    return true;
}

static bool
read_coding(struct upstream_head *head, const char *value, size_t length)
{
    if (head->coded || length != 7 || strncasecmp(value, "chunked", 7) != 0)
        return upstream_refuse(head, "the Transfer-Encoding is not \"chunked\" alone");
    head->coded = true;
    return true;
}

/* media-type = type "/" subtype *( OWS ";" OWS parameter ). Of two, it is not known which one a
 * browser would use. */
static bool
read_content_type(struct upstream_head *head, const char *value, size_t length)
{
    struct upstream_answer *answer = head->answer;
    size_t type = 0;
    while (type < length && value[type] != ';' && !is_space(value[type]))
        type++;
    size_t next = type;
    while (next < length && is_space(value[next]))
        next++;
    if (answer->content_type_line != NULL)
        return upstream_refuse(head, "there are two Content-Types");
    answer->content_type_line = talloc_strndup(head->mem, value, length);
    char *lower = copy_lower(head->mem, value, type);
    if (answer->content_type_line == NULL || lower == NULL)
        return upstream_refuse(head, "out of memory");
    if (strlen(lower) > TYPE_MAX || (next < length && value[next] != ';')
        || lower[strspn(lower, LOWER_TYPE_CHARS)] != '\0')
        return upstream_refuse(head, "the Content-Type is malformed");
    answer->content_type = lower;
    return true;
}

static bool
read_connection(struct upstream_head *head, const char *value, size_t length)
{
    char *hops = talloc_asprintf(head->mem, "%s%.*s,", head->hops != NULL ? head->hops : ",",
                                 (int) length, value);
    size_t used = 0;
    for (const char *c = hops; c != NULL && *c != '\0'; c++)
        if (!is_space(*c))
            hops[used++] = (char) (*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
    if (hops == NULL)
        return upstream_refuse(head, "out of memory");
    hops[used] = '\0';
    head->hops = hops;
    return true;
}

/* The first challenge counts; it is not passed on to the caller. */
static bool
take_challenge(struct upstream_head *head, const char *value, size_t length)
{
    struct upstream_answer *answer = head->answer;
    if (answer->challenge == NULL
        && (answer->challenge = talloc_strndup(head->mem, value, length)) == NULL)
        return upstream_refuse(head, "out of memory");
    return true;
}

static bool
keep_field(struct upstream_head *head, const char *name, const char *value, size_t length)
{
    struct upstream_answer *answer = head->answer;
    if (!header_may_be(name, HEADER_PASSED_BACK))
        return true;
    if (answer->fields == UPSTREAM_FIELDS_MAX)
        return upstream_refuse(head, "there are too many header fields");
    char *copy = talloc_strndup(head->mem, value, length);
    if (copy == NULL)
        return upstream_refuse(head, "out of memory");
    for (char *tab = copy; (tab = strchr(tab, '\t')) != NULL;) /* RFC 9110 5.5 */
        *tab = ' ';
    answer->field[answer->fields++] = (struct upstream_field){name, copy};
    return true;
}

/* field-line = field-name ":" OWS field-value OWS. No space before the colon (RFC 9112 5.1), no
 * folded line (5.2). */
static bool
head_take_field(struct upstream_head *head, const char *line, size_t length)
{
    static const struct {
        const char *name;
        bool (*read)(struct upstream_head *head, const char *value, size_t length);
    } rows[] = {
        {"Content-Length",    head_take_length },
        {"Transfer-Encoding", read_coding      },
        {"Content-Type",      read_content_type},
        {"Connection",        read_connection  },
        {"WWW-Authenticate",  take_challenge   },
    };
    const char *colon = memchr(line, ':', length);
    if (colon == NULL || colon == line)
        return upstream_refuse(head, "a header line has no name");
    char *name = talloc_strndup(head->mem, line, (size_t) (colon - line));
    if (name == NULL)
        return upstream_refuse(head, "out of memory");
    if (strlen(name) != (size_t) (colon - line) || name[strspn(name, HEADER_NAME_CHARS)] != '\0')
        return upstream_refuse(head, "the name of a header field is malformed");
    const char *value = colon + 1;
    size_t rest = length - (size_t) (colon + 1 - line);
    cut_space(&value, &rest);
    if (!value_is_clean(value, rest))
        return upstream_refuse(head, "a header field contains a control character");
    if (head->interim)
        return true;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcasecmp(name, rows[i].name) == 0)
            return rows[i].read(head, value, rest);
    return keep_field(head, name, value, rest);
}

/* ---- the end */

static bool
is_hop(const struct upstream_head *head, const char *name)
{
    char *lower = head->hops != NULL ? copy_lower(head->mem, name, strlen(name)) : NULL;
    char *listed = lower != NULL ? talloc_asprintf(head->mem, ",%s,", lower) : NULL;
    return listed != NULL && strstr(head->hops, listed) != NULL;
}

/* True if the answer may have a Location. With other statuses the rules of CGI (RFC 3875 6.2.2) let
 * a web server fetch the address from itself. */
static bool
may_have_location(int status)
{
    return status == 201 || (status >= 300 && status < 400);
}

/* The head is complete: drop the fields that must not reach the caller. */
static bool
end_head(struct upstream_head *head)
{
    struct upstream_answer *answer = head->answer;
    size_t kept = 0;
    head->open = false;
    if (head->interim)
        return true;
    if (head->coded && (answer->announced >= 0 || head->http10))
        return upstream_refuse(head, "the length of the body is ambiguous");
    for (size_t i = 0; i < answer->fields; i++)
        if (!is_hop(head, answer->field[i].name)
            && (strcasecmp(answer->field[i].name, "Location") != 0
                || may_have_location(answer->status)))
            answer->field[kept++] = answer->field[i];
    answer->fields = kept;
    head->complete = true;
    return true;
}

bool
upstream_head_line(struct upstream_head *head, const char *line, size_t length)
{
    if (head->fault != NULL)
        return false;
    if (length > UPSTREAM_HEAD_MAX - head->octets)
        return upstream_refuse(head, "the response header is too long");
    head->octets += length;
    if (head->complete)
        return true;
    if (length > 0 && line[length - 1] == '\n')
        length--;
    if (length > 0 && line[length - 1] == '\r')
        length--;
    if (!head->open) {
        head->answer->announced = -1;
        head->answer->content_type = "";
        return read_status(head, line, length);
    }
    return length == 0 ? end_head(head) : head_take_field(head, line, length);
}
