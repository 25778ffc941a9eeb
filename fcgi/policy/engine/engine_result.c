#include "config.h"

#include "policy/engine/engine_result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/json/jsonx_text.h"
#include "base/utf8.h"
#include "policy/engine/engine.h"

/* Octets of an answer besides the result: OPA's provenance. */
#define ENVELOPE_OCTETS 1024
/* Most octets of a number, a literal name or a structural character. */
#define NUMBER_OCTETS 24
/* Octets of the escape of one octet in JSON. */
#define ESCAPE_OCTETS 6

struct result_writer {
    size_t left;     /* octets that the text of the answer may still have */
    const char *why; /* the value cannot be converted */
};

static json_t *convert(struct result_writer *writer, const struct rego_value *value,
                       unsigned depth);

static json_t *
refuse_result(struct result_writer *writer, const char *why)
{
    if (writer->why == NULL)
        writer->why = why;
    return NULL;
}

/* Count octets of the text, with the comma or colon after them. */
static bool
take_octets(struct result_writer *writer, size_t octets)
{
    if (octets >= writer->left) {
        refuse_result(writer, "the answer is too long");
        return false;
    }
    writer->left -= octets;
    return true;
}

/* True if a text may be in an answer. It is counted as if each octet were escaped, so that the
 * answer is never longer than counted. If the count is too large but the answer is not, OPA answers
 * the question. */
static bool
take_text(struct result_writer *writer, const struct rego_value *text)
{
    /* Jansson looks at one octet after the other; most texts are plain ASCII. */
    bool plain = jsonx_plain_length(text->text, text->count) == text->count;
    if (!plain && memchr(text->text, '\0', text->count) != NULL) {
        refuse_result(writer, "a text of the answer holds NUL");
        return false;
    }
    if (!plain && !utf8_valid(text->text, text->count))
        return false;
    return take_octets(writer, (size_t) text->count * ESCAPE_OCTETS + 3);
}

/* A decimal with a point or an exponent is a real number; one without is an integer beyond 64 bits.
 */
static json_t *
convert_number(struct result_writer *writer, const struct rego_value *value)
{
    if (!take_octets(writer, value->decimal ? value->count : NUMBER_OCTETS))
        return NULL;
    if (!value->decimal)
        return json_integer(value->integer);
    if (strpbrk(value->text, ".eE") == NULL)
        return refuse_result(writer, "a number of the answer has more than 64 bits");
    double number = strtod(value->text, NULL);
    return isfinite(number) ? json_real(number)
                            : refuse_result(writer, "a number of the answer is too large");
}

static bool
convert_member(struct result_writer *writer, json_t *json, const struct rego_member *member,
               unsigned depth)
{
    if (member->key->type != REGO_STRING)
        return refuse_result(writer, "a key of the answer is no text") != NULL;
    return take_text(writer, member->key)
           && json_object_setn_new_nocheck(json, member->key->text, member->key->count,
                                           convert(writer, member->value, depth))
                  == 0;
}

static json_t *
convert_object(struct result_writer *writer, const struct rego_value *object, unsigned depth)
{
    json_t *json = json_object();
    for (uint32_t i = 0; json != NULL && i < object->count; i++)
        if (!convert_member(writer, json, &object->member[i], depth)) {
            json_decref(json);
            json = NULL;
        }
    return json;
}

static json_t *
convert_array(struct result_writer *writer, const struct rego_value *array, unsigned depth)
{
    json_t *json = json_array();
    for (uint32_t i = 0; json != NULL && i < array->count; i++)
        if (json_array_append_new(json, convert(writer, array->item[i], depth)) != 0) {
            json_decref(json);
            json = NULL;
        }
    return json;
}

static json_t *
convert(struct result_writer *writer, const struct rego_value *value, unsigned depth)
{
    if (value->type >= REGO_ARRAY && depth >= ENGINE_ANSWER_DEPTH_MAX)
        return refuse_result(writer, "the answer is nested too deep");
    switch ((enum rego_type) value->type) {
    case REGO_NULL:
        return take_octets(writer, NUMBER_OCTETS) ? json_null() : NULL;
    case REGO_BOOLEAN:
        return take_octets(writer, NUMBER_OCTETS) ? json_boolean(value->boolean) : NULL;
    case REGO_NUMBER:
        return convert_number(writer, value);
    case REGO_STRING:
        return take_text(writer, value) ? json_stringn_nocheck(value->text, value->count) : NULL;
    case REGO_OBJECT:
        return take_octets(writer, 2) ? convert_object(writer, value, depth + 1) : NULL;
    case REGO_ARRAY:
    case REGO_SET:
        break;
    }
    return take_octets(writer, 2) ? convert_array(writer, value, depth + 1) : NULL;
}

json_t *
engine_result(TALLOC_CTX *mem, const struct rego_value *value, const char **ret_why)
{
    struct result_writer writer = {.left = ENGINE_DECISION_MAX - ENVELOPE_OCTETS};
    /* The envelope of OPA's answer counts as one level. */
    json_t *json = jsonx_own(mem, convert(&writer, value, 1));
    *ret_why = json != NULL         ? NULL
               : writer.why != NULL ? writer.why
                                    : "the answer is not UTF-8, or there is no memory";
    return json;
}
