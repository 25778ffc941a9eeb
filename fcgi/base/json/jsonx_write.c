/*
 * Write JSON values as text: the same octets as json_dumps(JSON_COMPACT | JSON_ENCODE_ANY), except
 * for reals, in one pass over the value. Jansson takes two and looks each container up in a table
 * of its parents. Here a value that contains itself ends at the depth limit.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/json/jsonx_text.h"
#include "base/utf8.h"

/* First allocation, in octets: most documents fit. */
#define FIRST_SIZE 1024

/* Longest text of a number, in octets: 20 digits and sign of an integer; 17 digits, sign, point
 * and exponent of a real; rounded up. */
#define NUMBER_MAX 32

struct writer {
    TALLOC_CTX *mem;
    char *text;
    size_t used, size;
    size_t depth; /* number of containers around the value */
    bool sorted;  /* members by name */
};

/* Return the place of the next count octets; NULL: out of memory, or the length would wrap. */
static char *
make_room(struct writer *writer, size_t count)
{
    if (writer->text != NULL && count <= writer->size - writer->used)
        return writer->text + writer->used;
    if (count > SIZE_MAX / 2 - writer->used)
        return NULL;
    size_t size = writer->used + count > FIRST_SIZE / 2 ? (writer->used + count) * 2 : FIRST_SIZE;
    char *text = talloc_realloc_size(writer->mem, writer->text, size);
    if (text == NULL)
        return NULL;
    writer->text = text;
    writer->size = size;
    return text + writer->used;
}

static bool
write_octets(struct writer *writer, const char *octets, size_t count)
{
    char *room = make_room(writer, count);
    if (room == NULL)
        return false;
    memcpy(room, octets, count);
    writer->used += count;
    return true;
}

static bool
write_char(struct writer *writer, char c)
{
    char *room = make_room(writer, 1);
    if (room == NULL)
        return false;
    *room = c;
    writer->used++;
    return true;
}

static bool
needs_escape(unsigned char octet)
{
    return octet < 0x20 || octet == '"' || octet == '\\';
}

/* Write a string with an octet that is not plain. Jansson does not check every string, so it is
 * checked here: malformed UTF-8 is not written at all. */
static bool
write_rest(struct writer *writer, const char *text, size_t length)
{
    if (!utf8_valid(text, length))
        return false;
    while (length > 0) {
        size_t run = 0;
        while (run < length && !needs_escape((unsigned char) text[run]))
            run++;
        if (!write_octets(writer, text, run))
            return false;
        text += run;
        length -= run;
        if (length == 0)
            break;
        char *room = make_room(writer, JSONX_ESCAPE_MAX);
        if (room == NULL)
            return false;
        writer->used += jsonx_put_escape(room, (unsigned char) *text++);
        length--;
    }
    return true;
}

static bool
write_string(struct writer *writer, const char *text, size_t length)
{
    size_t plain = jsonx_plain_length(text, length);
    char *room = plain <= SIZE_MAX - 2 ? make_room(writer, plain + 2) : NULL;
    if (room == NULL)
        return false;
    *room++ = '"';
    memcpy(room, text, plain);
    writer->used += plain + 1;
    if (plain == length) { /* there is room for the closing quote */
        room[plain] = '"';
        writer->used++;
        return true;
    }
    return write_rest(writer, text + plain, length - plain) && write_char(writer, '"');
}

static bool
write_integer(struct writer *writer, json_int_t integer)
{
    char digits[NUMBER_MAX];
    size_t at = sizeof(digits);
    uint64_t rest = integer < 0 ? 0 - (uint64_t) integer : (uint64_t) integer;

    do {
        digits[--at] = (char) ('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (integer < 0)
        digits[--at] = '-';
    return write_octets(writer, digits + at, sizeof(digits) - at);
}

/*
 * Write a real with the fewest digits that identify the double, 15 to 17. The policy engine
 * compares numbers by their decimal digits. Jansson writes 0.1 as 0.10000000000000001, which would
 * be over a limit of 0.1 in a rule, and 0.3 as less than 0.3.
 */
static bool
write_real(struct writer *writer, const json_t *value)
{
    const double real = json_real_value(value);
    char *room = make_room(writer, NUMBER_MAX);
    for (size_t digits = 15; room != NULL && digits <= 17; digits++) {
        size_t count =
            json_dumpb(value, room, NUMBER_MAX - 1, JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits));
        if (count == 0 || count >= NUMBER_MAX)
            return false;
        room[count] = '\0';
        double back = strtod(room, NULL);
        if (digits < 17 && (back < real || back > real))
            continue;
        writer->used += count;
        return true;
    }
    return false;
}

static bool write_value(struct writer *writer, const json_t *value);

static bool
write_member(struct writer *writer, void *member, bool first)
{
    return (first || write_char(writer, ','))
           && write_string(writer, json_object_iter_key(member), json_object_iter_key_len(member))
           && write_char(writer, ':') && write_value(writer, json_object_iter_value(member));
}

static int
compare_members(const void *a, const void *b)
{
    return strcmp(json_object_iter_key(*(void *const *) a),
                  json_object_iter_key(*(void *const *) b));
}

static bool
write_sorted(struct writer *writer, json_t *object)
{
    size_t count = 0;
    void **members = talloc_size(writer->mem, (json_object_size(object) + 1) * sizeof(*members));
    bool good = members != NULL;
    for (void *at = json_object_iter(object); good && at != NULL;
         at = json_object_iter_next(object, at))
        members[count++] = at;
    if (good)
        qsort(members, count, sizeof(*members), compare_members);
    for (size_t i = 0; good && i < count; i++)
        good = write_member(writer, members[i], i == 0);
    talloc_free(members);
    return good;
}

static bool
write_members(struct writer *writer, json_t *object)
{
    bool first = true;
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        if (!write_member(writer, at, first))
            return false;
        first = false;
    }
    return true;
}

static bool
write_object(struct writer *writer, const json_t *value)
{
    json_t *object = (json_t *) (uintptr_t) value; /* Jansson iterates through pointers that are
                                                    * not const */
    return write_char(writer, '{')
           && (writer->sorted ? write_sorted(writer, object) : write_members(writer, object))
           && write_char(writer, '}');
}

static bool
write_array(struct writer *writer, const json_t *value)
{
    size_t count = json_array_size(value);

    if (!write_char(writer, '['))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!(i == 0 || write_char(writer, ',')) || !write_value(writer, json_array_get(value, i)))
            return false;
    return write_char(writer, ']');
}

static bool
write_container(struct writer *writer, const json_t *value)
{
    if (writer->depth >= JSONX_DEPTH_MAX)
        return false;
    writer->depth++;
    bool done = json_is_object(value) ? write_object(writer, value) : write_array(writer, value);
    writer->depth--;
    return done;
}

static bool
write_value(struct writer *writer, const json_t *value)
{
    if (value == NULL)
        return false;
    switch (json_typeof(value)) {
    case JSON_OBJECT:
    case JSON_ARRAY:
        return write_container(writer, value);
    case JSON_STRING:
        return write_string(writer, json_string_value(value), json_string_length(value));
    case JSON_INTEGER:
        return write_integer(writer, json_integer_value(value));
    case JSON_REAL:
        return write_real(writer, value);
    case JSON_TRUE:
        return write_octets(writer, "true", 4);
    case JSON_FALSE:
        return write_octets(writer, "false", 5);
    case JSON_NULL:
        return write_octets(writer, "null", 4);
    }
    return false;
}

static char *
write_all(struct writer *writer, const char *before, const json_t *value, const char *after)
{
    if (write_octets(writer, before, strlen(before)) && write_value(writer, value)
        && write_octets(writer, after, strlen(after) + 1))
        return writer->text;
    talloc_free(writer->text);
    return NULL;
}

char *
jsonx_dump_around(TALLOC_CTX *mem, const char *before, const json_t *value, const char *after,
                  size_t *ret_length)
{
    struct writer writer = {.mem = mem};
    char *text = write_all(&writer, before, value, after);
    if (text != NULL && ret_length != NULL)
        *ret_length = writer.used - 1;
    return text;
}

char *
jsonx_dump_sorted(TALLOC_CTX *mem, const json_t *value)
{
    struct writer writer = {.mem = mem, .sorted = true};
    return write_all(&writer, "", value, "");
}

char *
jsonx_dump(TALLOC_CTX *mem, const json_t *value)
{
    return jsonx_dump_around(mem, "", value, "", NULL);
}
