#include "config.h"

#include "oauth/dpop/dpop.h"

#include <string.h>
#include <strings.h>

#include "base/settings/settings.h"
#include "oauth/dpop/dpop_proof.h"
#include "oauth/dpop/nonce.h"
#include "store/tokens/proofs.h"

/* ---- the proof */

/* The demands of one request on its proof, beside the rule for every proof. */
struct demand {
    const char *access_token;       /* that the request shows, or NULL */
    const char *jkt;                /* key that it must be made with; NULL: any */
    enum az_status no_nonce;        /* outcome of a proof that is good except for its nonce */
    const struct dpop_place *place; /* that it is about; NULL: this request */
};

/* A proof that is read, or the reason to ignore it. */
struct reading {
    struct dpop_proof proof;
    const char *why; /* NULL: the proof is good so far */
};

/* Give the client the nonce for its next proof (RFC 9449 8.2). */
static enum az_status
send_nonce(struct request *req)
{
    const struct settings *cfg = req->op.az->cfg;
    char *nonce = talloc_size(req->op.mem, DPOP_NONCE_SIZE);
    if (nonce == NULL
        || dpop_nonce_make(req->op.az->keyring, op_now(&req->op), cfg->dpop_nonce_ttl, nonce)
               != AZ_OK)
        return op_no_memory(&req->op);
    respond_header(req, "DPoP-Nonce", nonce);
    return AZ_OK;
}

/* Apply the rule to the text of a proof. `url` is our own address of this request, whatever Host
 * the client sent. */
static enum az_status
judge_proof(struct request *req, const char *text, const char *url, const struct demand *demand,
            struct reading *reading)
{
    const struct dpop_rule rule = {
        .algs = req->op.az->dpop_algs,
        .method = demand->place != NULL ? demand->place->method : req->method,
        .url = url,
        .access_token = demand->access_token,
        .now = op_now(&req->op),
        .window = req->op.az->cfg->dpop_iat_window,
        .slash = demand->place == NULL && req->route->slash,
    };
    enum az_status st = dpop_proof_read(req->op.mem, text, &rule, &reading->proof, &reading->why);
    if (st == AZ_OK && demand->jkt != NULL && strcmp(reading->proof.jkt, demand->jkt) != 0)
        reading->why = "it is made with another key";
    return st == AZ_OK || st == AZ_INVALID ? AZ_OK : op_no_memory(&req->op);
}

/* Check the nonce of a proof that is good otherwise. */
static enum az_status
check_nonce(struct request *req, const struct dpop_proof *proof, enum az_status no_nonce)
{
    const struct settings *cfg = req->op.az->cfg;
    if (!cfg->dpop_nonce_enabled
        || dpop_nonce_good(req->op.az->keyring, op_now(&req->op), cfg->dpop_nonce_ttl,
                           proof->nonce))
        return AZ_OK;
    return op_fail(&req->op, no_nonce, NULL, "the DPoP proof has %s",
                   proof->nonce == NULL ? "no nonce" : "an old nonce or one of another server");
}

/*
 * Use the proof up: the last check, because a stranger's bad copy must not burn it. A proof whose
 * iat lies in the future can be used for twice the window from now on (decisions.md "DPoP replay").
 */
static enum az_status
use_once(struct request *req, const char *url, struct reading *reading)
{
    const struct dpop_proof *proof = &reading->proof;
    unsigned char hash[SHA256_OCTETS];
    bool first = false;
    /* No part can hold a line break except the last one. */
    const char *text = talloc_asprintf(req->op.mem, "%s\n%s\n%s", proof->jkt, url, proof->jti);
    if (text == NULL || sha256(text, strlen(text), hash) != AZ_OK)
        return op_no_memory(&req->op);
    const int64_t window = req->op.az->cfg->dpop_iat_window;
    enum az_status st = proof_remember(&req->op, hash, 2 * window, proof->iat - window, &first);
    if (st == AZ_OK && !first)
        reading->why = "it was used before, or may have been before the last restore-fence";
    return st;
}

/* Read the proof of the header and set req->dpop. */
static enum az_status
read_proof(struct request *req, const char *text, const struct demand *demand)
{
    struct reading reading = {.why = NULL};
    struct dpop *dpop = talloc_zero(req->op.mem, struct dpop);
    const char *url =
        demand->place != NULL
            ? demand->place->url
            : talloc_asprintf(req->op.mem, "%s%s", req->op.az->cfg->oidc_issuer, req->path);
    if (dpop == NULL || url == NULL)
        return op_no_memory(&req->op);
    enum az_status st = judge_proof(req, text, url, demand, &reading);
    if (st == AZ_OK && reading.why == NULL)
        st = check_nonce(req, &reading.proof, demand->no_nonce);
    if (st == AZ_OK && reading.why == NULL)
        st = use_once(req, url, &reading);
    if (st != AZ_OK)
        return st;
    dpop->why = reading.why;
    if (dpop->why == NULL && (dpop->jkt = talloc_strdup(dpop, reading.proof.jkt)) == NULL)
        return op_no_memory(&req->op);
    req->dpop = dpop;
    return AZ_OK;
}

/* Read the proof of the request if there is one and DPoP is on. Two headers come as one with a
 * comma, which no proof has. */
static enum az_status
dpop_read_header(struct request *req, const struct demand *demand)
{
    const char *text = req->op.az->dpop_algs != NULL ? request_header(req, "HTTP_DPOP") : NULL;
    if (text == NULL)
        return AZ_OK;
    enum az_status st = req->op.az->cfg->dpop_nonce_enabled ? send_nonce(req) : AZ_OK;
    return st == AZ_OK ? read_proof(req, text, demand) : st;
}

enum az_status
dpop_read(struct request *req)
{
    const struct demand demand = {.no_nonce = AZ_USE_DPOP_NONCE};
    enum az_status st = dpop_read_header(req, &demand);
    if (st == AZ_OK && req->dpop != NULL && req->dpop->why != NULL)
        req->audit.summary = talloc_asprintf(req->op.mem, "{\"dpop\":\"%s\"}", req->dpop->why);
    return st;
}

/* ---- tokens */

/* Return the text after a scheme in the Authorization header, or NULL. */
static const char *
text_after(const struct request *req, const char *scheme)
{
    const char *header = request_header(req, "HTTP_AUTHORIZATION");
    size_t length = strlen(scheme);
    return header != NULL && strncasecmp(header, scheme, length) == 0
                   && (header[length] == ' ' || header[length] == '\0')
               ? header + length + strspn(header + length, " ")
               : NULL;
}

/* True if the request shows a token with the scheme DPoP, and DPoP is on. */
static bool
shown_by_dpop(const struct request *req)
{
    return req->op.az->dpop_algs != NULL && text_after(req, "DPoP") != NULL;
}

const char *
access_token_text(const struct request *req)
{
    return text_after(req, shown_by_dpop(req) ? "DPoP" : "Bearer");
}

/* Return the list of the algorithms for a challenge, or NULL if out of memory. */
static char *
algs_text(TALLOC_CTX *mem, const char *const *algs)
{
    char *text = talloc_strdup(mem, *algs);
    for (const char *const *alg = algs + 1; *alg != NULL && text != NULL; alg++)
        text = talloc_asprintf_append(text, " %s", *alg);
    return text;
}

void
access_token_challenge(struct request *req, const char *params)
{
    req->challenge = params != NULL ? talloc_asprintf(req->op.mem, "Bearer %s", params) : "Bearer";
    if (req->op.az->dpop_algs == NULL)
        return;
    bool told = params != NULL && shown_by_dpop(req);
    req->dpop_challenge =
        talloc_asprintf(req->op.mem, "DPoP %s%salgs=\"%s\"", told ? params : "", told ? ", " : "",
                        algs_text(req->op.mem, req->op.az->dpop_algs));
}

enum az_status
dpop_check_token(struct request *req, const char *access_token, const char *jkt,
                 const char **ret_why)
{
    return dpop_check_token_at(req, NULL, access_token, jkt, ret_why);
}

enum az_status
dpop_check_token_at(struct request *req, const struct dpop_place *place, const char *access_token,
                    const char *jkt, const char **ret_why)
{
    bool by_dpop = shown_by_dpop(req);
    const struct demand demand = {
        .access_token = access_token, .jkt = jkt, .no_nonce = AZ_DPOP_NONCE_NEEDED, .place = place};
    if (jkt == NULL && !by_dpop)
        return AZ_OK;
    *ret_why = jkt == NULL ? "the token is not bound to a key, but came with the scheme DPoP"
               : !by_dpop  ? "the token is bound to a key, but came without the scheme DPoP"
                           : NULL;
    if (*ret_why != NULL)
        return AZ_INVALID;
    enum az_status st = dpop_read_header(req, &demand);
    if (st == AZ_DPOP_NONCE_NEEDED)
        /* Alone: a client looks for this one challenge (RFC 9449 9). */
        req->challenge = talloc_asprintf(req->op.mem, "DPoP error=\"use_dpop_nonce\", algs=\"%s\"",
                                         algs_text(req->op.mem, req->op.az->dpop_algs));
    if (st != AZ_OK)
        return st;
    *ret_why = req->dpop == NULL ? "the request has no DPoP proof" : req->dpop->why;
    return *ret_why != NULL ? AZ_INVALID : AZ_OK;
}
