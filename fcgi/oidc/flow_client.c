#include "config.h"

#include "oidc/flow_client.h"

#include <string.h>

#include "base/uri.h"
#include "base/words.h"
#include "oauth/client_auth/cimd.h"
#include "oauth/registration/redirect_uri.h"
#include "oidc/session.h"

/*
 * True if the remembered client has the redirect_uri in its row too. A client that was removed
 * since must not stay an open redirect. If the database cannot be reached, the remembered one
 * counts.
 */
static bool
client_still_has(struct request *req)
{
    struct client *client = NULL;
    enum az_status st = client_fetch(&req->op, req->client->client_id, true, &client);
    return st != AZ_OK
           || (client != NULL && client->enabled
               && redirect_uri_is_of(client, req->failure.redirect_uri));
}

/* Read the session for the trust in the redirect_uri: the request failed before its session was
 * read. If that fails, the address is not trusted. */
static void
judge_by_session(struct request *req)
{
    unsigned char id_hash[SHA256_OCTETS];
    const char *prompt = request_param(req, "prompt");
    const struct consent_place place = flow_consent_place(req);
    struct session session = {.found = false};
    enum consent_mode mode;
    if (!session_cookie_read(req, id_hash)
        || session_find(&req->op, id_hash, &place, &session, &mode) != AZ_OK)
        return;
    req->proved = req->proved || session.found;
    flow_judge_redirect(req, &session, prompt != NULL && strcmp(prompt, "none") == 0);
}

/* Find out, before a refusal goes to the redirect_uri, if it still stands and who vouches for it.
 */
static bool
redirect_still_stands(struct request *req)
{
    struct az_fault fault = req->op.fault;
    az_fault_clear(&req->op.fault);
    bool stands = !req->failure.remembered || client_still_has(req);
    if (stands && req->failure.by_link && !req->failure.judged)
        judge_by_session(req);
    req->op.fault = fault;
    return stands;
}

/*
 * True if the browser loads the answer into a frame, as far as it says, and the redirect_uri is a
 * page. The window that the user looks at stays where it is, and a page of ours could not be seen
 * in the frame (frame-ancestors), so a silent sign-in would learn nothing. An address with another
 * scheme starts a program.
 */
static bool
is_for_frame(const struct request *req, const char *uri)
{
    static const char *const frames[] = {"iframe", "frame", NULL};
    const char *dest = request_header(req, "HTTP_SEC_FETCH_DEST");
    return dest != NULL && words_has(frames, dest)
           && (strncmp(uri, "https://", 8) == 0 || strncmp(uri, "http://", 7) == 0);
}

void
flow_judge_redirect(struct request *req, const struct session *session, bool prompt_none)
{
    bool allowed = session->found && session->consents != NULL && session->consents[0] != NULL;
    failure_judge(req, strcmp(req->client->registration, "ADMIN") != 0 && !allowed
                           && !(session->found && prompt_none)
                           && !is_for_frame(req, req->failure.redirect_uri));
}

/* Read the client; NULL (AZ_OK) for an unknown client_id. A fault of a metadata document is shown
 * to the user, because there is no other way to reach the client's author. */
static enum az_status
flow_read_client(struct request *req, const char *client_id, bool fresh, struct client **ret)
{
    if (!cimd_is_address(&req->op, client_id))
        return client_fetch(&req->op, client_id, fresh, ret);
    if (fresh)
        client_forget(&req->op, client_id);
    enum az_status st = cimd_resolve(&req->op, client_id, ret);
    if (st != AZ_INVALID_CLIENT)
        return st;
    return az_fail_as(&req->op.fault, AZ_UNAUTHORIZED_CLIENT, NULL);
}

/* Check the redirect_uri. A code goes to another port than the registered one only if the request
 * has a challenge (world.md F7). */
static enum az_status
check_redirect(struct request *req, const struct client *client, const struct flow_name *name)
{
    if (!redirect_uri_is_of(client, name->redirect_uri))
        return op_fail(&req->op, AZ_INVALID_REQUEST,
                       "The redirect_uri is not registered for this client", NULL);
    if (name->code_challenge == NULL && redirect_uri_needs_challenge(client, name->redirect_uri))
        return op_fail(&req->op, AZ_INVALID_REQUEST,
                       "The port of the redirect_uri is not the registered one. This client must "
                       "send a code_challenge (PKCE) then",
                       NULL);
    return AZ_OK;
}

enum az_status
flow_find_client(struct request *req, const struct flow_name *name, bool fresh,
                 bool *ret_remembered)
{
    const char *client_id = name->client_id;
    struct client *client = NULL;
    req->client = NULL;
    failure_to_page(req);
    *ret_remembered =
        !fresh && !cimd_is_address(&req->op, client_id) && client_is_cached(&req->op, client_id);
    enum az_status st = flow_read_client(req, client_id, fresh, &client);
    if (st != AZ_OK)
        return st;
    if (client == NULL || !client->enabled)
        return op_fail(&req->op, AZ_UNAUTHORIZED_CLIENT, "The client is unknown or disabled", NULL);
    req->audit.client_id = client->client_id;
    if ((st = check_redirect(req, client, name)) != AZ_OK)
        return st;
    req->client = client;
    failure_to_client(req, &(const struct failure_target){
                               .redirect_uri = name->redirect_uri,
                               .stands = redirect_still_stands,
                               .remembered = *ret_remembered,
                               .by_link = strcmp(client->registration, "ADMIN") != 0
                                          && !is_for_frame(req, name->redirect_uri),
                           });
    return AZ_OK;
}

struct flow_name
flow_name_of(const struct authorization *authorization)
{
    return (struct flow_name){authorization->client_id, authorization->redirect_uri,
                              authorization->code_challenge};
}

enum az_status
flow_resume(struct request *req, const struct authorization *authorization)
{
    const struct flow_name name = flow_name_of(authorization);
    bool remembered;
    req->state = authorization->state;
    req->audit.flow_id = authorization->flow_id;
    enum az_status st = flow_find_client(req, &name, false, &remembered);
    if (st != AZ_OK && remembered) {
        az_fault_clear(&req->op.fault);
        st = flow_find_client(req, &name, true, &remembered);
    }
    if (st != AZ_INVALID_REQUEST)
        return st;
    az_fault_clear(&req->op.fault);
    return op_fail(&req->op, AZ_UNAUTHORIZED_CLIENT,
                   "The redirect_uri is no longer registered for this client", NULL);
}

struct consent_place
flow_consent_place(struct request *req)
{
    bool remembered = redirect_uri_is_remembered(req->failure.redirect_uri);
    return (struct consent_place){
        .client = req->client->id,
        .host = remembered ? uri_place(req->op.mem, req->failure.redirect_uri) : NULL,
    };
}

enum az_status
flow_consent_hash(struct op *op, const struct authorization *authorization,
                  unsigned char room[SHA256_OCTETS], const unsigned char **ret)
{
    *ret = NULL;
    if (!redirect_uri_is_remembered(authorization->redirect_uri))
        return AZ_OK;
    enum az_status st = authorization_consent_hash(op, authorization, room);
    if (st == AZ_OK)
        *ret = room;
    return st;
}

enum az_status
flow_is_consented(struct op *op, const struct authorization *authorization,
                  const struct session *session, bool *ret)
{
    unsigned char room[SHA256_OCTETS];
    const unsigned char *hash;
    char digits[SHA256_HEX_SIZE];
    enum az_status st = flow_consent_hash(op, authorization, room, &hash);
    *ret = false;
    if (st != AZ_OK || hash == NULL)
        return st;
    digest_hex(hash, digits);
    *ret = session->consents != NULL && words_has((const char *const *) session->consents, digits);
    return AZ_OK;
}
