#include "config.h"

#include "http/fetch/fetch.h"

#define NO_URL "not an https URL with a host; to allow http, set "
#define NO_ADDRESS "the host has a private or other special address; to allow it, set "

/* The settings that make exceptions. */
#define ALLOWED_BY(kind)                                                                           \
    "SVC_" kind "_ALLOW_INSECURE_LOCALHOST=true and name the host in SVC_" kind                    \
    "_ALLOWED_INSECURE_HOSTS"

const char *
fetch_url_why(enum fetch_hosts hosts, enum fetch_fault fault)
{
    static const struct {
        const char *url, *address;
    } words[] = {
        [FETCH_SAFE_HTTP] = {NO_URL ALLOWED_BY("SAFE_HTTP"),                          NO_ADDRESS ALLOWED_BY("SAFE_HTTP")},
        [FETCH_CLIENT_KEYS] = {NO_URL ALLOWED_BY("SAFE_HTTP"),                          NO_ADDRESS ALLOWED_BY("SAFE_HTTP")},
        [FETCH_GATEWAY] = {NO_URL "its name in SVC_GATEWAY_ALLOWED_INSECURE_HOSTS",
                             NO_ADDRESS "its name in SVC_GATEWAY_ALLOWED_INSECURE_HOSTS"                                },
        [FETCH_CIMD] = {NO_URL ALLOWED_BY("CIMD"),                               NO_ADDRESS ALLOWED_BY("CIMD")     },
    };
    return fault == FETCH_FAULT_ADDRESS ? words[hosts].address : words[hosts].url;
}
