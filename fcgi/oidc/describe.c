#include "config.h"

#include "oidc/describe.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/uri.h"
#include "base/visible.h"
#include "base/words.h"
#include "http/page/page.h"
#include "oidc/consent_details.h"
#include "policy/decide/scope_words.h"

/* Add an entry to a list of the page. Running out of memory is a failure: an entry that is missing
 * would be allowed unseen. */
static bool
show(json_t *list, json_t *entry)
{
    return json_array_append_new(list, entry) == 0;
}

/* Add the operator's words for a scope to its entry: in the language of the page, else in English,
 * else in the first one. Words that cannot be seen whole are left out. False: there are none. */
static bool
add_words(struct request *req, const json_t *words, const char *name, json_t *entry)
{
    json_t *by_tag = json_object_get(words, name);
    const char *tag = page_language(req, by_tag);
    if (tag == NULL)
        tag = json_object_iter_key(json_object_iter(by_tag));
    const json_t *its = tag != NULL ? json_object_get(by_tag, tag) : NULL;
    const char *title = json_string_value(json_object_get(its, "title"));
    const char *more = json_string_value(json_object_get(its, "description"));
    if (describe_seen(title, NULL) == NULL)
        return false;
    json_object_set_new(entry, "text", json_string(title));
    json_object_set_new(entry, "words_lang", json_string(tag));
    if (describe_seen(more, NULL) != NULL)
        json_object_set_new(entry, "description", json_string(more));
    return true;
}

/* Add the shipped words, if there are any. */
static void
add_shipped_words(struct request *req, const char *name, json_t *entry)
{
    const json_t *texts = req->op.az->pages != NULL ? pages_texts(req->op.az->pages) : NULL;
    const char *tag = page_language(req, texts);
    const char *key = talloc_asprintf(req->op.mem, "scope_%s", name);
    json_t *text =
        tag != NULL && key != NULL ? json_object_get(json_object_get(texts, tag), key) : NULL;
    if (text == NULL)
        return;
    json_object_set(entry, "text", text);
    json_object_set_new(entry, "words_lang", json_string(tag));
}

bool
describe_scopes(struct request *req, const json_t *words, const char *scope, json_t *list)
{
    const char *word;
    size_t length;
    while (words_next(&scope, &word, &length)) {
        const char *name = talloc_strndup(req->op.mem, word, length);
        json_t *entry = json_pack("{s:s,s:s}", "name", name != NULL ? name : "", "text", "");
        if (name == NULL || entry == NULL || !show(list, entry))
            return false;
        if (!add_words(req, words, name, entry))
            add_shipped_words(req, name, entry);
    }
    return true;
}

enum az_status
describe_access(struct request *req, const struct described_access *access,
                struct jsonx_build *values)
{
    json_t *scopes = json_array(), *details = json_array();
    const json_t *words = NULL;
    enum az_status st = scope_words_read(&req->op, &words);
    jsonx_set(values, "scopes", scopes);
    jsonx_set(values, "details", details);
    if (access->resource != NULL)
        jsonx_set(values, "resource", json_string(access->resource));
    if (st != AZ_OK)
        return st;
    if (!values->lost && describe_scopes(req, words, access->scope, scopes)
        && consent_show_details(req->op.mem, access->resource_types, access->details, details))
        return AZ_OK;
    return op_no_memory(&req->op);
}

const char *
describe_seen(const char *text, const char *other)
{
    return text != NULL && *text != '\0' && visible_fault(text) == NULL ? text : other;
}

void
describe_client(struct request *req, const struct client *client, struct jsonx_build *values)
{
    bool made_here = strcmp(client->registration, "ADMIN") == 0;
    const char *address = strcmp(client->registration, "CIMD") == 0 ? client->client_id
                          : made_here                               ? client->uri
                                                                    : NULL;
    const char *name = describe_seen(client->name, NULL);
    struct uri uri;
    jsonx_set(values, "client_id", json_string(client->client_id));
    if (name != NULL)
        jsonx_set(values, "client_name", json_string(name));
    jsonx_set(values, "verified", json_boolean(made_here));
    if (address != NULL && uri_parse(req->op.mem, address, &uri) == AZ_OK && uri.host != NULL)
        jsonx_set(values, "client_host", json_string(uri.host));
}

/* Append a link, if the address is one that a browser opens at the host that is shown beside it. */
static void
append_link(struct request *req, const char *kind, const char *text, const char *href,
            struct jsonx_build *links)
{
    struct uri uri;
    if (href == NULL || uri_web_fault(href) != NULL || uri_parse(req->op.mem, href, &uri) != AZ_OK
        || uri.host == NULL || uri.userinfo != NULL)
        return;
    jsonx_append(links, json_pack("{s:b,s:s,s:s,s:s}", kind, 1, "text", text, "href", href, "host",
                                  uri.host));
}

void
describe_links(struct request *req, const struct client *client, struct jsonx_build *values)
{
    struct jsonx_build links = {json_array(), false};
    append_link(req, "policy", "Privacy policy", client->policy, &links);
    append_link(req, "terms", "Terms of service", client->terms, &links);
    jsonx_set(values, "links", links.value);
    values->lost = values->lost || links.lost;
}

enum az_status
describe_user(struct request *req, const struct session *session, struct jsonx_build *values)
{
    const char *label = NULL, *idp = NULL;
    enum az_status st = session_person(&req->op, session, &label, &idp);
    if (st != AZ_OK)
        return st;
    jsonx_set(values, "subject_name", json_string(describe_seen(label, session->subject)));
    jsonx_set(values, "idp_name", json_string(describe_seen(idp, session->idp_id)));
    return AZ_OK;
}
