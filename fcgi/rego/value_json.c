/* Values as JSON text and as Jansson's values. */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json/jsonx.h"
#include "base/json/jsonx_text.h"
#include "base/utf8.h"
#include "rego/number.h"
#include "rego/value.h"

/* Longest JSON text of a key that is not a string, in octets. */
#define KEY_TEXT_MAX 65536

/* Data of at least this many octets repeat names and words: equal short texts are stored once, as
 * far as a table of recent texts finds them. 10,000 bindings take half the memory. */
#define SHARED_FROM 65536
#define SHARED_PLACES 1024
#define SHARED_TEXT_MAX 64

/* The state of one reading. */
struct value_reader {
    struct rego_arena *arena;
    const char *at, *end;
    const struct rego_value **shared; /* SHARED_PLACES texts; NULL if texts are not shared */
    unsigned deepest;                 /* nesting of the text */
};

static const struct rego_value *read_value(struct value_reader *reader, unsigned depth);

static void
rego_json_skip_blanks(struct value_reader *reader)
{
    while (reader->at < reader->end
           && (*reader->at == ' ' || *reader->at == '\n' || *reader->at == '\t'
               || *reader->at == '\r'))
        reader->at++;
}

static bool
rego_json_take_char(struct value_reader *reader, char c)
{
    rego_json_skip_blanks(reader);
    if (reader->at >= reader->end || *reader->at != c)
        return false;
    reader->at++;
    return true;
}

/* Return the place of a text in the table; NULL: it is not shared. */
static const struct rego_value **
shared_place(const struct value_reader *reader, const char *text, size_t length)
{
    uint32_t hash = 2166136261u; /* FNV-1a: a collision costs memory only */
    if (reader->shared == NULL || length > SHARED_TEXT_MAX)
        return NULL;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char) text[i]) * 16777619u;
    return &reader->shared[(hash ^ hash >> 16) % SHARED_PLACES];
}

/* Read a string behind its quote. */
static const struct rego_value *
rego_json_read_string(struct value_reader *reader)
{
    const char *begin = reader->at;
    for (; reader->at < reader->end && *reader->at != '"'; reader->at++) {
        if ((unsigned char) *reader->at < 0x20)
            return NULL;
        reader->at += *reader->at == '\\' && reader->at + 1 < reader->end;
    }
    if (reader->at >= reader->end)
        return NULL;
    size_t length = (size_t) (reader->at++ - begin), taken = length;
    bool plain = memchr(begin, '\\', length) == NULL;
    const struct rego_value **place = plain ? shared_place(reader, begin, length) : NULL;
    if (place != NULL && *place != NULL && (*place)->count == length
        && memcmp((*place)->text, begin, length) == 0)
        return *place;
    char *copy = rego_take_unset(reader->arena, length + 1);
    if (copy == NULL)
        return NULL;
    if (plain)
        memcpy(copy, begin, length);
    else if (jsonx_unescape(begin, length, copy, &taken) != JSONX_ESCAPE_FINE)
        return NULL;
    copy[taken] = '\0';
    const struct rego_value *value = rego_text(reader->arena, copy, taken);
    if (place != NULL)
        *place = value;
    return value;
}

static const struct rego_value *
read_array(struct value_reader *reader, unsigned depth)
{
    struct rego_value *array = rego_array(reader->arena, 0);
    if (array == NULL || rego_json_take_char(reader, ']'))
        return array;
    do {
        if (!rego_append(reader->arena, array, read_value(reader, depth)))
            return NULL;
    } while (rego_json_take_char(reader, ','));
    return rego_json_take_char(reader, ']') ? array : NULL;
}

static const struct rego_value *
rego_json_read_object(struct value_reader *reader, unsigned depth)
{
    struct rego_value *object = rego_object(reader->arena, 0);
    if (object == NULL || rego_json_take_char(reader, '}'))
        return object;
    do {
        if (!rego_json_take_char(reader, '"'))
            return NULL;
        const struct rego_value *key = rego_json_read_string(reader);
        if (key == NULL || !rego_json_take_char(reader, ':')
            || !rego_append_member(reader->arena, object, key, read_value(reader, depth)))
            return NULL;
    } while (rego_json_take_char(reader, ','));
    return rego_json_take_char(reader, '}') && rego_sort_members(object) ? object : NULL;
}

static bool
rego_json_take_word(struct value_reader *reader, const char *word)
{
    size_t length = strlen(word);
    if ((size_t) (reader->end - reader->at) < length || memcmp(reader->at, word, length) != 0)
        return false;
    reader->at += length;
    return true;
}

static const struct rego_value *
read_number(struct value_reader *reader)
{
    const char *begin = reader->at;
    while (reader->at < reader->end
           && ((*reader->at >= '0' && *reader->at <= '9') || strchr("+-.eE", *reader->at) != NULL)
           && *reader->at != '\0')
        reader->at++;
    size_t length = (size_t) (reader->at - begin);
    return number_is_json(begin, length) ? rego_number(reader->arena, begin, length) : NULL;
}

static const struct rego_value *
read_value(struct value_reader *reader, unsigned depth)
{
    if (depth >= reader->deepest)
        return NULL;
    if (rego_json_take_char(reader, '{'))
        return rego_json_read_object(reader, depth + 1);
    if (rego_json_take_char(reader, '['))
        return read_array(reader, depth + 1);
    if (rego_json_take_char(reader, '"'))
        return rego_json_read_string(reader);
    if (rego_json_take_word(reader, "true"))
        return &rego_true;
    if (rego_json_take_word(reader, "false"))
        return &rego_false;
    if (rego_json_take_word(reader, "null"))
        return &rego_null;
    return read_number(reader);
}

const struct rego_value *
rego_parse(struct rego_arena *arena, const char *text, size_t length)
{
    return rego_parse_nested(arena, text, length, REGO_DEPTH_MAX);
}

const struct rego_value *
rego_parse_nested(struct rego_arena *arena, const char *text, size_t length, unsigned depth)
{
    const struct rego_value *shared[SHARED_PLACES];
    struct value_reader reader = {arena, text, text + length, NULL, depth};
    if (length >= SHARED_FROM) {
        memset(shared, 0, sizeof(shared));
        reader.shared = shared;
    }
    if (!utf8_valid(text, length))
        return NULL;
    const struct rego_value *value = read_value(&reader, 0);
    rego_json_skip_blanks(&reader);
    return reader.at == reader.end ? value : NULL;
}

/* ---- Jansson's values ---- */

/* The state of one conversion. */
struct tree_reader {
    struct rego_arena *arena;
    size_t length; /* octets of the text so far */
};

/* Return the octets of a text in JSON, with its quotes; 0: it is not UTF-8, or holds NUL. */
static size_t
length_in_json(const char *text, size_t length)
{
    char escape[JSONX_ESCAPE_MAX];
    size_t plain = jsonx_plain_length(text, length), sum = length + 2;
    if (plain < length
        && (memchr(text, '\0', length) != NULL || !utf8_valid(text + plain, length - plain)))
        return 0;
    for (size_t i = plain; i < length; i++) {
        unsigned char octet = (unsigned char) text[i];
        if (octet < 0x20 || octet == '"' || octet == '\\')
            sum += jsonx_put_escape(escape, octet) - 1;
    }
    return sum;
}

static const struct rego_value *
text_of_json(struct tree_reader *reader, const char *text, size_t length)
{
    size_t octets = length_in_json(text, length);
    reader->length += octets;
    return octets > 0 ? rego_text(reader->arena, text, length) : NULL;
}

static const struct rego_value *
number_of_json(struct tree_reader *reader, const json_t *json)
{
    int64_t integer = json_integer_value(json);
    if (json_is_real(json)) { /* its digits are those of the text */
        const char *text = jsonx_dump(reader->arena->mem, json);
        size_t length = text != NULL ? strlen(text) : 0;
        reader->length += length;
        return number_is_json(text, length) ? rego_number(reader->arena, text, length) : NULL;
    }
    reader->length += 1 + (integer < 0);
    for (int64_t rest = integer / 10; rest != 0; rest /= 10)
        reader->length++;
    return rego_integer(reader->arena, integer);
}

static const struct rego_value *value_of_json(struct tree_reader *reader, const json_t *json,
                                              unsigned depth);

static const struct rego_value *
array_of_json(struct tree_reader *reader, const json_t *json, unsigned depth)
{
    size_t count = json_array_size(json);
    struct rego_value *array = rego_array(reader->arena, count);
    reader->length += count > 0 ? count + 1 : 2;
    for (size_t i = 0; array != NULL && i < count; i++)
        if (!rego_append(reader->arena, array,
                         value_of_json(reader, json_array_get(json, i), depth)))
            return NULL;
    return array;
}

static const struct rego_value *
object_of_json(struct tree_reader *reader, const json_t *json, unsigned depth)
{
    json_t *members = (json_t *) (uintptr_t) json; /* Jansson iterates through pointers that are
                                                    * not const */
    size_t count = json_object_size(json);
    struct rego_value *object = rego_object(reader->arena, count);
    reader->length += count > 0 ? 2 * count + 1 : 2;
    for (void *at = json_object_iter(members); object != NULL && at != NULL;
         at = json_object_iter_next(members, at)) {
        const struct rego_value *key =
            text_of_json(reader, json_object_iter_key(at), json_object_iter_key_len(at));
        if (key == NULL
            || !rego_append_member(reader->arena, object, key,
                                   value_of_json(reader, json_object_iter_value(at), depth)))
            return NULL;
    }
    return object != NULL && rego_sort_members(object) ? object : NULL;
}

static const struct rego_value *
value_of_json(struct tree_reader *reader, const json_t *json, unsigned depth)
{
    if (json == NULL || depth >= REGO_DEPTH_MAX)
        return NULL;
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        return object_of_json(reader, json, depth + 1);
    case JSON_ARRAY:
        return array_of_json(reader, json, depth + 1);
    case JSON_STRING:
        return text_of_json(reader, json_string_value(json), json_string_length(json));
    case JSON_INTEGER:
    case JSON_REAL:
        return number_of_json(reader, json);
    case JSON_TRUE:
        reader->length += strlen("true");
        return &rego_true;
    case JSON_FALSE:
        reader->length += strlen("false");
        return &rego_false;
    case JSON_NULL:
        break;
    }
    reader->length += strlen("null");
    return &rego_null;
}

const struct rego_value *
rego_of_json(struct rego_arena *arena, const json_t *json, size_t *ret_length)
{
    struct tree_reader reader = {arena, 0};
    const struct rego_value *value = value_of_json(&reader, json, 0);
    *ret_length = reader.length;
    return value;
}

/* ---- writing ---- */

static bool
rego_json_write_text(struct buf *buf, const char *text, size_t length)
{
    char escape[JSONX_ESCAPE_MAX];
    buf_append_char(buf, '"');
    for (size_t i = 0; i < length; i++) {
        unsigned char octet = (unsigned char) text[i];
        if (octet < 0x20 || octet == '"' || octet == '\\')
            buf_append(buf, escape, jsonx_put_escape(escape, octet));
        else
            buf_append_char(buf, text[i]);
    }
    return buf_append_char(buf, '"') == AZ_OK;
}

/* Append a key: one that is not a string becomes a string with its JSON text, as in OPA. */
static bool
write_key(struct buf *buf, const struct rego_value *key)
{
    if (key->type == REGO_STRING)
        return rego_json_write_text(buf, key->text, key->count);
    BUF_AUTO text;
    buf_init(&text, buf->mem, KEY_TEXT_MAX);
    return rego_write(&text, key) && rego_json_write_text(buf, text.data, text.len);
}

static bool
rego_json_write_object(struct buf *buf, const struct rego_value *object)
{
    buf_append_char(buf, '{');
    for (uint32_t i = 0; i < object->count; i++) {
        if (i > 0)
            buf_append_char(buf, ',');
        if (!write_key(buf, object->member[i].key))
            return false;
        buf_append_char(buf, ':');
        if (!rego_write(buf, object->member[i].value))
            return false;
    }
    return buf_append_char(buf, '}') == AZ_OK;
}

bool
rego_write(struct buf *buf, const struct rego_value *value)
{
    switch ((enum rego_type) value->type) {
    case REGO_NULL:
        return buf_append_text(buf, "null") == AZ_OK;
    case REGO_BOOLEAN:
        return buf_append_text(buf, value->boolean ? "true" : "false") == AZ_OK;
    case REGO_NUMBER:
        if (value->decimal)
            return buf_append(buf, value->text, value->count) == AZ_OK;
        return buf_append_format(buf, "%" PRId64, value->integer) == AZ_OK;
    case REGO_STRING:
        return rego_json_write_text(buf, value->text, value->count);
    case REGO_OBJECT:
        return rego_json_write_object(buf, value);
    case REGO_ARRAY:
    case REGO_SET:
        break;
    }
    buf_append_char(buf, '[');
    for (uint32_t i = 0; i < value->count; i++) {
        if (i > 0)
            buf_append_char(buf, ',');
        if (!rego_write(buf, value->item[i]))
            return false;
    }
    return buf_append_char(buf, ']') == AZ_OK;
}
