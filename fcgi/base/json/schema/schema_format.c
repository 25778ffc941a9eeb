#include "config.h"

#include "base/json/schema/schema_format.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/digits.h"
#include "base/uri.h"
#include "base/words.h"

/* Directory of the tz database on all supported systems. */
#define ZONES "/usr/share/zoneinfo"

/* Longest name, in characters; the longest today is America/Argentina/ComodRivadavia, with 32. */
#define ZONE_MAX 64

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

static bool
is_uri(const char *text)
{
    struct uri uri;
    TALLOC_CTX *scratch = talloc_new(NULL);
    bool good = scratch != NULL && uri_parse(scratch, text, &uri) == AZ_OK;
    talloc_free(scratch);
    return good;
}

/* True for address "/" length, as Go's ParseCIDR (and so OPA's net.cidr_contains) accepts it: no
 * leading zeros, no zone. */
static bool
is_cidr(const char *text)
{
    char address[INET6_ADDRSTRLEN];
    unsigned char octets[16];
    const char *slash = strchr(text, '/');
    if (slash == NULL || (size_t) (slash - text) >= sizeof(address))
        return false;
    memcpy(address, text, (size_t) (slash - text));
    address[slash - text] = '\0';
    const char *length = slash + 1;
    int64_t bits;
    if (!digits_read(length, 128, &bits) || (*length == '0' && length[1] != '\0'))
        return false;
    if (inet_pton(AF_INET, address, octets) == 1)
        return bits <= 32;
    return inet_pton(AF_INET6, address, octets) == 1;
}

/*
 * Names of the tz database are words of letters, digits, _, + and -, separated by /, each beginning
 * with a letter. There is no dot and no empty word, so a name cannot leave the directory. posix/
 * and right/ exist on some hosts only, so they are refused.
 */
static bool
zone_syntax_ok(const char *text)
{
    if (strlen(text) > ZONE_MAX || strncmp(text, "posix", 5) == 0 || strncmp(text, "right/", 6) == 0
        || strcmp(text, "localtime") == 0)
        return false;
    for (const char *word = text;; word++) {
        if (*word == '\0' || strchr(LETTERS, *word) == NULL)
            return false;
        word += strspn(word, LETTERS DIGITS "_+-");
        if (*word != '/')
            return *word == '\0';
    }
}

bool
schema_format_knows_zones(void)
{
    return access(ZONES "/UTC", R_OK) == 0;
}

/* True if the file of a zone exists. It begins with TZif (RFC 8536 section 3.1); lists and other
 * files of the directory do not. */
static bool
zone_exists(const char *name)
{
    char path[sizeof(ZONES) + 1 + ZONE_MAX], magic[4];
    snprintf(path, sizeof(path), "%s/%s", ZONES, name);
    FILE *file = fopen(path, "re");
    bool good = file != NULL && fread(magic, 1, sizeof(magic), file) == sizeof(magic)
                && memcmp(magic, "TZif", 4) == 0;
    if (file != NULL)
        fclose(file);
    return good;
}

static bool
is_zone(const char *text)
{
    return zone_syntax_ok(text) && (!schema_format_knows_zones() || zone_exists(text));
}

/* True for 00:00 to 23:59. */
static bool
is_minute(const char *text)
{
    if (strlen(text) != 5 || text[2] != ':' || strspn(text, DIGITS) != 2
        || strspn(text + 3, DIGITS) != 2)
        return false;
    int64_t hour, minute;
    digits_take(text, 2, 99, &hour);
    digits_take(text + 3, 2, 99, &minute);
    return hour <= 23 && minute <= 59;
}

/*
 * True if no member of a JSON Schema leads outside it. The engine resolves such references when it
 * matches a value: whoever may write the row could make it fetch URLs of its network, or read files
 * of its host. The depth of the value is bounded by whoever parsed it.
 */
static bool
is_closed_schema(const json_t *value)
{
    static const char *const leading[] = {"$ref",        "$id",           "id",
                                          "$dynamicRef", "$recursiveRef", NULL};
    size_t i;
    const char *name;
    json_t *member;
    json_array_foreach (value, i, member)
        if (!is_closed_schema(member))
            return false;
    json_object_foreach ((json_t *) (uintptr_t) value, name, member)
        if (json_is_string(member) ? words_has(leading, name) && *json_string_value(member) != '#'
                                   : !is_closed_schema(member))
            return false;
    return true;
}

/* clang-format off */
static const struct schema_format formats[] = {
    {"uri",           "must be a URI with a scheme",                               is_uri,    NULL},
    {"cidr",          "must be an address range such as 10.0.0.0/8",               is_cidr,   NULL},
    {"timezone",      "must be a time zone such as Europe/Berlin",                 is_zone,   NULL},
    {"hh:mm",         "must be a time from 00:00 to 23:59",                        is_minute, NULL},
    {"closed-schema", "must be a JSON Schema whose references begin with #",       NULL,      is_closed_schema},
};
/* clang-format on */

const struct schema_format *
schema_format_find(const char *name)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}
