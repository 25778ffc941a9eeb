#include "config.h"

#include "cli/lib/call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/file_trust.h"
#include "base/json/jsonx.h"
#include "cli/lib/limits.h"
#include "cli/lib/output.h"
#include "crypto/secret.h"

/* Longest admin key, in octets, as the service reads it (admin/credential.h). */
#define KEY_MAX 1024
/* Variable with the admin key. */
#define KEY_VARIABLE "AUTHZ_ADMIN_KEY"

/* ---- the answer as it arrives ---- */

/* Append octets to a text of at most max octets. */
static bool
arrival_append(struct arrival *arrival, char **text, size_t *length, const void *octets,
               size_t more, size_t max)
{
    size_t room = *text != NULL ? talloc_get_size(*text) : 0;
    if (more > max - *length)
        arrival->too_large = true;
    else if (*length + more + 1 > room) {
        char *larger =
            talloc_realloc(arrival->cli->mem, *text, char, (unsigned) (2 * (*length + more) + 64));
        *text = larger != NULL ? larger : *text;
        arrival->too_large = larger == NULL;
    }
    if (arrival->too_large)
        return false;
    memcpy(*text + *length, octets, more);
    *length += more;
    (*text)[*length] = '\0';
    return true;
}

bool
arrival_head(struct arrival *arrival, const char *octets, size_t length)
{
    return arrival_append(arrival, &arrival->head, &arrival->head_length, octets, length,
                          CALL_HEAD_MAX);
}

bool
arrival_body(struct arrival *arrival, const void *octets, size_t length)
{
    const struct call *call = arrival->call;
    if (call->take == NULL || arrival->status / 100 != 2)
        return arrival_append(arrival, &arrival->text, &arrival->length, octets, length,
                              CALL_ANSWER_MAX);
    arrival->stopped = arrival->stopped || !call->take(call->take_arg, octets, length);
    return !arrival->stopped;
}

/* ---- the request ---- */

char *
call_escape(TALLOC_CTX *mem, const char *text)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    char *escaped = talloc_array(mem, char, (unsigned) (3 * strlen(text) + 1)), *to = escaped;
    for (; escaped != NULL && *text != '\0'; text++)
        to += strchr(plain, *text) != NULL ? sprintf(to, "%c", *text)
                                           : sprintf(to, "%%%02X", (unsigned char) *text);
    if (escaped != NULL)
        *to = '\0';
    return escaped;
}

/* Read the body as JSON if it says that it is. */
static int
call_parse(const struct cli *cli, struct answer *answer)
{
    const char *type = call_header(cli, answer, "Content-Type");
    if (type == NULL || strncmp(type, "application/json", 16) != 0 || answer->length == 0)
        return CLI_OK;
    if (jsonx_parse(cli->mem, answer->text, answer->length, CALL_DEPTH_MAX, &answer->json, NULL)
        == AZ_OK)
        return CLI_OK;
    output_error("%s: the answer is not JSON; is the URL of --server that of the service?",
                 cli->path);
    return CLI_FAILED;
}

static void
call_wipe(struct arrival *arrival)
{
    if (arrival->body != NULL)
        secret_wipe((void *) (uintptr_t) arrival->body, strlen(arrival->body));
}

int
call_send(struct cli *cli, const struct call *call, struct answer *ret)
{
    struct arrival arrival = {.cli = cli, .call = call};
    arrival.target = query_append(cli->mem, call->path, call->query, call->queries);
    if (call->body != NULL)
        arrival.body = jsonx_dump(cli->mem, call->body);
    if (arrival.target == NULL || (call->body != NULL && arrival.body == NULL))
        return output_no_memory(cli);
    int status = cli->choice.server != NULL ? call_remote(&arrival) : call_local(&arrival);
    call_wipe(&arrival);
    if (status != CLI_OK)
        return status;
    if (arrival.too_large) {
        output_error("%s: the answer is larger than %d MiB; ask for less", cli->path,
                     CALL_ANSWER_MAX >> 20);
        return CLI_FAILED;
    }
    *ret = (struct answer){.status = arrival.status,
                           .head = arrival.head != NULL ? arrival.head : "",
                           .text = arrival.text != NULL ? arrival.text : "",
                           .length = arrival.length};
    return call_parse(cli, ret);
}

/* ---- the answer ---- */

const char *
call_header(const struct cli *cli, const struct answer *answer, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = answer->head; *line != '\0'; line++) {
        if (strncasecmp(line, name, length) == 0 && line[length] == ':') {
            const char *value = line + length + 1;
            value += strspn(value, " \t");
            return talloc_strndup(cli->mem, value, strcspn(value, "\r\n"));
        }
        line += strcspn(line, "\n");
        if (*line == '\0')
            break;
    }
    return NULL;
}

/* True if limits refused a save of policy. */
static bool
call_was_limited(const struct answer *answer)
{
    const char *error = json_string_value(json_object_get(answer->json, "error"));
    return error != NULL && strcmp(error, LIMITS_REFUSED) == 0;
}

/* Return the exit status of a refusal. */
static int
call_exit(const struct answer *answer)
{
    if (call_was_limited(answer))
        return CLI_NOTABLE;
    return answer->status == 502 || answer->status == 503 || answer->status == 504 ? CLI_UNAVAILABLE
                                                                                   : CLI_FAILED;
}

/* Return the name of a member of the body in an error, with the option that sets it. */
static const char *
member_shown(const struct cli *cli, const struct call *call, const char *member)
{
    const char *source = call != NULL && call->source != NULL ? call->source(cli, member) : NULL;
    const char *shown =
        source != NULL ? talloc_asprintf(cli->mem, "%s (%s)", member, source) : member;
    return shown != NULL && *shown != '\0' ? shown : "(whole body)";
}

/* Print why an answer to a request, or to none that is known, is no good one. */
static int
refuse_answer(const struct cli *cli, const struct call *call, const struct answer *answer,
              const char *missing)
{
    const char *text = json_string_value(json_object_get(answer->json, "error_description")),
               *member;
    const json_t *fields = json_object_get(answer->json, "fieldErrors"),
                 *failures = json_object_get(answer->json, "failures");
    json_t *why;
    size_t i;
    if (cli->choice.json && answer->json != NULL)
        output_json(answer->json);
    json_object_foreach ((json_t *) (uintptr_t) fields, member, why)
        output_error("%s: %s %s", cli->path, member_shown(cli, call, member),
                     json_string_value(why));
    json_array_foreach (failures, i, why)
        output_error("%s: %s", cli->path, output_failure(cli->mem, why));
    if (json_object_size(fields) > 0)
        output_error("%s: nothing was changed; correct these errors and run this again", cli->path);
    else if (json_array_size(failures) > 0)
        output_error("%s: the payload does not match the schema of the row; nothing was changed",
                     cli->path);
    else if (answer->status == 404 && missing != NULL)
        output_error("%s: %s", cli->path, missing);
    else if (call_was_limited(answer))
        limits_print_refusal(cli, answer->json);
    else if (answer->status == 412)
        output_error(
            "%s: another administrator changed it meanwhile; nothing was changed; run this "
            "again",
            cli->path);
    else if (answer->status == 401)
        output_error("%s: the service does not know this admin key; see `authzctl admin-key list` "
                     "on its host",
                     cli->path);
    else if (text != NULL)
        output_error("%s: %s", cli->path, text);
    else
        output_error("%s: the service answered with status %d", cli->path, answer->status);
    return call_exit(answer);
}

int
call_refuse(const struct cli *cli, const struct answer *answer, const char *missing)
{
    return refuse_answer(cli, NULL, answer, missing);
}

int
call_run(struct cli *cli, const struct call *call, const char *missing, struct answer *ret)
{
    int status = call_send(cli, call, ret);
    if (status != CLI_OK || ret->status / 100 == 2)
        return status;
    return refuse_answer(cli, call, ret, missing);
}

/* ---- the admin key ---- */

/* Read the key from a file that no other account can use: its first line. NULL with the reason in
 * *ret_why, or NULL there if it was printed. */
static const char *
read_key(const struct cli *cli, const char *name, const char **ret_why)
{
    char line[KEY_MAX + 2] = "";
    struct stat about;
    FILE *file = fopen(name, "re");
    *ret_why = "cannot be read";
    if (file == NULL)
        return NULL;
    const char *fault = fstat(fileno(file), &about) == 0 && !file_trust_is_waived()
                            ? file_trust_fault(cli->mem, name, &about, true)
                            : NULL;
    if (fault != NULL) {
        output_error("%s: --key-file: %s", cli->path, fault);
        *ret_why = NULL;
        fclose(file);
        return NULL;
    }
    setvbuf(file, NULL, _IONBF, 0); /* no copy of the key stays in a buffer */
    const char *got = fgets(line, sizeof(line), file);
    fclose(file);
    line[strcspn(line, "\r\n")] = '\0';
    *ret_why = "contains no admin key in its first line";
    const char *key = got != NULL && *line != '\0' ? talloc_strdup(cli->mem, line) : NULL;
    explicit_bzero(line, sizeof(line));
    return key;
}

/* A key with other characters could not be one, and would break the header. */
static bool
key_is_good(const char *key)
{
    for (const char *c = key; *c != '\0'; c++)
        if (*c <= 0x20 || *c == 0x7f)
            return false;
    return *key != '\0' && strlen(key) <= KEY_MAX;
}

/* The key is never an argument: every user of the host can read those (ps). */
int
call_prepare(struct cli *cli)
{
    const char *variable = getenv(KEY_VARIABLE), *why = "contains no admin key";
    const char *name = cli->choice.key_file != NULL ? cli->choice.key_file : KEY_VARIABLE;
    if (cli->choice.key_file != NULL)
        cli->key = read_key(cli, cli->choice.key_file, &why);
    else if (variable != NULL)
        cli->key = talloc_strdup(cli->mem, variable);
    if (variable != NULL && unsetenv(KEY_VARIABLE) != 0)
        return output_no_memory(cli);
    if (cli->key != NULL && key_is_good(cli->key))
        return CLI_OK;
    if (cli->choice.key_file == NULL && variable == NULL)
        output_error("%s: --server requires an admin key; set " KEY_VARIABLE " or give --key-file",
                     cli->path);
    else if (why != NULL)
        output_error("%s: %s: %s; `authzctl admin-key mint` makes one", cli->path, name, why);
    return CLI_CONFIG;
}
