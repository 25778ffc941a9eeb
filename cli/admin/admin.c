#include "config.h"

#include "cli/admin/admin.h"

#include <string.h>

#include "base/b64url.h"
#include "base/digits.h"
#include "base/json/jsonx.h"
#include "base/picture.h"
#include "base/words.h"
#include "cli/lib/input.h"
#include "cli/lib/limits.h"
#include "cli/verbs.h"

/* Largest file with the members of a row, in octets: the limit of the admin API for a body. */
#define FILE_MAX (1 << 20)

/* ---- options ---- */

static const void *
choice_at(const struct cli *cli, const struct admin_member *member)
{
    return (const char *) &cli->choice + member->offset;
}

/* Return the text of an option, NULL if it was not given. */
static const char *
choice_text(const struct cli *cli, const struct admin_member *member)
{
    return *(const char *const *) choice_at(cli, member);
}

static json_t *
words_list(const char *text)
{
    json_t *list = json_array();
    const char *word;
    size_t length;
    while (words_next(&text, &word, &length))
        json_array_append_new(list, json_stringn(word, length));
    return list;
}

/* Return the value of an option (new reference); NULL: it was not given, is not a number, or is in
 * a file. */
static json_t *
admin_member_value(const struct cli *cli, const struct admin_member *member)
{
    int64_t number;
    if (member->kind == ADMIN_TRUE || member->kind == ADMIN_FALSE)
        return *(const bool *) choice_at(cli, member) ? json_boolean(member->kind == ADMIN_TRUE)
                                                      : NULL;
    const char *text = choice_text(cli, member);
    if (text == NULL || member->kind == ADMIN_OBJECT || member->kind == ADMIN_LOGO)
        return NULL;
    if (member->kind == ADMIN_WORDS)
        return words_list(text);
    if (member->kind == ADMIN_NUMBER)
        return digits_read(text, INT32_MAX, &number) ? json_integer(number) : NULL;
    return output_string(text);
}

bool
admin_fill(struct cli *cli, const struct admin_member *members, json_t *body)
{
    for (; members != NULL && members->name != NULL; members++) {
        json_t *value = admin_member_value(cli, members);
        if (value != NULL && json_object_set_new(body, members->name, value) != 0)
            return output_no_memory(cli) == CLI_OK;
        if (value == NULL && members->kind == ADMIN_NUMBER && choice_text(cli, members) != NULL) {
            output_error("%s: %s must be a number, not '%s'; see `authzctl %s --help`", cli->path,
                         members->name, choice_text(cli, members), cli->path);
            return false;
        }
    }
    return true;
}

size_t
admin_query(const struct cli *cli, const struct admin_member *members,
            struct query_pair pairs[ADMIN_MEMBERS_MAX])
{
    size_t count = 0;
    for (; members != NULL && members->name != NULL && count < ADMIN_MEMBERS_MAX; members++)
        pairs[count++] = (struct query_pair){members->name, choice_text(cli, members)};
    return count;
}

/* ---- the body ---- */

/* Read the JSON object in the file of an option; NULL after the error has been printed. */
static json_t *
admin_read_object(struct cli *cli, const char *option, const char *file)
{
    static const char expected[] = "give one JSON object";
    size_t length = 0;
    const char *why = "is not an object";
    json_t *object = NULL;
    char *text = input_read_file(cli, file, FILE_MAX, "1 MiB", expected, &length);
    if (text == NULL)
        return NULL;
    if (jsonx_parse(cli->mem, text, length, CALL_DEPTH_MAX, &object, &why) == AZ_OK
        && json_is_object(object))
        return object;
    output_error("%s: --%s: %s; %s", cli->path, option, why, expected);
    return NULL;
}

/* Read the members in the file of --file into the body. */
static int
admin_read_file(struct cli *cli, json_t *body)
{
    json_t *object = admin_read_object(cli, "file", cli->choice.file);
    if (object == NULL)
        return CLI_FAILED;
    return json_object_update(body, object) == 0 ? CLI_OK : output_no_memory(cli);
}

/* Read a picture as a data: URL (RFC 2397); NULL after the error has been printed. The service
 * checks it again: this one knows the file. */
static json_t *
admin_read_logo(struct cli *cli, const char *option, const char *file)
{
    static const char expected[] = "give a PNG, JPEG or WebP picture";
    size_t length = 0;
    char *octets = input_read_file(cli, file, PICTURE_LOGO_MAX, "16 KiB", expected, &length);
    if (octets == NULL)
        return NULL;
    const char *type = picture_type(octets, length);
    if (type == NULL) {
        output_error("%s: --%s: %s is of another type; %s", cli->path, option, file, expected);
        return NULL;
    }
    const char *text = b64_encode(cli->mem, octets, length);
    json_t *url =
        text != NULL ? jsonx_own(cli->mem, json_sprintf("data:%s;base64,%s", type, text)) : NULL;
    if (url == NULL)
        output_no_memory(cli);
    return url;
}

/* Read the members that have a file of their own into the body. */
static int
admin_read_members(struct cli *cli, const struct admin_member *members, json_t *body)
{
    for (; members != NULL && members->name != NULL; members++) {
        bool is_file = members->kind == ADMIN_OBJECT || members->kind == ADMIN_LOGO;
        const char *file = is_file ? choice_text(cli, members) : NULL;
        if (file == NULL)
            continue;
        json_t *value = members->kind == ADMIN_LOGO ? admin_read_logo(cli, members->name, file)
                                                    : admin_read_object(cli, members->name, file);
        if (value == NULL)
            return CLI_FAILED;
        if (json_object_set(body, members->name, value) != 0)
            return output_no_memory(cli);
    }
    return CLI_OK;
}

/* Return the path of the verb with its arguments. */
static const char *
verb_path(const struct cli *cli, const struct admin_verb *verb)
{
    const char *path = verb->path, *hole;
    for (int i = 0; path != NULL && i < cli->argc && (hole = strstr(path, "{}")) != NULL; i++)
        path = talloc_asprintf(cli->mem, "%.*s%s%s", (int) (hole - path), path,
                               call_escape(cli->mem, cli->args[i]), hole + 2);
    return path;
}

static const char *
verb_missing(const struct cli *cli, const struct admin_verb *verb)
{
    if (verb->missing == NULL || cli->argc == 0)
        return verb->missing;
    return talloc_asprintf(cli->mem, "'%s' %s", cli->args[0], verb->missing);
}

/* Begin the body of a PUT with the row as it is: the API replaces the whole row. *ret_tag is its
 * ETag, so that a change by another administrator in between is not lost. */
static int
admin_read_stored(struct cli *cli, const struct admin_verb *verb, json_t *body,
                  const char **ret_tag)
{
    const struct call call = {.method = "GET", .path = verb_path(cli, verb)};
    struct answer answer;
    int status = call_run(cli, &call, verb_missing(cli, verb), &answer);
    if (status == CLI_OK && json_object_update(body, answer.json) != 0)
        return output_no_memory(cli);
    if (status == CLI_OK)
        *ret_tag = call_header(cli, &answer, "ETag");
    return status;
}

/* Return the first argument as a member: an id is a number in JSON. */
static json_t *
key_value(const struct admin_verb *verb, const char *text)
{
    int64_t number;
    return verb->key_is_number && digits_read(text, INT64_MAX, &number) ? json_integer(number)
                                                                        : output_string(text);
}

static int
admin_make_body(struct cli *cli, const struct admin_verb *verb, struct call *call)
{
    json_t *body = call->body = jsonx_own(cli->mem, json_object());
    int status = CLI_OK;
    if (body == NULL)
        return output_no_memory(cli);
    if (strcmp(verb->method, "PUT") == 0)
        status = admin_read_stored(cli, verb, body, &call->if_match);
    if (status == CLI_OK && cli->choice.file != NULL)
        status = admin_read_file(cli, body);
    if (status == CLI_OK && !admin_fill(cli, verb->members, body))
        status = CLI_USAGE;
    if (status == CLI_OK)
        status = admin_read_members(cli, verb->members, body);
    if (status == CLI_OK && verb->key != NULL)
        json_object_set_new(body, verb->key, key_value(verb, cli->args[0]));
    return status;
}

/* ---- the answer ---- */

/* Return a value as a table shows it (new reference): of a data: URL its type and size. */
static json_t *
shown_value(json_t *value)
{
    const char *text = json_string_value(value);
    const char *data = text != NULL && strncmp(text, "data:", 5) == 0 ? strchr(text, ',') : NULL;
    return data != NULL ? json_sprintf("%.*s,... (%zu characters; --json prints all)",
                                       (int) (data - text), text, strlen(text))
                        : json_incref(value);
}

void
admin_print_object(const struct cli *cli, json_t *object)
{
    static const struct output_column columns[] = {
        {"member", "MEMBER"},
        {"value",  "VALUE" },
        {NULL,     NULL    }
    };
    struct jsonx_build rows = {jsonx_own(cli->mem, json_array()), false};
    const char *member;
    json_t *value;
    if (cli->choice.json) {
        output_json(object);
        return;
    }
    json_object_foreach (object, member, value)
        jsonx_append(&rows, json_pack("{s:s,s:o}", "member", member, "value", shown_value(value)));
    output_rows(cli, jsonx_built(&rows), columns);
}

json_t *
admin_take(const struct cli *cli, json_t *object, const char *name)
{
    json_t *value = jsonx_own(cli->mem, json_incref(json_object_get(object, name)));
    json_object_del(object, name);
    return value;
}

/* Print the warnings of an answer as lines of their own, and take them out of what is a table. */
static void
admin_print_warnings(const struct cli *cli, json_t *object)
{
    size_t i;
    json_t *text;
    if (cli->choice.json)
        return;
    json_array_foreach (json_object_get(object, "warnings"), i, text)
        output_error("%s: warning: %s", cli->path, json_string_value(text));
    json_object_del(object, "warnings");
}

static int
admin_print(const struct cli *cli, const struct admin_verb *verb, const struct answer *answer)
{
    const json_t *rows =
        verb->list != NULL ? json_object_get(answer->json, verb->list) : answer->json;
    if (answer->status == 204) {
        output_line(cli, "%.*s %s %s", (int) strcspn(verb->verb.words, " "), verb->verb.words,
                    cli->args[0], verb->done);
        if (cli->choice.json)
            output_json(jsonx_own(cli->mem, json_pack("{s:s}", "done", cli->args[0])));
        return CLI_OK;
    }
    if (answer->json == NULL) {
        output_error("%s: the answer is not JSON; is the URL of --server that of the service?",
                     cli->path);
        return CLI_FAILED;
    }
    admin_print_warnings(cli, answer->json);
    if (verb->columns != NULL && !cli->choice.json)
        output_rows(cli, rows, verb->columns);
    else
        admin_print_object(cli, answer->json);
    return CLI_OK;
}

const struct cli_verb *
admin_verb_at(size_t at)
{
    for (const struct admin_verb *const *table = admin_verbs; *table != NULL; table++)
        for (const struct admin_verb *row = *table; row->verb.words != NULL; row++)
            if (at-- == 0)
                return &row->verb;
    return NULL;
}

/* Return the row of the verb that runs. The functions of this file run verbs of these rows alone.
 */
static const struct admin_verb *
find_verb(const struct cli *cli)
{
    static const struct admin_verb other = {.method = "GET", .path = ""};
    const struct cli_verb *verb;
    for (size_t i = 0; (verb = admin_verb_at(i)) != NULL; i++)
        if (strcmp(verb->words, cli->path) == 0)
            return (const struct admin_verb *) verb;
    return &other;
}

/* True if the option of a member was given, or may still be: of two switches for one member, only
 * the given one is meant. */
static bool
is_meant(const struct cli *cli, const struct admin_member *member)
{
    return (member->kind != ADMIN_TRUE && member->kind != ADMIN_FALSE)
           || *(const bool *) choice_at(cli, member);
}

/* Return the argument or option that sets a member, or the list of which name[0] is an item, or
 * NULL if there is none. */
static const char *
admin_source(const struct cli *cli, const char *name)
{
    size_t length = strcspn(name, "[");
    const struct admin_verb *verb = find_verb(cli);
    const struct admin_member *member = verb->members;
    const struct cli_option *option = cli->verb->options;
    if (verb->key != NULL && strcmp(verb->key, name) == 0)
        return talloc_strndup(cli->mem, cli->verb->arguments, strcspn(cli->verb->arguments, " "));
    while (member != NULL && member->name != NULL
           && (strncmp(member->name, name, length) != 0 || member->name[length] != '\0'
               || !is_meant(cli, member)))
        member++;
    if (member == NULL || member->name == NULL)
        return NULL;
    while (option->name != NULL && option->offset != member->offset)
        option++;
    return option->name != NULL ? talloc_asprintf(cli->mem, "--%s", option->name) : NULL;
}

int
admin_ask(struct cli *cli, struct answer *ret)
{
    const struct admin_verb *verb = find_verb(cli);
    struct query_pair pairs[ADMIN_MEMBERS_MAX + LIMITS_QUERY_MAX];
    struct call call = {.method = verb->method,
                        .path = verb_path(cli, verb),
                        .query = pairs,
                        .source = admin_source};
    int status = CLI_OK;
    if (strcmp(verb->method, "GET") == 0 || strcmp(verb->method, "DELETE") == 0)
        call.queries = admin_query(cli, verb->members, pairs);
    else
        status = admin_make_body(cli, verb, &call);
    call.queries += limits_query(cli, pairs + call.queries);
    return status == CLI_OK ? call_run(cli, &call, verb_missing(cli, verb), ret) : status;
}

int
admin_show(const struct cli *cli, const struct answer *answer)
{
    return admin_print(cli, find_verb(cli), answer);
}

int
admin_run(struct cli *cli)
{
    struct answer answer;
    int status = admin_ask(cli, &answer);
    return status == CLI_OK ? admin_show(cli, &answer) : status;
}
