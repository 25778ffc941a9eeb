#include "config.h"

#include "http/fetch/fetch.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/settings/settings.h"
#include "base/uri.h"
#include "base/utf8.h"
#include "http/fetch/fetch_address.h"
#include "http/fetch/fetch_head.h"
#include "http/fetch/fetch_places.h"
#include "http/fetch/fetch_roots.h"

/* Longest part of a URL that goes into the log, in octets. */
#define SHOWN_MAX 160
#define HOST_CHARS "abcdefghijklmnopqrstuvwxyz0123456789.-_"

/* One transfer. */
struct transfer {
    struct op *op;
    const struct fetch_request *request;
    struct uri uri;            /* of the request */
    bool trusted_host;         /* plain http and any address are allowed for this host */
    bool refused_address;      /* an address was not public */
    bool too_large;            /* the body passed max_octets */
    bool long_head;            /* the head passed FETCH_HEAD_MAX */
    bool no_memory;            /* in this process */
    struct fetch_head head;    /* what the head said */
    struct buf body;           /* of the answer */
    struct curl_slist *fields; /* header fields of the request */
    CURL *curl;
    char error[CURL_ERROR_SIZE]; /* libcurl's message */
};

/* ---- allowed hosts and addresses */

static bool
host_is_trusted(const struct settings *cfg, enum fetch_hosts hosts, const char *host)
{
    if (hosts == FETCH_CIMD)
        return cfg->cimd_allow_insecure && uri_host_is_listed(cfg->cimd_insecure_hosts, host);
    if (hosts == FETCH_GATEWAY)
        return uri_host_is_listed(cfg->gateway_insecure_hosts, host);
    return cfg->safe_http_allow_insecure && uri_host_is_listed(cfg->safe_http_insecure_hosts, host);
}

/* True if the host is an IP address that is not public. The address of a name is checked when
 * libcurl connects to it. */
static bool
host_is_special(const char *host)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, host, &v4.sin_addr) == 1)
        return !fetch_address_is_public((const struct sockaddr *) &v4, sizeof(v4));
    return inet_pton(AF_INET6, host, &v6.sin6_addr) == 1
           && !fetch_address_is_public((const struct sockaddr *) &v6, sizeof(v6));
}

/*
 * Check the URL. The host must be one that libcurl reads as we do: a name in plain characters or an
 * IPv6 address. Where two readers of a URL disagree, an attacker can make a trusted name hide
 * another host.
 */
static enum fetch_fault
check_url(struct op *op, enum fetch_hosts hosts, const char *url, struct uri *uri,
          bool *ret_trusted)
{
    if (url == NULL || uri_parse(op->mem, url, uri) != AZ_OK)
        return FETCH_FAULT_URL;
    if (uri->host == NULL || *uri->host == '\0' || uri->userinfo != NULL || uri->fragment != NULL)
        return FETCH_FAULT_URL;
    if (strchr(uri->host, ':') == NULL && uri->host[strspn(uri->host, HOST_CHARS)] != '\0')
        return FETCH_FAULT_URL;
    *ret_trusted = host_is_trusted(op->az->cfg, hosts, uri->host);
    if (strcmp(uri->scheme, "https") != 0 && !(strcmp(uri->scheme, "http") == 0 && *ret_trusted))
        return FETCH_FAULT_URL;
    return *ret_trusted || !host_is_special(uri->host) ? FETCH_OK : FETCH_FAULT_ADDRESS;
}

enum fetch_fault
fetch_url_fault(struct op *op, enum fetch_hosts hosts, const char *url, const char **ret_host)
{
    struct uri uri = {.host = NULL};
    bool trusted;
    enum fetch_fault fault = check_url(op, hosts, url, &uri, &trusted);
    if (ret_host != NULL)
        *ret_host = uri.host;
    return fault;
}

/* Check the address to which libcurl is about to connect. It connects to this very address, so a
 * name that resolves to another one a moment later (DNS rebinding) gains nothing. */
static curl_socket_t
open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct transfer *transfer = arg;
    (void) purpose;
    bool allowed =
        transfer->request->hosts == FETCH_GATEWAY && transfer->trusted_host
            ? !fetch_address_is_forbidden(&address->addr, address->addrlen)
            : transfer->trusted_host || fetch_address_is_public(&address->addr, address->addrlen);
    if (!allowed) {
        transfer->refused_address = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* ---- the answer */

static size_t
take_head(char *line, size_t size, size_t count, void *arg)
{
    struct transfer *transfer = arg;
    if (fetch_head_line(&transfer->head, line, size * count))
        return size * count;
    transfer->long_head = true;
    return 0;
}

static size_t
take_body(char *octets, size_t size, size_t count, void *arg)
{
    struct transfer *transfer = arg;
    enum az_status st = buf_append(&transfer->body, octets, size * count);
    transfer->too_large = st == AZ_INVALID;
    transfer->no_memory = st != AZ_OK && st != AZ_INVALID;
    return st == AZ_OK ? size * count : 0;
}

/* ---- the request */

/* Set an option. None may fail, because each one keeps an attack out. */
#define SET(transfer, option, value)                                                               \
    (curl_easy_setopt((transfer)->curl, (option), (value)) == CURLE_OK)

static long
connect_seconds(const struct fetch_request *request)
{
    return fetch_hosts_of_clients(request->hosts) && request->timeout > FETCH_CLIENT_CONNECT_SECONDS
               ? FETCH_CLIENT_CONNECT_SECONDS
               : request->timeout;
}

static bool
set_limits(struct transfer *transfer)
{
#if LIBCURL_VERSION_NUM >= 0x075700
    /* A name server that does not answer must not hold us past the timeout; its thread ends on its
     * own. */
    curl_easy_setopt(transfer->curl, CURLOPT_QUICK_EXIT, 1L);
#endif
    return SET(transfer, CURLOPT_TIMEOUT_MS, transfer->request->timeout * 1000)
           && SET(transfer, CURLOPT_CONNECTTIMEOUT_MS, connect_seconds(transfer->request) * 1000)
           && SET(transfer, CURLOPT_NOSIGNAL, 1L) && SET(transfer, CURLOPT_FOLLOWLOCATION, 0L)
           && SET(transfer, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t) transfer->request->max_octets)
           && SET(transfer, CURLOPT_HTTP_VERSION, (long) CURL_HTTP_VERSION_1_1)
           && SET(transfer, CURLOPT_FORBID_REUSE, 1L) && SET(transfer, CURLOPT_FRESH_CONNECT, 1L);
}

static bool
set_way(struct transfer *transfer)
{
#if LIBCURL_VERSION_NUM >= 0x075500
    if (!SET(transfer, CURLOPT_PROTOCOLS_STR, transfer->uri.scheme))
        return false;
#else
    if (!SET(transfer, CURLOPT_PROTOCOLS,
             strcmp(transfer->uri.scheme, "https") == 0 ? CURLPROTO_HTTPS : CURLPROTO_HTTP))
        return false;
#endif
    if (!fetch_set_roots(transfer->curl, transfer->op->az->cfg))
        return false;
    return SET(transfer, CURLOPT_URL, transfer->request->url)
           && SET(transfer, CURLOPT_PATH_AS_IS, 1L) /* request the path that was checked */
           && SET(transfer, CURLOPT_PROXY, "")      /* ignore proxy variables */
           && SET(transfer, CURLOPT_NETRC, (long) CURL_NETRC_IGNORED)
           && SET(transfer, CURLOPT_SSLVERSION, (long) CURL_SSLVERSION_TLSv1_2)
           && SET(transfer, CURLOPT_SSL_VERIFYPEER, 1L) && SET(transfer, CURLOPT_SSL_VERIFYHOST, 2L)
           && SET(transfer, CURLOPT_OPENSOCKETFUNCTION, open_socket)
           && SET(transfer, CURLOPT_OPENSOCKETDATA, transfer)
           && SET(transfer, CURLOPT_HEADERFUNCTION, take_head)
           && SET(transfer, CURLOPT_HEADERDATA, transfer)
           && SET(transfer, CURLOPT_WRITEFUNCTION, take_body)
           && SET(transfer, CURLOPT_WRITEDATA, transfer)
           && SET(transfer, CURLOPT_ERRORBUFFER, transfer->error);
}

static bool
add_field(struct transfer *transfer, const char *name, const char *value)
{
    char *line = talloc_asprintf(transfer->op->mem, "%s: %s", name, value);
    struct curl_slist *longer = line != NULL ? curl_slist_append(transfer->fields, line) : NULL;
    if (line != NULL)
        gnutls_memset(line, 0, strlen(line));
    transfer->fields = longer != NULL ? longer : transfer->fields;
    return longer != NULL;
}

/* Set header fields and body. No content coding is negotiated, so a few octets cannot unpack to
 * gigabytes. */
static bool
set_question(struct transfer *transfer)
{
    const struct fetch_request *request = transfer->request;
    if (!add_field(transfer, "Accept", "application/json")
        || !SET(transfer, CURLOPT_USERAGENT, PACKAGE_NAME))
        return false;
    if (request->authorization != NULL
        && !add_field(transfer, request->field != NULL ? request->field : "Authorization",
                      request->authorization))
        return false;
    const char *body = request->json != NULL    ? request->json
                       : request->plain != NULL ? request->plain
                                                : request->form;
    if (request->json != NULL && !add_field(transfer, "Content-Type", "application/json"))
        return false;
    if (request->plain != NULL && !add_field(transfer, "Content-Type", "text/plain; charset=utf-8"))
        return false;
    if (body != NULL
        && !(SET(transfer, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t) strlen(body))
             && SET(transfer, CURLOPT_POSTFIELDS, body) && add_field(transfer, "Expect", "")))
        return false;
    return SET(transfer, CURLOPT_HTTPHEADER, transfer->fields);
}

static void
transfer_done(struct transfer *transfer)
{
    curl_easy_cleanup(transfer->curl);
    for (struct curl_slist *field = transfer->fields; field != NULL; field = field->next)
        gnutls_memset(field->data, 0, strlen(field->data));
    curl_slist_free_all(transfer->fields);
    buf_done(&transfer->body);
}

/* ---- the outcome */

static enum fetch_fault
fault_of(const struct transfer *transfer, CURLcode outcome)
{
    /* clang-format off */
    static const struct {
        CURLcode code;
        enum fetch_fault fault;
    } rows[] = {
        {CURLE_URL_MALFORMAT,            FETCH_FAULT_URL},
        {CURLE_COULDNT_RESOLVE_HOST,     FETCH_FAULT_CONNECT},
        {CURLE_COULDNT_CONNECT,          FETCH_FAULT_CONNECT},
        {CURLE_SEND_ERROR,               FETCH_FAULT_CONNECT},
        {CURLE_RECV_ERROR,               FETCH_FAULT_CONNECT},
        {CURLE_GOT_NOTHING,              FETCH_FAULT_CONNECT},
        {CURLE_OPERATION_TIMEDOUT,       FETCH_FAULT_TIMEOUT},
        {CURLE_SSL_CONNECT_ERROR,        FETCH_FAULT_TLS},
        {CURLE_PEER_FAILED_VERIFICATION, FETCH_FAULT_TLS},
        {CURLE_SSL_CIPHER,               FETCH_FAULT_TLS},
        {CURLE_SSL_INVALIDCERTSTATUS,    FETCH_FAULT_TLS},
        {CURLE_SSL_ISSUER_ERROR,         FETCH_FAULT_TLS},
        {CURLE_SSL_CACERT_BADFILE,       FETCH_FAULT_OURS},
        {CURLE_OUT_OF_MEMORY,            FETCH_FAULT_OURS},
        {CURLE_FAILED_INIT,              FETCH_FAULT_OURS},
        {CURLE_FILESIZE_EXCEEDED,        FETCH_FAULT_SIZE},
    };
    /* clang-format on */
    if (transfer->no_memory)
        return FETCH_FAULT_OURS;
    if (transfer->too_large)
        return FETCH_FAULT_SIZE;
    if (outcome == CURLE_COULDNT_CONNECT && transfer->refused_address)
        return FETCH_FAULT_ADDRESS;
    if (outcome == CURLE_RECV_ERROR && transfer->head.octets > 0)
        return FETCH_FAULT_HTTP; /* also malformed chunks */
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].code == outcome)
            return rows[i].fault;
    return FETCH_FAULT_HTTP;
}

/* Return the URL as it may be logged: without the query and without user information, which may be
 * secret, and without a path that may be. */
static const char *
shown_url(struct op *op, const struct fetch_request *request)
{
    const char *url = request->url, *host = url != NULL ? strstr(url, "://") : NULL;
    if (host == NULL || host[3 + strcspn(host + 3, "@/?#")] == '@')
        return "(not a URL with a host)";
    size_t length = request->secret_path ? (size_t) (host + 3 - url) + strcspn(host + 3, "/?#")
                                         : strcspn(url, "?#");
    char *shown = utf8_strndup(op->mem, url, length < SHOWN_MAX ? length : SHOWN_MAX);
    return shown != NULL ? shown : "";
}

static enum az_status
fetch_fail(struct op *op, const struct fetch_request *request, enum fetch_fault fault,
           const char *why, struct fetch_answer *ret)
{
    enum az_status st = fault == FETCH_FAULT_BUSY ? AZ_BUSY : AZ_UNAVAILABLE;
    *ret = (struct fetch_answer){.fault = fault, .max_age = -1};
    return op_fail(op, st, NULL, "fetch of %s: %s", shown_url(op, request), why);
}

/* Return libcurl's reason. A certificate that is refused is often of the operator's own authority.
 */
static const char *
reason_of(const struct transfer *transfer, enum fetch_fault fault, CURLcode outcome)
{
    const char *why = *transfer->error != '\0' ? transfer->error : curl_easy_strerror(outcome);
    const char *more = "; SVC_SAFE_HTTP_CA_FILE names other authorities than those of the system";
    char *text =
        talloc_asprintf(transfer->op->mem, "%s%s", why, fault == FETCH_FAULT_TLS ? more : "");
    return text != NULL ? text : why;
}

static const char *
why_of(const struct transfer *transfer, enum fetch_fault fault, CURLcode outcome)
{
    if (transfer->long_head)
        return "the response header is too long";
    switch (fault) {
    case FETCH_FAULT_ADDRESS:
        return fetch_url_why(transfer->request->hosts, fault);
    case FETCH_FAULT_SIZE:
        return "the response is too large";
    case FETCH_FAULT_TIMEOUT:
        return "the host did not answer in time";
    case FETCH_FAULT_OURS:
        return outcome == CURLE_SSL_CACERT_BADFILE
                   ? "SVC_SAFE_HTTP_CA_FILE cannot be read or contains no certificates"
                   : "out of memory";
    default:
        return reason_of(transfer, fault, outcome);
    }
}

static enum az_status
take_answer(struct transfer *transfer, struct fetch_answer *ret)
{
    long status = 0;
    size_t length = 0;
    const char *type = talloc_strdup(transfer->op->mem, transfer->head.content_type);
    const char *challenge = talloc_strdup(transfer->op->mem, transfer->head.challenge);
    curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &status);
    char *body = buf_take(&transfer->body, &length);
    if (body == NULL || type == NULL || challenge == NULL)
        return fetch_fail(transfer->op, transfer->request, FETCH_FAULT_OURS, "out of memory", ret);
    *ret = (struct fetch_answer){.fault = FETCH_OK,
                                 .status = (int) status,
                                 .content_type = type,
                                 .challenge = challenge,
                                 .body = body,
                                 .length = length,
                                 .retry_after = transfer->head.retry_after,
                                 .max_age = transfer->head.max_age};
    return AZ_OK;
}

enum az_status
fetch_in_place(struct op *op, const struct fetch_request *request, struct fetch_answer *ret)
{
    struct transfer transfer = {.op = op, .request = request, .head = {.max_age = -1}};
    enum fetch_fault fault =
        check_url(op, request->hosts, request->url, &transfer.uri, &transfer.trusted_host);
    if (fault != FETCH_OK)
        return fetch_fail(op, request, fault, fetch_url_why(request->hosts, fault), ret);
    buf_init_secret(&transfer.body, op->mem, request->max_octets); /* it may hold tokens */
    transfer.curl = curl_easy_init();
    enum az_status st;
    if (transfer.curl == NULL || !set_limits(&transfer) || !set_way(&transfer)
        || !set_question(&transfer)) {
        st = fetch_fail(op, request, FETCH_FAULT_OURS, "libcurl does not support a required option",
                        ret);
    } else {
        CURLcode outcome = curl_easy_perform(transfer.curl);
        fault = outcome == CURLE_OK ? FETCH_OK : fault_of(&transfer, outcome);
        st = fault == FETCH_OK
                 ? take_answer(&transfer, ret)
                 : fetch_fail(op, request, fault, why_of(&transfer, fault, outcome), ret);
    }
    transfer_done(&transfer);
    return st;
}

enum az_status
fetch(struct op *op, const struct fetch_request *request, struct fetch_answer *ret)
{
    FETCH_PLACE_AUTO place = {.hold = NULL};
    enum fetch_fault fault = fetch_place_take(op, request->hosts, &place);
    return fault == FETCH_OK ? fetch_in_place(op, request, ret)
                             : fetch_fail(op, request, fault, fetch_place_why(fault), ret);
}
