/* Escapes in strings and patterns of Cedar. */
#include "config.h"

#include "cedar/lex.h"

static const struct {
    char sign, value;
} simple[] = {
    {'n',  '\n'},
    {'r',  '\r'},
    {'t',  '\t'},
    {'\\', '\\'},
    {'0',  '\0'},
    {'\'', '\''},
    {'"',  '"' },
};

/* The state of reading one string. */
struct reading {
    const char *at, *end; /* the rest of the token */
    char *out;            /* end of what was written; an escape is never shorter than its value */
    const char *why;      /* fault, or NULL */
};

static int
hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static void
put_character(struct reading *reading, unsigned long code)
{
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    int octets = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (octets == 1) {
        *reading->out++ = (char) code;
        return;
    }
    for (int i = octets; i-- > 1; code >>= 6)
        reading->out[i] = (char) (0x80 | (code & 0x3f));
    reading->out[0] = (char) (lead[octets] | code);
    reading->out += octets;
}

/* Read \x7F; `at` is behind the x. */
static void
read_octet(struct reading *reading)
{
    int high = reading->end - reading->at >= 2 ? hex_value(reading->at[0]) : -1;
    int low = high >= 0 ? hex_value(reading->at[1]) : -1;
    if (low < 0 || high > 7)
        reading->why = "expected two hexadecimal digits, at most 7F, after `\\x`";
    else
        put_character(reading, (unsigned long) (high * 16 + low));
    reading->at += 2;
}

/* Read \u{10FFFF}; `at` is behind the u. */
static void
read_code(struct reading *reading)
{
    unsigned long code = 0;
    int digits = 0;
    if (reading->at < reading->end && *reading->at++ == '{')
        for (; reading->at < reading->end && *reading->at != '}' && digits <= 6; reading->at++) {
            int digit = hex_value(*reading->at);
            if (digit < 0 && (*reading->at != '_' || digits == 0))
                break;
            if (digit >= 0) {
                code = code * 16 + (unsigned long) digit;
                digits++;
            }
        }
    if (reading->at >= reading->end || *reading->at != '}' || digits == 0 || digits > 6
        || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        reading->why = "expected a character as \\u{1F600}, one to six hexadecimal digits";
    else {
        put_character(reading, code);
        reading->at++;
    }
}

/* Read an escape; `at` is behind the backslash. */
static void
take_escape(struct reading *reading, bool parts)
{
    char sign = *reading->at++;
    for (size_t i = 0; i < sizeof(simple) / sizeof(simple[0]); i++)
        if (simple[i].sign == sign) {
            *reading->out++ = simple[i].value;
            return;
        }
    if (sign == 'x')
        read_octet(reading);
    else if (sign == 'u')
        read_code(reading);
    else if (sign == '*' && parts)
        *reading->out++ = '*';
    else
        reading->why =
            "unknown escape; expected one of \\n \\r \\t \\\\ \\0 \\' \\\" \\x7F \\u{...}";
}

bool
cedar_unescape(TALLOC_CTX *mem, const struct cedar_token *token, bool parts,
               struct cedar_text **ret, size_t *ret_count, struct cedar_fault *fault)
{
    size_t count = 1, part = 0;
    char *room = talloc_array(mem, char, token->text.length + 1);
    for (size_t i = 0; parts && i < token->text.length; i++)
        count += token->text.at[i] == '*';
    struct cedar_text *text = talloc_zero_array(mem, struct cedar_text, count);
    struct reading reading = {token->text.at, token->text.at + token->text.length, room, NULL};
    struct cedar_place place = {token->place.line, token->place.column + 1};
    if (room == NULL || text == NULL)
        return cedar_fail(fault, token->place, "out of memory");
    text[0].at = room;
    while (reading.at < reading.end && reading.why == NULL) {
        const char *before = reading.at;
        if (*reading.at == '*' && parts) {
            text[part].length = (size_t) (reading.out - text[part].at);
            text[++part].at = reading.out;
            reading.at++;
        } else if (*reading.at == '\\') {
            reading.at++;
            take_escape(&reading, parts);
        } else if (*reading.at == '\r')
            reading.why = "a carriage return in a string is written \\r";
        else
            *reading.out++ = *reading.at++;
        for (; reading.why == NULL && before < reading.at; before++) {
            place.line += *before == '\n';
            place.column = *before == '\n' ? 1 : place.column + ((*before & 0xc0) != 0x80);
        }
    }
    if (reading.why != NULL)
        return cedar_fail(fault, place, "%s", reading.why);
    text[part].length = (size_t) (reading.out - text[part].at);
    *ret = text;
    *ret_count = part + 1;
    return true;
}
