/* entitle and unentitle: what a client may do, in the row of bindings. */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json/jsonx.h"
#include "base/words.h"
#include "cli/admin/admin.h"
#include "cli/lib/input.h"
#include "cli/lib/limits.h"
#include "cli/lib/output.h"
#include "cli/verbs.h"
#include "policy/rows/data_key.h"

/* The row, and the request for it. */
#define BINDINGS "svc.entitlements.bindings"
#define BINDINGS_PATH "/admin/api/policy-data/by-key"

/* Attempts to write the row while others write it too, and the milliseconds between them: each
 * attempt loses only to a writer that has won. */
#define ENTITLE_TRIES 20
#define ENTITLE_PAUSE_MS 100

/* The resource for which scopes of managed resources count. */
#define GATEWAY "urn:svc:gateway"

#define AT(member) offsetof(struct cli_choices, member)

/* clang-format off */
#define RIGHTS \
    {"endpoint", 0, "ENDPOINT...", AT(endpoints), false, \
     "Endpoint that the client may call: introspect, check, authzen, uma_protection, " \
     "delegation_management"}, \
    {"gateway-scope", 0, "PATTERN...", AT(gateway_scopes), false, \
     "Scopes of managed resources by how they begin, such as 'github:*', or '*'; they need " \
     "--resource " GATEWAY}, \
    {"grant", 0, "GRANT...", AT(grants), false, \
     "Grant type, such as client_credentials or authorization_code; may be repeated"}, \
    LIMITS_IMPACT_OPTION, \
    LIMITS_OPTIONS, \
    LIMITS_OVERRIDE_OPTION, \
    {"resource", 0, "RESOURCE...", AT(resources), false, \
     "Resource indicator for which the client may get tokens; may be repeated"}, \
    {"scope", 0, "SCOPE...", AT(scopes), false, "Scope that the client may get; may be repeated"}, \
    LIMITS_SINCE_OPTION

const struct cli_option entitle_options[] = {RIGHTS, {NULL, 0, NULL, 0, false, NULL}};
const struct cli_option unentitle_options[] = {
    {"all", 0, NULL, AT(all), false, "Remove the whole binding of the client"},
    RIGHTS,
    {NULL, 0, NULL, 0, false, NULL},
};

/* Options and the members of a binding. */
static const struct admin_member rights[] = {
    {AT(endpoints), "endpoints", ADMIN_WORDS},
    {AT(gateway_scopes), "gateway_scopes", ADMIN_WORDS},
    {AT(grants),    "grants",    ADMIN_WORDS},
    {AT(resources), "resources", ADMIN_WORDS},
    {AT(scopes),    "scopes",    ADMIN_WORDS},
    {0, NULL, ADMIN_TEXT},
};
/* clang-format on */

/* One change. */
struct entitle {
    struct cli *cli;
    bool remove;          /* unentitle */
    json_t *words;        /* the options as an object of lists */
    const json_t *stored; /* the binding as it is, or NULL */
    json_t *binding;      /* the binding as it becomes */
    bool changed;         /* it differs from the stored one */
    const char *etag;     /* of the row that was read */
    struct answer saved;  /* answer to the last write */
};

static size_t
find_word(const json_t *list, const json_t *word)
{
    size_t i;
    json_t *item;
    json_array_foreach (list, i, item)
        if (json_equal(item, word))
            break;
    return i;
}

/* Add the words to a list, or remove them. True if the list changed. */
static bool
change_list(json_t *list, const json_t *words, bool remove)
{
    bool changed = false;
    size_t i;
    json_t *word;
    json_array_foreach (words, i, word) {
        size_t at = find_word(list, word);
        bool there = at < json_array_size(list);
        if (there == remove)
            changed = (remove ? json_array_remove(list, at) : json_array_append(list, word)) == 0
                      || changed;
    }
    return changed;
}

bool
entitle_change(json_t *binding, const json_t *words, bool remove)
{
    const char *name;
    json_t *given;
    bool changed = false;
    json_object_foreach ((json_t *) (uintptr_t) words, name, given) {
        json_t *list = json_object_get(binding, name);
        if (list == NULL && (remove || json_object_set_new(binding, name, json_array()) != 0))
            continue;
        list = json_object_get(binding, name);
        changed = change_list(list, given, remove) || changed;
        if (json_array_size(list) == 0)
            json_object_del(binding, name);
    }
    return changed;
}

/* ---- the row ---- */

/* Make the new binding from the stored payload. */
static int
entitle_apply(struct entitle *entitle, const json_t *payload)
{
    const char *client = entitle->cli->args[0];
    const json_t *stored = entitle->stored =
        json_object_get(json_object_get(payload, "clients"), client);
    json_t *binding = stored != NULL ? jsonx_deep_copy(stored) : json_object();
    entitle->binding = jsonx_own(entitle->cli->mem, binding);
    if (entitle->binding == NULL)
        return output_no_memory(entitle->cli);
    if (entitle->cli->choice.all) {
        entitle->changed = stored != NULL;
        json_object_clear(entitle->binding);
    } else {
        entitle->changed = entitle_change(entitle->binding, entitle->words, entitle->remove);
    }
    return CLI_OK;
}

static const struct query_pair bindings_key[] = {
    {"dataKey", BINDINGS}
};

/* Read the row and make the new binding. */
static int
entitle_read(struct entitle *entitle)
{
    struct cli *cli = entitle->cli;
    const struct call call = {
        .method = "GET", .path = BINDINGS_PATH, .query = bindings_key, .queries = 1};
    struct answer answer;
    json_t *payload;
    int status = call_run(
        cli, &call, "the row " BINDINGS " does not exist; run `authzctl db migrate`", &answer);
    if (status == CLI_OK)
        status = input_payload(cli, json_string_value(json_object_get(answer.json, "payload")),
                               &payload);
    if (status != CLI_OK)
        return status;
    entitle->etag = call_header(cli, &answer, "ETag");
    return entitle_apply(entitle, payload);
}

/* Return the binding as a merge patch: null for what goes (RFC 7396). */
static json_t *
entitle_patch(const struct entitle *entitle)
{
    const char *name;
    json_t *value, *patch;
    if (json_object_size(entitle->binding) == 0)
        return json_null();
    patch = jsonx_copy(entitle->binding);
    json_object_foreach ((json_t *) (uintptr_t) entitle->stored, name, value)
        if (json_object_get(patch, name) == NULL)
            json_object_set_new(patch, name, json_null());
    return patch;
}

/* Write the binding alone, unless the row changed since it was read. */
static int
entitle_write(struct entitle *entitle)
{
    struct cli *cli = entitle->cli;
    json_t *patch = jsonx_own(
        cli->mem, json_pack("{s:{s:o}}", "clients", cli->args[0], entitle_patch(entitle)));
    struct query_pair query[LIMITS_QUERY_MAX + 1];
    size_t limits = limits_query(cli, query);
    query[limits] = bindings_key[0];
    const struct call call = {.method = "PATCH",
                              .path = BINDINGS_PATH,
                              .query = query,
                              .queries = limits + 1,
                              .body = patch,
                              .if_match = entitle->etag};
    if (patch == NULL || entitle->etag == NULL)
        return output_no_memory(cli);
    return call_send(cli, &call, &entitle->saved);
}

/* True if another writer was first, or is at work. */
static bool
entitle_again(const struct answer *answer)
{
    const char *error = json_string_value(json_object_get(answer->json, "error"));
    return answer->status == 412
           || (answer->status == 409 && error != NULL && strcmp(error, "save_in_progress") == 0);
}

/* Wait before the next attempt; two that started together must not stay in step. */
static void
entitle_pause(int attempt)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long ms = ENTITLE_PAUSE_MS * (1 + attempt % 5) + now.tv_nsec / 1000 % ENTITLE_PAUSE_MS;
    const struct timespec pause = {.tv_nsec = ms * 1000000};
    nanosleep(&pause, NULL);
}

static int
entitle_save(struct entitle *entitle)
{
    int status = CLI_OK;
    for (int attempt = 0; status == CLI_OK && attempt < ENTITLE_TRIES; attempt++) {
        if (attempt > 0)
            entitle_pause(attempt);
        status = entitle_read(entitle);
        if (status != CLI_OK || !entitle->changed)
            return status;
        status = entitle_write(entitle);
        if (status == CLI_OK && !entitle_again(&entitle->saved))
            return entitle->saved.status / 100 == 2
                       ? CLI_OK
                       : call_refuse(entitle->cli, &entitle->saved, NULL);
    }
    if (status == CLI_OK) {
        output_error("%s: others changed " BINDINGS " during each of %d attempts; run this again",
                     entitle->cli->path, ENTITLE_TRIES);
        status = CLI_FAILED;
    }
    return status;
}

/* ---- the verbs ---- */

/* Warn of scopes of managed resources that count for no token. */
static void
entitle_warn(const struct entitle *entitle)
{
    json_t *gateway = json_string(GATEWAY);
    const json_t *resources = json_object_get(entitle->binding, "resources");
    if (!entitle->remove && json_object_get(entitle->words, "gateway_scopes") != NULL
        && find_word(resources, gateway) == json_array_size(resources))
        output_error("%s: warning: --gateway-scope counts with the resource " GATEWAY
                     " alone; run `authzctl entitle %s --resource " GATEWAY "`",
                     entitle->cli->path, entitle->cli->args[0]);
    json_decref(gateway);
}

static int
entitle_print(const struct entitle *entitle)
{
    const struct cli *cli = entitle->cli;
    const char *revision = NULL, *activation = NULL;
    if (entitle->changed) {
        revision = call_header(cli, &entitle->saved, "X-Policy-Revision");
        activation = call_header(cli, &entitle->saved, "X-Policy-Activation");
    }
    if (cli->choice.json)
        output_json(
            jsonx_own(cli->mem, json_pack("{s:s,s:b,s:O,s:s*,s:s*}", "clientId", cli->args[0],
                                          "changed", entitle->changed, "binding", entitle->binding,
                                          "revision", revision, "activation", activation)));
    else if (entitle->changed)
        output_print("%s %s\n", revision != NULL ? revision : "",
                     activation != NULL ? activation : "");
    else
        output_line(cli, "nothing to change: client %s %s", cli->args[0],
                    entitle->remove ? "has none of these rights in its binding"
                                    : "has these rights already");
    entitle_warn(entitle);
    return CLI_OK;
}

/* Refuse a client that does not exist: the name may be mistyped, and its rights would wait for
 * whoever registers it. */
static int
entitle_check_client(struct cli *cli)
{
    const struct call call = {.method = "GET",
                              .path = talloc_asprintf(cli->mem, "/admin/api/clients/%s",
                                                      call_escape(cli->mem, cli->args[0]))};
    struct answer answer;
    return call_run(
        cli, &call,
        talloc_asprintf(cli->mem, "'%s' is not a client; see `authzctl client list`", cli->args[0]),
        &answer);
}

static int
entitle_as(struct cli *cli, bool remove)
{
    struct entitle entitle = {
        .cli = cli, .remove = remove, .words = jsonx_own(cli->mem, json_object())};
    if (entitle.words == NULL || !admin_fill(cli, rights, entitle.words))
        return output_no_memory(cli);
    if ((json_object_size(entitle.words) > 0) == cli->choice.all) {
        output_error("%s: %s; see `authzctl %s --help`", cli->path,
                     cli->choice.all
                         ? "--all removes everything; omit the other options"
                         : "missing option: --grant, --scope, --resource, --endpoint or "
                           "--gateway-scope",
                     cli->path);
        return CLI_USAGE;
    }
    int status = remove ? CLI_OK : entitle_check_client(cli);
    if (status == CLI_OK)
        status = entitle_save(&entitle);
    return status == CLI_OK ? entitle_print(&entitle) : status;
}

int
entitle_run(struct cli *cli)
{
    return entitle_as(cli, false);
}

int
unentitle_run(struct cli *cli)
{
    return entitle_as(cli, true);
}
