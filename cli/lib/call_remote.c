/* The carrier with --server: HTTPS to the service, with an admin key. */
#include "config.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/uri.h"
#include "cli/lib/call.h"
#include "cli/lib/output.h"
#include "crypto/secret.h"

/* Seconds to connect, and for a whole answer that is kept: a save waits for the engines, at most
 * as long as the limits of SVC_BUNDLE_CONFIRM_TIMEOUT_MS allow, and a web server in front waits a
 * minute. */
#define CONNECT_SECONDS 10
#define ANSWER_SECONDS 120
/* An export may take long, but must not stand still for so many seconds. */
#define STALL_SECONDS 60
/* Milliseconds after which a person at a terminal is told what is waited for. */
#define TELL_MS 2000

/* One transfer. */
struct remote {
    struct arrival *arrival;
    CURL *curl;
    struct curl_slist *fields;
    const char *url;
    int64_t tell_ms; /* when a person is told; clock_monotonic_ms() */
    char error[CURL_ERROR_SIZE];
};

/* Return what the user gave the URL by. */
static const char *
remote_source(const struct cli *cli)
{
    return cli->verb->place == CLI_FILES ? "URL" : "--server";
}

/* Check the URL and append the target. Plain http would show the admin key to everybody on the way,
 * so it is for this host alone. NULL after printing the error. */
static const char *
remote_url(const struct cli *cli, const char *target)
{
    struct uri uri = {.host = NULL};
    const char *url = cli->choice.server, *why = NULL;
    if (uri_parse(cli->mem, url, &uri) != AZ_OK || uri.host == NULL || *uri.host == '\0')
        why = "is not a URL with a host";
    else if (uri.userinfo != NULL || uri.query != NULL || uri.fragment != NULL)
        why = "must not have a user, query or fragment";
    else if (strcmp(uri.scheme, "https") != 0
             && (strcmp(uri.scheme, "http") != 0 || !uri_host_is_loopback(uri.host)))
        why = "must begin with https://, or http:// for 127.0.0.1, ::1 or localhost";
    if (why != NULL) {
        output_error("%s: %s %s", cli->path, remote_source(cli), why);
        return NULL;
    }
    size_t length = strlen(url);
    while (length > 0 && url[length - 1] == '/')
        length--;
    return talloc_asprintf(cli->mem, "%.*s%s", (int) length, url, target);
}

/* ---- the answer ---- */

static size_t
remote_head(char *line, size_t size, size_t count, void *arg)
{
    struct remote *remote = arg;
    struct arrival *arrival = remote->arrival;
    size_t length = size * count;
    long status = 0;
    if (length > 5 && strncmp(line, "HTTP/", 5) == 0) { /* also the one after 100 Continue */
        arrival->head_length = 0;
        return length;
    }
    curl_easy_getinfo(remote->curl, CURLINFO_RESPONSE_CODE, &status);
    arrival->status = (int) status;
    return length <= 2 || arrival_head(arrival, line, length) ? length : 0;
}

static size_t
remote_body(char *octets, size_t size, size_t count, void *arg)
{
    struct remote *remote = arg;
    return arrival_body(remote->arrival, octets, size * count) ? size * count : 0;
}

/* Tell a person at a terminal that the answer takes long. */
static int
remote_progress(void *arg, curl_off_t down_all, curl_off_t down, curl_off_t up_all, curl_off_t up)
{
    struct remote *remote = arg;
    const struct op_watch *watch = remote->arrival->cli->op.watch;
    (void) down_all;
    (void) up_all;
    (void) up;
    if (watch != NULL && down == 0 && clock_monotonic_ms() > remote->tell_ms)
        watch->tell(watch->arg, "waiting for the answer of the service");
    return 0;
}

/* ---- the request ---- */

/* Set an option. None may fail, because each one keeps an attack out. */
#define SET(remote, option, value) (curl_easy_setopt((remote)->curl, (option), (value)) == CURLE_OK)

static bool
remote_field(struct remote *remote, const char *name, const char *value)
{
    char *line = talloc_asprintf(remote->arrival->cli->mem, "%s: %s", name, value);
    struct curl_slist *longer = line != NULL ? curl_slist_append(remote->fields, line) : NULL;
    if (line != NULL)
        secret_wipe(line, strlen(line));
    remote->fields = longer != NULL ? longer : remote->fields;
    return longer != NULL;
}

/* A proxy would see what goes over plain http, also to this host. */
static bool
remote_set_protocol(struct remote *remote)
{
    const bool tls = strncasecmp(remote->url, "https:", 6) == 0;
    if (!tls && !SET(remote, CURLOPT_PROXY, ""))
        return false;
#if LIBCURL_VERSION_NUM >= 0x075500
    return SET(remote, CURLOPT_PROTOCOLS_STR, tls ? "https" : "http");
#else
    return SET(remote, CURLOPT_PROTOCOLS, (long) (tls ? CURLPROTO_HTTPS : CURLPROTO_HTTP));
#endif
}

/* Follow no redirect: the key would go wherever the answer says. */
static bool
remote_set_limits(struct remote *remote)
{
    const bool whole = remote->arrival->call->take == NULL;
    const long limit =
        remote->arrival->call->seconds > 0 ? remote->arrival->call->seconds : (long) ANSWER_SECONDS;
    return SET(remote, CURLOPT_CONNECTTIMEOUT, (long) CONNECT_SECONDS)
           && SET(remote, CURLOPT_TIMEOUT, whole ? limit : 0L)
           && SET(remote, CURLOPT_LOW_SPEED_LIMIT, 1L)
           && SET(remote, CURLOPT_LOW_SPEED_TIME, whole ? 0L : (long) STALL_SECONDS)
           && SET(remote, CURLOPT_NOSIGNAL, 1L) && SET(remote, CURLOPT_FOLLOWLOCATION, 0L)
           && SET(remote, CURLOPT_NETRC, (long) CURL_NETRC_IGNORED) && remote_set_protocol(remote)
           && SET(remote, CURLOPT_HTTP_VERSION, (long) CURL_HTTP_VERSION_1_1)
           && SET(remote, CURLOPT_SSLVERSION, (long) CURL_SSLVERSION_TLSv1_2)
           && SET(remote, CURLOPT_SSL_VERIFYPEER, 1L) && SET(remote, CURLOPT_SSL_VERIFYHOST, 2L);
}

/* A POST without a body says so: some web servers answer 411 to one without a length. */
static bool
remote_set_body(struct remote *remote)
{
    const char *body = remote->arrival->body;
    if (body == NULL)
        return strcmp(remote->arrival->call->method, "POST") != 0
               || (SET(remote, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t) 0)
                   && SET(remote, CURLOPT_POSTFIELDS, ""));
    return SET(remote, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t) strlen(body))
           && SET(remote, CURLOPT_POSTFIELDS, body)
           && remote_field(remote, "Content-Type", "application/json")
           && remote_field(remote, "Expect", "");
}

static bool
remote_set(struct remote *remote)
{
    const struct cli *cli = remote->arrival->cli;
    const struct call *call = remote->arrival->call;
    return SET(remote, CURLOPT_URL, remote->url) && remote_set_limits(remote)
           && remote_set_body(remote) && SET(remote, CURLOPT_CUSTOMREQUEST, call->method)
           && SET(remote, CURLOPT_USERAGENT, PACKAGE_NAME "ctl/" PACKAGE_VERSION)
           && (cli->key == NULL || remote_field(remote, "X-Admin-API-Key", cli->key))
           && (call->if_match == NULL || remote_field(remote, "If-Match", call->if_match))
           && SET(remote, CURLOPT_HTTPHEADER, remote->fields)
           && SET(remote, CURLOPT_HEADERFUNCTION, remote_head)
           && SET(remote, CURLOPT_HEADERDATA, remote)
           && SET(remote, CURLOPT_WRITEFUNCTION, remote_body)
           && SET(remote, CURLOPT_WRITEDATA, remote) && SET(remote, CURLOPT_NOPROGRESS, 0L)
           && SET(remote, CURLOPT_XFERINFOFUNCTION, remote_progress)
           && SET(remote, CURLOPT_XFERINFODATA, remote)
           && SET(remote, CURLOPT_ERRORBUFFER, remote->error);
}

static void
remote_done(struct remote *remote)
{
    curl_easy_cleanup(remote->curl);
    for (struct curl_slist *field = remote->fields; field != NULL; field = field->next)
        secret_wipe(field->data, strlen(field->data));
    curl_slist_free_all(remote->fields);
}

/* Judge the transfer. An answer that was left on purpose, or is too large, is no failure here. */
static int
remote_outcome(const struct remote *remote, CURLcode outcome)
{
    const struct arrival *arrival = remote->arrival;
    const struct cli *cli = arrival->cli;
    if (arrival->too_large || arrival->stopped)
        return CLI_OK;
    if (outcome != CURLE_OK) {
        output_error("%s: %s: %s; check the URL%s and that the service is running", cli->path,
                     cli->choice.server,
                     *remote->error != '\0' ? remote->error : curl_easy_strerror(outcome),
                     cli->verb->place == CLI_FILES ? "" : " of --server");
        return CLI_UNAVAILABLE;
    }
    if (arrival->status / 100 != 3)
        return CLI_OK;
    output_error("%s: %s: answers with a redirect, which is not followed; give the URL of the "
                 "service itself",
                 cli->path, cli->choice.server);
    return CLI_FAILED;
}

int
call_remote(struct arrival *arrival)
{
    struct cli *cli = arrival->cli;
    struct remote remote = {.arrival = arrival, .tell_ms = clock_monotonic_ms() + TELL_MS};
    int status = CLI_FAILED;
    if ((remote.url = remote_url(cli, arrival->target)) == NULL)
        return CLI_USAGE;
    remote.curl = curl_easy_init();
    if (remote.curl == NULL || !remote_set(&remote))
        output_error("%s: libcurl does not work on this host", cli->path);
    else
        status = remote_outcome(&remote, curl_easy_perform(remote.curl));
    remote_done(&remote);
    return status;
}
