/* The texts of the pages in all languages (decisions.md "Languages of the pages"): a file for each
 * language, named by its tag, in SVC_DATA_DIR/www/languages and in SVC_LANGUAGES_DIR. */
#ifndef AZ_HTTP_PAGE_TEXTS_H
#define AZ_HTTP_PAGE_TEXTS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/settings/settings.h"

/* Largest file, in octets; the shipped ones have a sixth of that. */
#define TEXTS_FILE_MAX (128 * 1024)

/* Most languages; each is in the memory of each process. */
#define TEXTS_LANGUAGES_MAX 64

/* The direction of a language, a text with one of the values of the attribute `dir`. */
#define TEXTS_DIRECTION "dir"

/* List of the faults of texts; the lines are on `mem`. */
struct texts_told {
    TALLOC_CTX *mem;
    struct problems *problems; /* stop the start */
    struct problems *warnings; /* texts that are missing or not used */
};

/*
 * Read all files into an object by language tag; each member has all texts of English. A text that
 * is missing, that no page has, or that names other values than the English one is a warning, and
 * the English one stands in its place. *ret is on `mem`. False: a file cannot be read, or there is
 * no memory; each fault is a line of the problems that names setting and file.
 */
bool texts_load(TALLOC_CTX *mem, const struct settings *cfg, const struct texts_told *told,
                json_t **ret);

#endif
