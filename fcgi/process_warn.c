/* Warnings of a start: settings that are valid but probably a mistake, and addresses of the
 * database on which rows and the password can be read and changed. */
#include "config.h"

#include "process.h"
#include "store/db/db.h"

void
process_warn(TALLOC_CTX *mem, const struct az *az, struct problems *warnings)
{
    const struct settings *cfg = az->cfg;
    const struct {
        const char *name, *url;
    } urls[] = {
        {"SVC_DATABASE_URL",        cfg->database_url       },
        {"SVC_DATABASE_READ_URL",   cfg->database_read_url  },
        {"SVC_DATABASE_DIRECT_URL", cfg->database_direct_url},
    };
    struct db_exposure exposed;
    settings_warn(mem, cfg, warnings);
    for (size_t i = 0; !cfg->source_unread && i < sizeof(urls) / sizeof(urls[0]); i++)
        if (!settings_is_blank(urls[i].url) && db_url_is_exposed(mem, urls[i].url, &exposed))
            problems_add(mem, warnings,
                         "%s: leads to %s with sslmode %s, so whoever is on the way can read and "
                         "change what is stored; add sslmode=verify-full and sslrootcert",
                         urls[i].name, exposed.host, exposed.mode);
}
