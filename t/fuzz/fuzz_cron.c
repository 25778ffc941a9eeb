/* Cron expressions. An input is the text. */
#include "config.h"

#include <string.h>
#include <talloc.h>

#include "base/cron.h"
#include "fuzz/fuzz.h"

#define NOW 1795258800LL

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct cron cron;
    const char *why = NULL, *text = talloc_strndup(mem, (const char *) data, size);
    if (cron_parse(text, &cron, &why) != AZ_OK) {
        MUST(why != NULL);
    } else {
        int64_t next = cron_next(&cron, NOW);
        MUST(why == NULL && strlen(text) <= CRON_MAX);
        MUST(next > NOW);
        /* Nothing is due in between, and it is what it says. */
        MUST(cron_next(&cron, next - 1) == next);
        MUST(cron_next(&cron, NOW + (next - NOW) / 2) == next);
        MUST((cron.second >> (next % 60) & 1) && (cron.minute >> (next / 60 % 60) & 1)
             && (cron.hour >> (next / 3600 % 24) & 1));
    }
    talloc_free(mem);
    return 0;
}
