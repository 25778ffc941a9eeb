#include "config.h"

#include "http/fetch/fetch_roots.h"

#include <unistd.h>

#include "base/settings/settings.h"

/* Debian's root certificates in one file. On other systems libcurl's default is used. */
#define ROOTS_BUNDLE "/etc/ssl/certs/ca-certificates.crt"

bool
fetch_set_roots(CURL *curl, const struct settings *cfg)
{
    const char *file = cfg->safe_http_ca_file;
    if (file == NULL && access(ROOTS_BUNDLE, R_OK) == 0)
        file = ROOTS_BUNDLE;
    /* Without its own path libcurl would trust the roots of the system too, and read some 140 files
     * for each connection. */
    return file == NULL
           || (curl_easy_setopt(curl, CURLOPT_CAINFO, file) == CURLE_OK
               && curl_easy_setopt(curl, CURLOPT_CAPATH, (const char *) NULL) == CURLE_OK);
}
