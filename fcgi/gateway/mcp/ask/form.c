#include "config.h"

#include "gateway/mcp/ask/form.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/json/jsonx.h"
#include "gateway/mcp/message/shown_text.h"

/* Octets of a field's name. */
#define FIELD_NAME_MAX 128

/* ---- secrets */

/* Words that make a field a secret if they appear alone, or with a plural s. */
static const char *const secret_words[] = {"token", "pin", "cvv", "cvc", "otp"};
/* Parts of words that make a field a secret wherever they appear. Underscores between words are
 * removed first. */
static const char *const secret_parts[] = {"password",  "passwd",     "passphrase", "passcode",
                                           "secret",    "apikey",     "privatekey", "credential",
                                           "accesskey", "accesstoken"};

/* Append a name in lower case, with an underscore between its words: apiKey, API_KEY, "API key". */
static void
append_words(struct buf *words, const char *name)
{
    bool lower = false; /* the last octet was a small letter or a digit */
    for (const char *at = name; *at != '\0'; at++) {
        unsigned char c = (unsigned char) *at;
        if (isupper(c) && lower)
            buf_append_char(words, '_');
        buf_append_char(words, isalnum(c) || c >= 0x80 ? (char) tolower(c) : '_');
        lower = islower(c) || isdigit(c);
    }
}

static bool
has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = strstr(words, word); at != NULL; at = strstr(at + 1, word)) {
        const char *end = at + length;
        end += *end == 's';
        if ((at == words || at[-1] == '_') && (*end == '\0' || *end == '_'))
            return true;
    }
    return false;
}

static void
take_out(char *text, char c)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; from++)
        if (*from != c)
            *to++ = *from;
    *to = '\0';
}

bool
form_name_is_secret(const char *name)
{
    BUF_AUTO words;
    bool secret = false;
    buf_init(&words, NULL, 2 * FORM_OCTETS_MAX);
    append_words(&words, name);
    char *text = buf_take(&words, NULL);
    for (size_t i = 0; text != NULL && i < sizeof(secret_words) / sizeof(secret_words[0]); i++)
        secret = secret || has_word(text, secret_words[i]);
    if (text != NULL)
        take_out(text, '_');
    for (size_t i = 0; text != NULL && i < sizeof(secret_parts) / sizeof(secret_parts[0]); i++)
        secret = secret || strstr(text, secret_parts[i]) != NULL;
    secret = secret || text == NULL;
    talloc_free(text);
    return secret;
}

/* ---- fields */

static bool
is_text(const json_t *value)
{
    return json_is_string(value);
}

static bool
is_count(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) >= 0;
}

static bool
is_number(const json_t *value)
{
    return json_is_number(value);
}

static bool
is_truth(const json_t *value)
{
    return json_is_boolean(value);
}

/* True for a text that people read as it is: what is sent back cannot have characters taken out. */
static bool
is_plain(const json_t *value)
{
    return json_is_string(value) && shown_is_plain(json_string_value(value));
}

static bool
are_texts(const json_t *value)
{
    size_t index;
    const json_t *text;
    json_array_foreach (value, index, text)
        if (!is_plain(text))
            return false;
    return json_array_size(value) > 0;
}

/* True for a list of such texts, also for an empty one. */
static bool
are_plain(const json_t *value)
{
    return json_is_array(value) && (json_array_size(value) == 0 || are_texts(value));
}

static bool
are_choices(const json_t *value)
{
    size_t index;
    const json_t *item;
    json_array_foreach (value, index, item)
        if (!is_plain(json_object_get(item, "const")) || !is_plain(json_object_get(item, "title"))
            || json_object_size(item) != 2)
            return false;
    return json_array_size(value) > 0;
}

/* The items of a field with several choices: {type: string, enum} or {anyOf}. */
static bool
are_items(const json_t *value)
{
    const json_t *type = json_object_get(value, "type"), *words = json_object_get(value, "enum"),
                 *any = json_object_get(value, "anyOf");
    if (any != NULL)
        return are_choices(any) && json_object_size(value) == 1;
    return type != NULL && json_is_string(type) && strcmp(json_string_value(type), "string") == 0
           && are_texts(words) && json_object_size(value) == 2;
}

/* The members of a field by its type; those that are not listed do not pass. */
struct form_member {
    const char *name;
    bool (*is_sound)(const json_t *value);
};

#define MEMBERS_MAX 10
static const struct form_type {
    const char *name;
    struct form_member member[MEMBERS_MAX];
} form_types[] = {
    {"string",
     {{"minLength", is_count},
      {"maxLength", is_count},
      {"pattern", is_plain},
      {"format", is_plain},
      {"default", is_text},
      {"enum", are_texts},
      {"enumNames", are_texts},
      {"oneOf", are_choices}}                                                           },
    {"number",  {{"minimum", is_number}, {"maximum", is_number}, {"default", is_number}}},
    {"integer", {{"minimum", is_number}, {"maximum", is_number}, {"default", is_number}}},
    {"boolean", {{"default", is_truth}}                                                 },
    {"array",
     {{"minItems", is_count},
      {"maxItems", is_count},
      {"default", are_plain},
      {"items", are_items}}                                                             },
};

static const struct form_type *
type_of_field(const json_t *field)
{
    const char *name = json_string_value(json_object_get(field, "type"));
    for (size_t i = 0; name != NULL && i < sizeof(form_types) / sizeof(form_types[0]); i++)
        if (strcmp(form_types[i].name, name) == 0)
            return &form_types[i];
    return NULL;
}

/* Set the texts that people read. */
static void
set_texts(TALLOC_CTX *mem, struct jsonx_build *kept, const json_t *from)
{
    static const char *const texts[] = {"title", "description"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const char *text = json_string_value(json_object_get(from, texts[i]));
        if (text != NULL)
            jsonx_set(kept, texts[i], shown_text(mem, text));
    }
}

/* Set the text that is sent back if the person changes nothing: the person sees all of it. */
static void
set_default(TALLOC_CTX *mem, struct jsonx_build *kept, const json_t *field)
{
    const char *text = json_string_value(json_object_get(field, "default"));
    const char *shown = text != NULL ? shown_lines(mem, text) : NULL;
    if (text != NULL)
        jsonx_set(kept, "default", shown != NULL ? json_string(shown) : NULL);
}

/* Read one field. AZ_INVALID, AZ_FORBIDDEN: as form_read(). */
static enum az_status
read_field(TALLOC_CTX *mem, const char *name, const json_t *field, struct jsonx_build *properties)
{
    const struct form_type *type = type_of_field(field);
    const char *title = json_string_value(json_object_get(field, "title"));
    const char *format = json_string_value(json_object_get(field, "format"));
    struct jsonx_build kept = {json_object(), false};
    bool sound =
        type != NULL && *name != '\0' && strlen(name) <= FIELD_NAME_MAX && shown_is_plain(name);
    if (sound)
        jsonx_set(&kept, "type", json_string(type->name));
    for (size_t i = 0; sound && i < MEMBERS_MAX && type->member[i].name != NULL; i++) {
        json_t *value = json_object_get(field, type->member[i].name);
        sound = value == NULL || type->member[i].is_sound(value);
        if (sound && value != NULL)
            jsonx_set(&kept, type->member[i].name, json_incref(value));
    }
    sound =
        sound && (strcmp(type->name, "array") != 0 || json_object_get(kept.value, "items") != NULL);
    set_texts(mem, &kept, field);
    set_default(mem, &kept, field);
    jsonx_set(properties, name, kept.value);
    properties->lost = properties->lost || kept.lost;
    if (!sound)
        return AZ_INVALID;
    return form_name_is_secret(name) || (title != NULL && form_name_is_secret(title))
                   || (format != NULL && form_name_is_secret(format))
               ? AZ_FORBIDDEN
               : AZ_OK;
}

/* True if `required` is a list of fields. */
static bool
names_fields(const json_t *required, const json_t *properties)
{
    size_t index;
    const json_t *name;
    json_array_foreach (required, index, name)
        if (!json_is_string(name) || json_object_get(properties, json_string_value(name)) == NULL)
            return false;
    return required == NULL || json_is_array(required);
}

enum az_status
form_read(TALLOC_CTX *mem, const json_t *schema, json_t **ret)
{
    const char *type = json_string_value(json_object_get(schema, "type")), *name;
    json_t *properties = json_object_get(schema, "properties"), *field;
    json_t *required = json_object_get(schema, "required");
    struct jsonx_build kept = {jsonx_own(mem, json_object()), false},
                       fields = {jsonx_own(mem, json_object()), false};
    enum az_status st = AZ_OK;
    if (type == NULL || strcmp(type, "object") != 0 || !json_is_object(properties)
        || json_object_size(properties) > FORM_FIELDS_MAX || !names_fields(required, properties))
        return AZ_INVALID;
    json_object_foreach (properties, name, field) {
        enum az_status one = read_field(mem, name, field, &fields);
        st = st == AZ_INVALID || one == AZ_OK ? st : one;
    }
    if (st != AZ_OK)
        return st;
    jsonx_set(&kept, "type", json_string("object"));
    set_texts(mem, &kept, schema);
    jsonx_set(&kept, "properties", json_incref(jsonx_built(&fields)));
    if (required != NULL)
        jsonx_set(&kept, "required", json_incref(required));
    *ret = jsonx_built(&kept);
    const char *text = *ret != NULL ? jsonx_dump(mem, *ret) : NULL;
    if (text == NULL)
        return AZ_SERVER_ERROR;
    return strlen(text) <= FORM_OCTETS_MAX ? AZ_OK : AZ_INVALID;
}
