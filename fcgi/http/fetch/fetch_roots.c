#include "config.h"

#include "http/fetch/fetch_roots.h"

#include <unistd.h>

#include "base/settings/settings.h"

/* Debian's root certificates in one file. On other systems libcurl's default is used. */
#define ROOTS_BUNDLE "/etc/ssl/certs/ca-certificates.crt"

bool
fetch_set_roots(CURL *curl, const struct settings *cfg)
{
    if (cfg->safe_http_ca_file != NULL)
        return curl_easy_setopt(curl, CURLOPT_CAINFO, cfg->safe_http_ca_file) == CURLE_OK;
    return access(ROOTS_BUNDLE, R_OK) != 0
           || (curl_easy_setopt(curl, CURLOPT_CAINFO, ROOTS_BUNDLE) == CURLE_OK
               && curl_easy_setopt(curl, CURLOPT_CAPATH, (const char *) NULL) == CURLE_OK);
}
