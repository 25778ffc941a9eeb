#include "config.h"

#include "oidc/describe.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/uri.h"
#include "base/visible.h"
#include "base/words.h"
#include "oidc/consent_details.h"

/* Add an entry to a list of the page. Running out of memory is a failure: an entry that is missing
 * would be allowed unseen. */
static bool
show(json_t *list, json_t *entry)
{
    return json_array_append_new(list, entry) == 0;
}

/* List the words of a scope with their descriptions. */
static bool
show_scopes(const char *scope, json_t *list)
{
    static const struct {
        const char *name, *text;
    } known[] = {
        {"openid",         "See who you are"               },
        {"profile",        "See your name and profile"     },
        {"email",          "See your email address"        },
        {"address",        "See your postal address"       },
        {"phone",          "See your phone number"         },
        {"offline_access", "Keep access while you are away"},
    };
    const char *word;
    size_t length;
    bool shown = true;
    while (shown && words_next(&scope, &word, &length)) {
        const char *text = "";
        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
            if (strlen(known[i].name) == length && memcmp(word, known[i].name, length) == 0)
                text = known[i].text;
        shown = show(list, json_pack("{s:s%,s:s}", "name", word, length, "text", text));
    }
    return shown;
}

enum az_status
describe_access(struct request *req, const struct described_access *access,
                struct jsonx_build *values)
{
    json_t *scopes = json_array(), *details = json_array();
    jsonx_set(values, "scopes", scopes);
    jsonx_set(values, "details", details);
    if (access->resource != NULL)
        jsonx_set(values, "resource", json_string(access->resource));
    if (!values->lost && show_scopes(access->scope, scopes)
        && consent_show_details(req->op.mem, access->resource_types, access->details, details))
        return AZ_OK;
    return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "out of memory for the page");
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
