/* base64, base64url, hexadecimal digits and queries (RFC 4648, RFC 3986). */
#include "config.h"

#include <string.h>

#include "base/b64url.h"
#include "base/utf8.h"
#include "rego/builtin/builtin.h"

/* Return octets as a text. Strings of OPA may be invalid UTF-8; strings of this machine are not. */
static const struct rego_value *
decoded_text(struct rego_machine *machine, const void *octets, size_t length)
{
    if (!utf8_valid(octets, length))
        return rego_give_up(machine, "octets that are no UTF-8");
    return rego_string(machine->arena, octets, length);
}

static const struct rego_value *
run_base64_encode(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (arg[0]->type != REGO_STRING)
        return NULL;
    char *text = b64_encode(machine->arena->mem, arg[0]->text, arg[0]->count);
    if (text == NULL) {
        machine->arena->full = true;
        return NULL;
    }
    return rego_string(machine->arena, text, strlen(text));
}

/* Go also reads texts with line ends and with unused bits. */
static const struct rego_value *
run_base64_decode(struct rego_machine *machine, const struct rego_value *const *arg)
{
    unsigned char *octets;
    size_t length;
    if (arg[0]->type != REGO_STRING)
        return NULL;
    if (b64_decode(machine->arena->mem, arg[0]->text, arg[0]->count, &octets, &length) != AZ_OK)
        return rego_give_up(machine, "a text that is no strict base64");
    return decoded_text(machine, octets, length);
}

static const struct rego_value *
run_base64_is_valid(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (arg[0]->type != REGO_STRING)
        return &rego_false;
    return run_base64_decode(machine, arg) != NULL ? &rego_true : NULL;
}

static const struct rego_value *
encode_base64url(struct rego_machine *machine, const struct rego_value *value, bool padding)
{
    if (value->type != REGO_STRING)
        return NULL;
    size_t length = B64URL_LENGTH((size_t) value->count);
    size_t padded = padding ? (length + 3) / 4 * 4 : length;
    char *text = rego_take(machine->arena, padded + 1);
    if (text == NULL)
        return NULL;
    b64url_encode_into(value->text, value->count, text);
    memset(text + length, '=', padded - length);
    text[padded] = '\0';
    return rego_text(machine->arena, text, padded);
}

static const struct rego_value *
run_base64url_encode(struct rego_machine *machine, const struct rego_value *const *arg)
{
    return encode_base64url(machine, arg[0], true);
}

static const struct rego_value *
run_base64url_encode_no_pad(struct rego_machine *machine, const struct rego_value *const *arg)
{
    return encode_base64url(machine, arg[0], false);
}

static const struct rego_value *
run_base64url_decode(struct rego_machine *machine, const struct rego_value *const *arg)
{
    unsigned char *octets;
    size_t length = arg[0]->count;
    if (arg[0]->type != REGO_STRING)
        return NULL;
    for (int i = 0; i < 2 && length > 0 && length % 4 == (size_t) (i == 0 ? 0 : 3); i++)
        length -= arg[0]->text[length - 1] == '=';
    if (b64url_decode(machine->arena->mem, arg[0]->text, length, &octets, &length) != AZ_OK)
        return rego_give_up(machine, "a text that is no strict base64url");
    return decoded_text(machine, octets, length);
}

static const struct rego_value *
run_hex_encode(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (arg[0]->type != REGO_STRING)
        return NULL;
    char *text = rego_take(machine->arena, (size_t) arg[0]->count * 2 + 1);
    for (uint32_t i = 0; text != NULL && i < arg[0]->count; i++) {
        text[i * 2] = "0123456789abcdef"[(unsigned char) arg[0]->text[i] >> 4];
        text[i * 2 + 1] = "0123456789abcdef"[arg[0]->text[i] & 15];
    }
    return text != NULL ? rego_text(machine->arena, text, (size_t) arg[0]->count * 2) : NULL;
}

/* Return the value of a hexadecimal digit, or -1. */
static int
digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static const struct rego_value *
run_hex_decode(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (arg[0]->type != REGO_STRING || arg[0]->count % 2 != 0)
        return NULL;
    char *octets = rego_take(machine->arena, arg[0]->count / 2 + 1);
    for (uint32_t i = 0; octets != NULL && i < arg[0]->count; i += 2) {
        int high = digit_value(arg[0]->text[i]), low = digit_value(arg[0]->text[i + 1]);
        if (high < 0 || low < 0)
            return NULL;
        octets[i / 2] = (char) (high << 4 | low);
    }
    return octets != NULL ? decoded_text(machine, octets, arg[0]->count / 2) : NULL;
}

static const struct rego_value *
run_query_encode(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (arg[0]->type != REGO_STRING)
        return NULL;
    char *text = rego_take(machine->arena, (size_t) arg[0]->count * 3 + 1), *at = text;
    for (uint32_t i = 0; text != NULL && i < arg[0]->count; i++) {
        unsigned char c = (unsigned char) arg[0]->text[i];
        bool plain = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
                     || (c != '\0' && strchr("-_.~", c) != NULL);
        if (plain || c == ' ') {
            *at++ = c == ' ' ? '+' : (char) c;
        } else {
            *at++ = '%';
            *at++ = "0123456789ABCDEF"[c >> 4];
            *at++ = "0123456789ABCDEF"[c & 15];
        }
    }
    return text != NULL ? rego_text(machine->arena, text, (size_t) (at - text)) : NULL;
}

static const struct rego_value *
run_query_decode(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (arg[0]->type != REGO_STRING)
        return NULL;
    char *text = rego_take(machine->arena, (size_t) arg[0]->count + 1), *at = text;
    for (uint32_t i = 0; text != NULL && i < arg[0]->count; i++) {
        char c = arg[0]->text[i];
        if (c == '%') {
            int high = i + 2 < arg[0]->count + 0u ? digit_value(arg[0]->text[i + 1]) : -1;
            int low = high >= 0 ? digit_value(arg[0]->text[i + 2]) : -1;
            if (high < 0 || low < 0)
                return NULL;
            c = (char) (high << 4 | low);
            i += 2;
        } else if (c == '+') {
            c = ' ';
        }
        *at++ = c;
    }
    return text != NULL ? decoded_text(machine, text, (size_t) (at - text)) : NULL;
}

const struct rego_builtin rego_encoding_builtins[] = {
    {"base64.decode",           1, run_base64_decode          },
    {"base64.encode",           1, run_base64_encode          },
    {"base64.is_valid",         1, run_base64_is_valid        },
    {"base64url.decode",        1, run_base64url_decode       },
    {"base64url.encode",        1, run_base64url_encode       },
    {"base64url.encode_no_pad", 1, run_base64url_encode_no_pad},
    {"hex.decode",              1, run_hex_decode             },
    {"hex.encode",              1, run_hex_encode             },
    {"urlquery.decode",         1, run_query_decode           },
    {"urlquery.encode",         1, run_query_encode           },
    {NULL,                      0, NULL                       },
};
