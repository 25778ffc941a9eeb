#include "config.h"

#include "cedar/json.h"

#include <string.h>

#include "base/json/jsonx_text.h"
#include "base/utf8.h"
#include "cedar/lex.h"

/* A reading. */
struct json_reader {
    TALLOC_CTX *mem;
    const char *text, *at, *end;
    struct cedar_fault *fault;
};

static bool json_read_any(struct json_reader *reader, unsigned nesting, struct cedar_json *ret);

/* Return the line and column of an octet. */
static struct cedar_place
octet_place(const struct json_reader *reader, const char *at)
{
    struct cedar_place place = {1, 1};
    for (const char *c = reader->text; c < at; c++) {
        place.line += *c == '\n';
        place.column = *c == '\n' ? 1 : place.column + ((*c & 0xc0) != 0x80);
    }
    return place;
}

static bool
json_refuse(struct json_reader *reader, const char *why)
{
    return cedar_fail(reader->fault, octet_place(reader, reader->at), "%s", why);
}

static void
skip_json_space(struct json_reader *reader)
{
    while (reader->at < reader->end && strchr(" \t\r\n", *reader->at) != NULL && *reader->at != 0)
        reader->at++;
}

static bool
take_sign(struct json_reader *reader, char sign)
{
    skip_json_space(reader);
    if (reader->at >= reader->end || *reader->at != sign)
        return false;
    reader->at++;
    return true;
}

static bool
read_hex(struct json_reader *reader, unsigned *ret)
{
    unsigned code = 0;
    if (reader->end - reader->at < 4)
        return false;
    for (int i = 0; i < 4; i++, reader->at++) {
        const char *digits = "0123456789abcdefABCDEF", *digit = strchr(digits, *reader->at);
        if (digit == NULL || *digit == '\0')
            return false;
        unsigned value = (unsigned) (digit - digits);
        code = code * 16 + (value < 16 ? value : value - 6);
    }
    *ret = code;
    return true;
}

/* Read the code of \uXXXX, and of the second half of a pair. */
static bool
read_unicode(struct json_reader *reader, char **out)
{
    unsigned code, low;
    if (!read_hex(reader, &code) || (code >= 0xdc00 && code <= 0xdfff))
        return false;
    if (code >= 0xd800 && code <= 0xdbff) {
        if (reader->end - reader->at < 2 || memcmp(reader->at, "\\u", 2) != 0)
            return false;
        reader->at += 2;
        if (!read_hex(reader, &low) || low < 0xdc00 || low > 0xdfff)
            return false;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    char *c = *out;
    if (code < 0x80)
        *c++ = (char) code;
    else if (code < 0x800) {
        *c++ = (char) (0xc0 | code >> 6);
        *c++ = (char) (0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *c++ = (char) (0xe0 | code >> 12);
        *c++ = (char) (0x80 | (code >> 6 & 0x3f));
        *c++ = (char) (0x80 | (code & 0x3f));
    } else {
        *c++ = (char) (0xf0 | code >> 18);
        *c++ = (char) (0x80 | (code >> 12 & 0x3f));
        *c++ = (char) (0x80 | (code >> 6 & 0x3f));
        *c++ = (char) (0x80 | (code & 0x3f));
    }
    *out = c;
    return true;
}

/* Read a string, behind its quote. An escape is never shorter than its character. */
static bool
read_json_text(struct json_reader *reader, struct cedar_text *ret)
{
    static const char signs[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *close = reader->at;
    while (close < reader->end && *close != '"')
        close += *close == '\\' && close + 1 < reader->end ? 2 : 1;
    if (close >= reader->end)
        return json_refuse(reader, "the string has no end");
    char *room = talloc_array(reader->mem, char, (size_t) (close - reader->at) + 1), *out = room;
    if (room == NULL)
        return json_refuse(reader, "out of memory");
    while (*reader->at != '"') {
        const char *sign;
        if ((unsigned char) *reader->at < 0x20)
            return json_refuse(reader, "a control character in a string needs an escape");
        if (*reader->at != '\\') {
            *out++ = *reader->at++;
            continue;
        }
        reader->at++;
        if (*reader->at == 'u') {
            reader->at++;
            if (!read_unicode(reader, &out))
                return json_refuse(reader,
                                   "expected \\u and four hexadecimal digits of a character");
        } else if (*reader->at != '\0' && (sign = strchr(signs, *reader->at)) != NULL) {
            *out++ = values[sign - signs];
            reader->at++;
        } else
            return json_refuse(reader, "unknown escape in a string");
    }
    reader->at++;
    *ret = (struct cedar_text){room, (size_t) (out - room)};
    return true;
}

static size_t
skip_digits(struct json_reader *reader)
{
    const char *begin = reader->at;
    while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9')
        reader->at++;
    return (size_t) (reader->at - begin);
}

/* Read a number: one without a dot and an exponent that has 64 bits is a Long. */
static bool
read_json_number(struct json_reader *reader, struct cedar_json *ret)
{
    bool negative = *reader->at == '-', fits = true;
    reader->at += negative;
    const char *begin = reader->at;
    size_t digits = skip_digits(reader);
    int64_t number = 0;
    if (digits == 0 || (*begin == '0' && digits > 1))
        return json_refuse(reader, "expected a JSON value");
    for (size_t i = 0; i < digits; i++)
        fits =
            fits && !__builtin_mul_overflow(number, 10, &number)
            && !__builtin_add_overflow(number, negative ? '0' - begin[i] : begin[i] - '0', &number);
    if (reader->at < reader->end && *reader->at == '.') {
        reader->at++;
        fits = false;
        if (skip_digits(reader) == 0)
            return json_refuse(reader, "expected a digit after the dot");
    }
    if (reader->at < reader->end && (*reader->at == 'e' || *reader->at == 'E')) {
        reader->at++;
        fits = false;
        if (reader->at < reader->end && (*reader->at == '+' || *reader->at == '-'))
            reader->at++;
        if (skip_digits(reader) == 0)
            return json_refuse(reader, "expected a digit in the exponent");
    }
    ret->kind = fits ? CEDAR_JSON_LONG : CEDAR_JSON_REAL;
    ret->number = number;
    return true;
}

/* Make room for one more item. */
static bool
room_for_child(struct json_reader *reader, struct cedar_json *list, size_t *room)
{
    if (list->count < *room)
        return true;
    *room = *room > 0 ? *room * 2 : 4;
    list->child = talloc_realloc(reader->mem, list->child, struct cedar_json, *room);
    list->name = talloc_realloc(reader->mem, list->name, struct cedar_text, *room);
    return (list->child != NULL && list->name != NULL) || json_refuse(reader, "out of memory");
}

/* Read an array or object, behind its bracket. */
static bool
json_read_list(struct json_reader *reader, unsigned nesting, struct cedar_json *ret)
{
    bool object = ret->kind == CEDAR_JSON_OBJECT;
    char close = object ? '}' : ']';
    size_t room = 0;
    if (nesting >= CEDAR_NESTING_MAX)
        return json_refuse(reader, "the value is nested too deeply");
    if (take_sign(reader, close))
        return true;
    do {
        if (!room_for_child(reader, ret, &room))
            return false;
        if (object) {
            if (!take_sign(reader, '"'))
                return json_refuse(reader, "expected the name of a member");
            if (!read_json_text(reader, &ret->name[ret->count]))
                return false;
            if (!take_sign(reader, ':'))
                return json_refuse(reader, "expected `:`");
        }
        if (!json_read_any(reader, nesting + 1, &ret->child[ret->count]))
            return false;
        ret->count++;
    } while (take_sign(reader, ','));
    return take_sign(reader, close)
           || json_refuse(reader, object ? "expected `,` or `}`" : "expected `,` or `]`");
}

static bool
json_read_any(struct json_reader *reader, unsigned nesting, struct cedar_json *ret)
{
    static const struct {
        const char *word;
        enum cedar_json_kind kind;
        bool truth;
    } words[] = {
        {"null",  CEDAR_JSON_NULL, false},
        {"true",  CEDAR_JSON_BOOL, true },
        {"false", CEDAR_JSON_BOOL, false},
    };
    skip_json_space(reader);
    *ret = (struct cedar_json){.kind = CEDAR_JSON_NULL};
    if (take_sign(reader, '"')) {
        ret->kind = CEDAR_JSON_STRING;
        return read_json_text(reader, &ret->text);
    }
    if (take_sign(reader, '[') || take_sign(reader, '{')) {
        ret->kind = reader->at[-1] == '[' ? CEDAR_JSON_ARRAY : CEDAR_JSON_OBJECT;
        return json_read_list(reader, nesting, ret);
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t length = strlen(words[i].word);
        if ((size_t) (reader->end - reader->at) < length
            || memcmp(reader->at, words[i].word, length) != 0)
            continue;
        ret->kind = words[i].kind;
        ret->truth = words[i].truth;
        reader->at += length;
        return true;
    }
    if (reader->at >= reader->end)
        return json_refuse(reader, "expected a JSON value, found the end");
    return read_json_number(reader, ret);
}

bool
cedar_json_parse(TALLOC_CTX *mem, const char *text, size_t length, struct cedar_json *ret,
                 struct cedar_fault *ret_fault)
{
    struct json_reader reader = {mem, text, text, text + length, ret_fault};
    *ret_fault = (struct cedar_fault){
        .place = {0, 0}
    };
    if (!utf8_valid(text, length))
        return cedar_fail(ret_fault, (struct cedar_place){1, 1}, "the text is not UTF-8");
    if (!json_read_any(&reader, 0, ret))
        return false;
    skip_json_space(&reader);
    return reader.at == reader.end || json_refuse(&reader, "expected the end of the text");
}

const struct cedar_json *
cedar_json_get(const struct cedar_json *object, const char *name)
{
    if (object->kind != CEDAR_JSON_OBJECT)
        return NULL;
    for (size_t i = 0; i < object->count; i++)
        if (cedar_text_is(object->name[i], name))
            return &object->child[i];
    return NULL;
}

/* OPA refuses a module with U+FEFF, even in a string. */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

void
cedar_json_put(struct buf *buf, struct cedar_text text)
{
    size_t plain = 0, mark = strlen(BYTE_ORDER_MARK);
    char escape[JSONX_ESCAPE_MAX];
    buf_append_char(buf, '"');
    for (size_t i = 0; i < text.length; i++) {
        unsigned char octet = (unsigned char) text.at[i];
        bool marked = text.length - i >= mark && memcmp(text.at + i, BYTE_ORDER_MARK, mark) == 0;
        if (octet >= 0x20 && octet != '"' && octet != '\\' && octet != 0x7f && !marked)
            continue;
        buf_append(buf, text.at + plain, i - plain);
        if (marked)
            buf_append_text(buf, "\\ufeff");
        else
            buf_append(buf, escape, jsonx_put_escape(escape, octet));
        i += marked ? mark - 1 : 0;
        plain = i + 1;
    }
    buf_append(buf, text.at + plain, text.length - plain);
    buf_append_char(buf, '"');
}
