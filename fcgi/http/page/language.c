#include "config.h"

#include "http/page/language.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "http/header_value.h"

#define BETWEEN " \t,"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* Longest part of a tag, in characters (RFC 5646 2.1). */
#define PART_MAX 8

const char *
language_same(const json_t *by_tag, const char *tag, size_t length)
{
    const char *name;
    json_t *member;
    json_object_foreach ((json_t *) (uintptr_t) by_tag, name, member)
        if (strlen(name) == length && strncasecmp(name, tag, length) == 0)
            return name;
    return NULL;
}

/* Find the member of a tag, or of the tag without its last parts. */
static const char *
lookup(const json_t *by_tag, const char *tag, size_t length)
{
    const char *found = NULL;
    while (length > 0 && (found = language_same(by_tag, tag, length)) == NULL) {
        while (length > 0 && tag[length - 1] != '-')
            length--;
        length -= length > 0;
    }
    return found;
}

static const char *
by_locales(const json_t *by_tag, const char *at)
{
    const char *found = NULL;
    for (int i = 0; i < LANGUAGE_TAGS_MAX && found == NULL && *at != '\0'; i++) {
        size_t length = strcspn(at, " ");
        found = lookup(by_tag, at, length);
        at += length + strspn(at + length, " ");
    }
    return found;
}

static const char *
by_weight(const json_t *by_tag, const char *at)
{
    const char *best = NULL;
    int most = 0;
    at += strspn(at, BETWEEN);
    for (int i = 0; i < LANGUAGE_TAGS_MAX && *at != '\0'; i++) {
        const char *end = at + strcspn(at, ",");
        int weight = header_weight(at, end);
        const char *found = weight > most ? lookup(by_tag, at, strcspn(at, "; \t,")) : NULL;
        if (found != NULL) {
            best = found;
            most = weight;
        }
        at = end + strspn(end, BETWEEN);
    }
    return best;
}

const char *
language_best(const json_t *by_tag, const char *ui_locales, const char *accept)
{
    const char *found = by_locales(by_tag, ui_locales != NULL ? ui_locales : "");
    if (found == NULL)
        found = by_weight(by_tag, accept != NULL ? accept : "");
    return found != NULL ? found
                         : language_same(by_tag, LANGUAGE_ENGLISH, strlen(LANGUAGE_ENGLISH));
}

bool
language_is_tag(const char *text)
{
    size_t length = strspn(text, LETTERS);
    if (length < 2 || length > PART_MAX)
        return false;
    for (text += length; *text == '-'; text += length) {
        length = strspn(++text, LETTERS "0123456789");
        if (length == 0 || length > PART_MAX)
            return false;
    }
    return *text == '\0';
}
