#include "config.h"

#include "base/settings/settings.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/digits.h"
#include "base/settings/settings_private.h"
#include "base/words.h"

void
problems_add(TALLOC_CTX *mem, struct problems *problems, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *line = talloc_vasprintf(mem, format, args);
    va_end(args);
    char **grown = talloc_realloc(mem, problems->line, char *, problems->count + 1);
    if (grown == NULL || line == NULL)
        return;
    grown[problems->count++] = line;
    problems->line = grown;
}

bool
settings_sends_audit(const struct settings *cfg)
{
    return strcmp(cfg->audit_stream, SETTINGS_STREAM_OFF) != 0 || cfg->audit_checkpoint_url != NULL;
}

bool
settings_engine_is_embedded(const struct settings *cfg)
{
    return strcmp(cfg->policy_engine, SETTINGS_EMBEDDED) == 0;
}

bool
settings_issuer_is_https(const struct settings *cfg)
{
    return strncmp(cfg->oidc_issuer, "https://", 8) == 0;
}

const struct setting *
settings_find(const char *name)
{
    for (const struct setting *row = settings_table; row->name != NULL; row++)
        if (strcmp(row->name, name) == 0 || (row->alias != NULL && strcmp(row->alias, name) == 0))
            return row;
    return NULL;
}

/* A unit after a number. */
struct unit {
    enum setting_type type; /* of the settings that have it */
    const char *name;       /* as written */
    long factor;            /* of the number */
};

static const struct unit units[] = {
    {SETTING_DURATION, "s",  1       },
    {SETTING_DURATION, "m",  60      },
    {SETTING_DURATION, "h",  3600    },
    {SETTING_DURATION, "d",  86400   },
    {SETTING_SIZE,     "B",  1       },
    {SETTING_SIZE,     "KB", 1L << 10},
    {SETTING_SIZE,     "MB", 1L << 20},
    {SETTING_SIZE,     "GB", 1L << 30},
};

/* Read a decimal number within the limits of the row, with or without a unit of its type. */
static bool
settings_read_number(const struct setting *row, const char *text, long *ret)
{
    int64_t value;
    size_t digits = digits_take(text, strlen(text), LONG_MAX, &value);
    const char *end = text + digits;
    long factor = *end == '\0' ? 1 : 0;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (units[i].type == row->type && strcmp(units[i].name, end) == 0)
            factor = units[i].factor;
    if (digits == 0 || factor == 0 || value > LONG_MAX / factor)
        return false;
    value *= factor;
    if (value < row->minimum || value > row->maximum)
        return false;
    *ret = (long) value;
    return true;
}

const char *
settings_units(const struct setting *row)
{
    return row->type == SETTING_DURATION ? " seconds; units s, m, h and d are accepted"
           : row->type == SETTING_SIZE   ? " octets; units B, KB, MB and GB are accepted"
                                         : "";
}

bool
setting_is_number(const struct setting *row)
{
    return row->type == SETTING_NUMBER || row->type == SETTING_DURATION
           || row->type == SETTING_SIZE;
}

/* True for a URL without query and fragment (RFC 8414 section 2) and without a final slash, so that
 * an issuer has one spelling only. */
static bool
issuer_ok(const char *text)
{
    bool https = strncmp(text, "https://", 8) == 0;
    if (!https && strncmp(text, "http://", 7) != 0)
        return false;
    const char *host = text + (https ? 8 : 7);
    if (*host == '\0' || *host == '/' || text[strlen(text) - 1] == '/')
        return false;
    for (; *host != '\0'; host++)
        if (!isgraph((unsigned char) *host) || strchr("?#\"\\<>@", *host) != NULL)
            return false;
    return true;
}

bool
settings_is_blank(const char *text)
{
    return text == NULL || text[strspn(text, " \t\r\n")] == '\0';
}

/* Return `words`, which end with NULL, with `between` in between. */
static const char *
join_words(TALLOC_CTX *mem, const char *const *words, const char *between)
{
    char *text = talloc_strdup(mem, "");
    for (const char *const *word = words; *word != NULL; word++)
        text = talloc_asprintf_append_buffer(text, "%s%s", word == words ? "" : between, *word);
    return text;
}

/* Read the words of a list, each once; false if one of them is no choice, or if there is none. */
static bool
read_list(TALLOC_CTX *mem, const struct setting *row, const char *text, const char ***ret)
{
    size_t most = 0, count = 0;
    while (row->choices[most] != NULL)
        most++;
    const char **list = talloc_zero_array(mem, const char *, (unsigned) most + 1);
    char *copy = talloc_strdup(mem, text), *rest = copy, *word;
    bool good = list != NULL && copy != NULL;
    while (good && (word = strtok_r(rest, ", \t", &rest)) != NULL) {
        const char *const *choice = row->choices;
        while (*choice != NULL && strcmp(*choice, word) != 0)
            choice++;
        good = *choice != NULL;
        if (good && !words_has(list, word))
            list[count++] = *choice;
    }
    talloc_free(copy);
    if (good && count > 0)
        *ret = list;
    return good && count > 0;
}

/* Set `*at` to the choice of the row that equals a text. False with the reason if no choice does.
 */
static bool
set_choice(TALLOC_CTX *mem, const struct setting *row, const char *text, const char **at,
           const char **ret_why)
{
    for (const char *const *word = row->choices; *word != NULL; word++)
        if (strcmp(*word, text) == 0) {
            *at = *word;
            return true;
        }
    *ret_why = talloc_asprintf(mem, "must be one of: %s", join_words(mem, row->choices, ", "));
    return false;
}

/* Set one value; a blank text without a default counts as not set. False with the reason if the
 * text is not valid for the row. */
static bool
set_value(TALLOC_CTX *mem, struct settings *cfg, const struct setting *row, const char *text,
          const char **ret_why)
{
    void *at = (char *) cfg + row->offset;
    switch (row->type) {
    case SETTING_TEXT:
        *(const char **) at =
            row->fallback == NULL && settings_is_blank(text) ? NULL : talloc_strdup(mem, text);
        return true;
    case SETTING_SECRET:
        *(const char **) at = talloc_strdup(mem, text);
        return true;
    case SETTING_ISSUER:
        *ret_why = "must be an http or https URL without query, fragment and final slash";
        if (!issuer_ok(text))
            return false;
        *(const char **) at = talloc_strdup(mem, text);
        return true;
    case SETTING_CHOICE:
        return set_choice(mem, row, text, at, ret_why);
    case SETTING_LIST:
        *ret_why = talloc_asprintf(mem, "must be one or more of %s, separated by commas",
                                   join_words(mem, row->choices, ","));
        return read_list(mem, row, text, at);
    case SETTING_BOOL:
        *ret_why = "must be true or false";
        if (strcasecmp(text, "true") != 0 && strcasecmp(text, "false") != 0)
            return false;
        *(bool *) at = strcasecmp(text, "true") == 0;
        return true;
    case SETTING_NUMBER:
    case SETTING_DURATION:
    case SETTING_SIZE:
        *ret_why = talloc_asprintf(mem, "must be a number from %ld to %ld%s", row->minimum,
                                   row->maximum, settings_units(row));
        return settings_read_number(row, text, at);
    }
    return false;
}

void
settings_set(TALLOC_CTX *mem, struct settings *cfg, const struct setting *row, const char *text,
             const char *origin, struct problems *problems)
{
    const char *why = "is not valid";
    if (row->type == SETTING_BOOL && row->fallback == NULL && settings_is_blank(text))
        return; /* derive() decides */
    cfg->value_file[row - settings_table] = NULL;
    if (set_value(mem, cfg, row, text, &why))
        cfg->origin[row - settings_table] = origin;
    else if (strcmp(origin, "environment") == 0)
        problems_add(mem, problems, "%s: %s", row->name, why);
    else
        problems_add(mem, problems, "%s: %s: %s", origin, row->name, why);
}

const char *
settings_text(TALLOC_CTX *mem, const struct settings *cfg, const struct setting *row)
{
    const void *at = (const char *) cfg + row->offset;
    switch (row->type) {
    case SETTING_BOOL:
        return *(const bool *) at ? "true" : "false";
    case SETTING_NUMBER:
    case SETTING_DURATION:
    case SETTING_SIZE:
        return talloc_asprintf(mem, "%ld", *(const long *) at);
    case SETTING_SECRET:
        return *(const char *const *) at == NULL ? "" : "********";
    case SETTING_LIST:
        return join_words(mem, *(const char *const *const *) at, ",");
    default:
        return *(const char *const *) at == NULL ? "" : *(const char *const *) at;
    }
}
