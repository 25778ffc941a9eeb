/*
 * Read JSON text (RFC 8259) into Jansson's values by recursive descent, in one pass; json_loadb()
 * calls a function per octet. Each function begins at reader->at and leaves it after the text it
 * has read. A failure sets reader->why to a text, or to NULL if memory ran out.
 */
#include "config.h"

#include "base/json/jsonx.h"

#include "base/json/jsonx_text.h"
#include "base/utf8.h"

/* Constant texts without any part of the input, which may be a secret. */
static const char malformed[] = "JSON is malformed";
static const char ends_early[] = "JSON ends too early";
static const char has_nul[] = "JSON contains a NUL character";
static const char bad_utf8[] = "JSON is not valid UTF-8";
static const char too_deep[] = "JSON is nested too deeply";
static const char too_large[] = "JSON contains a number that is too large";
static const char repeated[] = "JSON contains a repeated member name";
static const char followed[] = "JSON is followed by other text";

struct jsonx_reader {
    TALLOC_CTX *mem;
    const char *at, *end;
    size_t depth; /* number of containers that may still be opened */
    const char *why;
};

/* A string: a part of the input, or decoded if it had escapes. */
struct piece {
    const char *text;
    size_t length;
    char *decoded; /* memory to pass to talloc_free(), or NULL */
};

static bool
fault(struct jsonx_reader *reader, const char *why)
{
    reader->why = why;
    return false;
}

static bool
is_digit(const struct jsonx_reader *reader)
{
    return reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9';
}

static void
skip_space(struct jsonx_reader *reader)
{
    while (reader->at < reader->end
           && (*reader->at == ' ' || *reader->at == '\n' || *reader->at == '\r'
               || *reader->at == '\t'))
        reader->at++;
}

/* Consume c, after white space. True if it is the next character. */
static bool
jsonx_take(struct jsonx_reader *reader, char c)
{
    skip_space(reader);
    if (reader->at == reader->end || *reader->at != c)
        return false;
    reader->at++;
    return true;
}

static bool
expect(struct jsonx_reader *reader, char c)
{
    return jsonx_take(reader, c)
           || fault(reader, reader->at == reader->end ? ends_early : malformed);
}

/* Return the same string with its escapes replaced. */
static bool
jsonx_decode(struct jsonx_reader *reader, const char *text, size_t length, struct piece *ret)
{
    size_t decoded_length;
    char *decoded = talloc_size(reader->mem, length);

    if (decoded == NULL)
        return fault(reader, NULL);
    enum jsonx_escape outcome = jsonx_unescape(text, length, decoded, &decoded_length);
    if (outcome != JSONX_ESCAPE_FINE) {
        talloc_free(decoded);
        return fault(reader, outcome == JSONX_ESCAPE_NUL ? has_nul : malformed);
    }
    *ret = (struct piece){decoded, decoded_length, decoded};
    return true;
}

/* Read a string with escapes, octets beyond ASCII, or a fault, after its opening quote. */
static bool
read_rich_string(struct jsonx_reader *reader, struct piece *ret)
{
    const char *start = reader->at, *at = start;
    bool escaped = false;

    while (at < reader->end && *at != '"') {
        if ((unsigned char) *at < 0x20)
            return fault(reader, malformed);
        if (*at == '\\') {
            escaped = true;
            if (++at == reader->end)
                break;
        }
        at++;
    }
    if (at == reader->end)
        return fault(reader, ends_early);
    if (!utf8_valid(start, (size_t) (at - start)))
        return fault(reader, bad_utf8);
    reader->at = at + 1;
    if (escaped)
        return jsonx_decode(reader, start, (size_t) (at - start), ret);
    *ret = (struct piece){start, (size_t) (at - start), NULL};
    return true;
}

/* Read a string after its opening quote. */
static bool
read_piece(struct jsonx_reader *reader, struct piece *ret)
{
    size_t plain = jsonx_plain_length(reader->at, (size_t) (reader->end - reader->at));
    const char *stop = reader->at + plain;

    if (stop == reader->end || *stop != '"')
        return read_rich_string(reader, ret);
    *ret = (struct piece){reader->at, plain, NULL};
    reader->at = stop + 1;
    return true;
}

static json_t *
read_string(struct jsonx_reader *reader)
{
    struct piece piece;

    reader->at++;
    if (!read_piece(reader, &piece))
        return NULL;
    json_t *value = json_stringn_nocheck(piece.text, piece.length);
    talloc_free(piece.decoded);
    return value;
}

static bool
read_digits(struct jsonx_reader *reader)
{
    if (!is_digit(reader))
        return fault(reader, malformed);
    while (is_digit(reader))
        reader->at++;
    return true;
}

/* Read a fraction, an exponent, or both. Jansson converts the digits to a double. */
static json_t *
read_real(struct jsonx_reader *reader, const char *start)
{
    json_error_t error = {0};

    if (*reader->at == '.') {
        reader->at++;
        if (!read_digits(reader))
            return NULL;
    }
    if (reader->at < reader->end && (*reader->at | 0x20) == 'e') {
        reader->at++;
        if (reader->at < reader->end && (*reader->at == '+' || *reader->at == '-'))
            reader->at++;
        if (!read_digits(reader))
            return NULL;
    }
    json_t *value = json_loadb(start, (size_t) (reader->at - start), JSON_DECODE_ANY, &error);
    if (value == NULL && json_error_code(&error) == json_error_numeric_overflow)
        fault(reader, too_large);
    return value;
}

static json_t *
jsonx_read_number(struct jsonx_reader *reader)
{
    const char *start = reader->at;
    bool negative = *start == '-', fits = true;
    const uint64_t limit = (uint64_t) INT64_MAX + negative;
    uint64_t number = 0;

    reader->at += negative;
    const char *first = reader->at;
    if (!read_digits(reader))
        return NULL;
    if (*first == '0' && reader->at - first > 1) {
        fault(reader, malformed);
        return NULL;
    }
    if (reader->at < reader->end && (*reader->at == '.' || (*reader->at | 0x20) == 'e'))
        return read_real(reader, start);
    for (const char *at = first; at < reader->at && fits; at++) {
        uint64_t digit = (uint64_t) (*at - '0');
        fits = number <= (limit - digit) / 10;
        number = number * 10 + digit;
    }
    if (!fits) {
        fault(reader, too_large);
        return NULL;
    }
    return json_integer((json_int_t) (negative ? 0 - number : number));
}

static json_t *
read_word(struct jsonx_reader *reader, const char *word, size_t length, json_t *value)
{
    if ((size_t) (reader->end - reader->at) < length || memcmp(reader->at, word, length) != 0) {
        fault(reader, malformed);
        return NULL;
    }
    reader->at += length;
    return value;
}

static json_t *jsonx_read_value(struct jsonx_reader *reader);

static bool
read_member(struct jsonx_reader *reader, json_t *object)
{
    struct piece name;
    size_t before = json_object_size(object);

    if (!expect(reader, '"') || !read_piece(reader, &name))
        return false;
    json_t *value = expect(reader, ':') ? jsonx_read_value(reader) : NULL;
    bool set =
        value != NULL && json_object_setn_new_nocheck(object, name.text, name.length, value) == 0;
    talloc_free(name.decoded);
    return set && (json_object_size(object) > before || fault(reader, repeated));
}

static bool
jsonx_read_members(struct jsonx_reader *reader, json_t *object)
{
    if (jsonx_take(reader, '}'))
        return true;
    do {
        if (!read_member(reader, object))
            return false;
    } while (jsonx_take(reader, ','));
    return expect(reader, '}');
}

static bool
read_items(struct jsonx_reader *reader, json_t *array)
{
    if (jsonx_take(reader, ']'))
        return true;
    do {
        json_t *item = jsonx_read_value(reader);
        if (item == NULL || json_array_append_new(array, item) != 0)
            return false;
    } while (jsonx_take(reader, ','));
    return expect(reader, ']');
}

static json_t *
read_container(struct jsonx_reader *reader, bool is_object)
{
    if (reader->depth == 0) {
        fault(reader, too_deep);
        return NULL;
    }
    json_t *value = is_object ? json_object() : json_array();
    if (value == NULL)
        return NULL;
    reader->at++;
    reader->depth--;
    if (!(is_object ? jsonx_read_members(reader, value) : read_items(reader, value))) {
        json_decref(value);
        return NULL;
    }
    reader->depth++;
    return value;
}

static json_t *
jsonx_read_value(struct jsonx_reader *reader)
{
    skip_space(reader);
    if (reader->at == reader->end) {
        fault(reader, ends_early);
        return NULL;
    }
    switch (*reader->at) {
    case '{':
    case '[':
        return read_container(reader, *reader->at == '{');
    case '"':
        return read_string(reader);
    case 't':
        return read_word(reader, "true", 4, json_true());
    case 'f':
        return read_word(reader, "false", 5, json_false());
    case 'n':
        return read_word(reader, "null", 4, json_null());
    default:
        return jsonx_read_number(reader);
    }
}

enum az_status
jsonx_parse(TALLOC_CTX *mem, const char *text, size_t len, size_t max_depth, json_t **ret,
            const char **ret_why)
{
    size_t depth = max_depth < JSONX_DEPTH_MAX ? max_depth : JSONX_DEPTH_MAX;
    struct jsonx_reader reader = {.mem = mem, .at = text, .end = text + len, .depth = depth};
    json_t *value = jsonx_read_value(&reader);

    skip_space(&reader);
    if (value != NULL && reader.at != reader.end) {
        json_decref(value);
        value = NULL;
        fault(&reader, followed);
    }
    if (value == NULL && reader.why != NULL) {
        /* Report invalid UTF-8 first, wherever it is: it is the more helpful reason. */
        if (ret_why != NULL)
            *ret_why = text_has_nul(text, len)  ? has_nul
                       : !utf8_valid(text, len) ? bad_utf8
                                                : reader.why;
        return AZ_INVALID;
    }
    value = jsonx_own(mem, value);
    if (value == NULL)
        return AZ_SERVER_ERROR;
    *ret = value;
    return AZ_OK;
}
