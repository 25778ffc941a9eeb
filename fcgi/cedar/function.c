#include "config.h"

#include "cedar/function.h"

#include <string.h>

#include "base/nearest.h"
#include "cedar/entities.h"
#include "cedar/extension.h"

typedef const struct cedar_entities entities_of;
typedef const struct cedar_value value_of;

/* Set a Bool; returns true. */
static bool
say(struct cedar_value *ret, bool truth)
{
    *ret = (struct cedar_value){.type = CEDAR_BOOL, .truth = truth};
    return true;
}

static bool
say_number(struct cedar_value *ret, enum cedar_type type, int64_t number)
{
    *ret = (struct cedar_value){.type = type, .number = number};
    return true;
}

/* True if all arguments have a type. */
static bool
all_are(value_of *argument, size_t count, enum cedar_type type)
{
    for (size_t i = 0; i < count; i++)
        if (argument[i].type != type)
            return false;
    return true;
}

/* ---- sets ---- */

static bool
call_contains(entities_of *entities, value_of *argument, size_t count, struct cedar_value *ret)
{
    (void) entities, (void) count;
    return argument[0].type == CEDAR_SET && say(ret, cedar_set_has(&argument[0], &argument[1]));
}

/* Count the members of the second set that the first one has. */
static size_t
count_shared(value_of *argument)
{
    size_t shared = 0;
    for (size_t i = 0; i < argument[1].all.count; i++)
        shared += cedar_set_has(&argument[0], &argument[1].all.member[i]);
    return shared;
}

static bool
call_contains_all(entities_of *entities, value_of *argument, size_t count, struct cedar_value *ret)
{
    (void) entities;
    return all_are(argument, count, CEDAR_SET)
           && say(ret, count_shared(argument) == argument[1].all.count);
}

static bool
call_contains_any(entities_of *entities, value_of *argument, size_t count, struct cedar_value *ret)
{
    (void) entities;
    return all_are(argument, count, CEDAR_SET) && say(ret, count_shared(argument) > 0);
}

static bool
call_is_empty(entities_of *entities, value_of *argument, size_t count, struct cedar_value *ret)
{
    (void) entities, (void) count;
    return argument[0].type == CEDAR_SET && say(ret, argument[0].all.count == 0);
}

/* ---- tags ---- */

/* Find a tag. False: the arguments are not an entity and a String. */
static bool
find_tag(entities_of *entities, value_of *argument, const struct cedar_entity **ret_entity,
         value_of **ret_tag)
{
    if (argument[0].type != CEDAR_ENTITY || argument[1].type != CEDAR_STRING)
        return false;
    *ret_entity = cedar_entity_find(entities, &argument[0].uid);
    *ret_tag =
        *ret_entity != NULL ? cedar_record_get(&(*ret_entity)->tags, argument[1].text) : NULL;
    return true;
}

static bool
call_has_tag(entities_of *entities, value_of *argument, size_t count, struct cedar_value *ret)
{
    const struct cedar_entity *entity;
    value_of *tag;
    (void) count;
    return find_tag(entities, argument, &entity, &tag) && say(ret, tag != NULL);
}

static bool
call_get_tag(entities_of *entities, value_of *argument, size_t count, struct cedar_value *ret)
{
    const struct cedar_entity *entity;
    value_of *tag;
    (void) count;
    if (!find_tag(entities, argument, &entity, &tag) || tag == NULL)
        return false;
    *ret = *tag;
    return true;
}

/* ---- constructors ---- */

#define CONSTRUCTOR(extension)                                                                     \
    static bool call_##extension(entities_of *entities, value_of *argument, size_t count,          \
                                 struct cedar_value *ret)                                          \
    {                                                                                              \
        (void) entities, (void) count;                                                             \
        return argument[0].type == CEDAR_STRING && cedar_read_##extension(argument[0].text, ret);  \
    }
CONSTRUCTOR(ip)
CONSTRUCTOR(decimal)
CONSTRUCTOR(datetime)
CONSTRUCTOR(duration)

/* ---- addresses ---- */

static bool
call_is_ipv4(entities_of *entities, value_of *argument, size_t count, struct cedar_value *ret)
{
    (void) entities;
    return all_are(argument, count, CEDAR_IP) && say(ret, !argument[0].ip.v6);
}

static bool
call_is_ipv6(entities_of *entities, value_of *argument, size_t count, struct cedar_value *ret)
{
    (void) entities;
    return all_are(argument, count, CEDAR_IP) && say(ret, argument[0].ip.v6);
}

/* True if an address is in one of two ranges, of which each has a version. */
static bool
call_is_special(value_of *argument, const char *v4, const char *v6, struct cedar_value *ret)
{
    struct cedar_value range;
    if (argument[0].type != CEDAR_IP)
        return false;
    const char *text = argument[0].ip.v6 ? v6 : v4;
    return cedar_read_ip((struct cedar_text){text, strlen(text)}, &range)
           && say(ret, cedar_ip_within(&argument[0].ip, &range.ip));
}

static bool
call_is_loopback(entities_of *entities, value_of *argument, size_t count, struct cedar_value *ret)
{
    (void) entities, (void) count;
    return call_is_special(argument, "127.0.0.0/8", "::1", ret);
}

static bool
call_is_multicast(entities_of *entities, value_of *argument, size_t count, struct cedar_value *ret)
{
    (void) entities, (void) count;
    return call_is_special(argument, "224.0.0.0/4", "ff00::/8", ret);
}

static bool
call_is_in_range(entities_of *entities, value_of *argument, size_t count, struct cedar_value *ret)
{
    (void) entities;
    return all_are(argument, count, CEDAR_IP)
           && say(ret, cedar_ip_within(&argument[0].ip, &argument[1].ip));
}

/* ---- decimals ---- */

#define DECIMAL_COMPARISON(name, sign)                                                             \
    static bool call_##name(entities_of *entities, value_of *argument, size_t count,               \
                            struct cedar_value *ret)                                               \
    {                                                                                              \
        (void) entities;                                                                           \
        return all_are(argument, count, CEDAR_DECIMAL)                                             \
               && say(ret, argument[0].number sign argument[1].number);                            \
    }
DECIMAL_COMPARISON(less_than, <)
DECIMAL_COMPARISON(less_than_or_equal, <=)
DECIMAL_COMPARISON(greater_than, >)
DECIMAL_COMPARISON(greater_than_or_equal, >=)

/* ---- datetime and duration ---- */

static bool
call_offset(entities_of *entities, value_of *argument, size_t count, struct cedar_value *ret)
{
    int64_t sum;
    (void) entities, (void) count;
    return argument[0].type == CEDAR_DATETIME && argument[1].type == CEDAR_DURATION
           && !__builtin_add_overflow(argument[0].number, argument[1].number, &sum)
           && say_number(ret, CEDAR_DATETIME, sum);
}

static bool
call_duration_since(entities_of *entities, value_of *argument, size_t count,
                    struct cedar_value *ret)
{
    int64_t difference;
    (void) entities;
    return all_are(argument, count, CEDAR_DATETIME)
           && !__builtin_sub_overflow(argument[0].number, argument[1].number, &difference)
           && say_number(ret, CEDAR_DURATION, difference);
}

/* Return the milliseconds since midnight; never negative. */
static int64_t
time_of_day(int64_t datetime)
{
    return (datetime % CEDAR_DAY + CEDAR_DAY) % CEDAR_DAY;
}

static bool
call_to_date(entities_of *entities, value_of *argument, size_t count, struct cedar_value *ret)
{
    int64_t date;
    (void) entities;
    return all_are(argument, count, CEDAR_DATETIME)
           && !__builtin_sub_overflow(argument[0].number, time_of_day(argument[0].number), &date)
           && say_number(ret, CEDAR_DATETIME, date);
}

static bool
call_to_time(entities_of *entities, value_of *argument, size_t count, struct cedar_value *ret)
{
    (void) entities;
    return all_are(argument, count, CEDAR_DATETIME)
           && say_number(ret, CEDAR_DURATION, time_of_day(argument[0].number));
}

#define DURATION_IN(name, milliseconds)                                                            \
    static bool call_##name(entities_of *entities, value_of *argument, size_t count,               \
                            struct cedar_value *ret)                                               \
    {                                                                                              \
        (void) entities;                                                                           \
        return all_are(argument, count, CEDAR_DURATION)                                            \
               && say_number(ret, CEDAR_LONG, argument[0].number / (milliseconds));                \
    }
DURATION_IN(to_milliseconds, 1)
DURATION_IN(to_seconds, 1000)
DURATION_IN(to_minutes, 60000)
DURATION_IN(to_hours, 3600000)
DURATION_IN(to_days, CEDAR_DAY)

/* ---- table ---- */

/* clang-format off */
/* Rows by name. */
static const struct cedar_function functions[] = {
    {"contains",           true,  true,  2, 2, "contains_",       call_contains             },
    {"containsAll",        true,  true,  2, 2, "contains_all",    call_contains_all         },
    {"containsAny",        true,  true,  2, 2, "contains_any",    call_contains_any         },
    {"datetime",           false, false, 1, 1, "datetime_of",
     call_datetime             },
    {"decimal",            false, false, 1, 1, "decimal",             call_decimal              },
    {"duration",           false, false, 1, 1, "duration_of",
     call_duration             },
    {"durationSince",      true,  false, 2, 2, "duration_since",  call_duration_since       },
    {"getTag",             true,  true,  2, 2, "get_tag",         call_get_tag              },
    {"greaterThan",        true,  false, 2, 2, "greater",         call_greater_than         },
    {"greaterThanOrEqual", true,  false, 2, 2, "greater_equal",   call_greater_than_or_equal},
    {"hasTag",             true,  true,  2, 2, "has_tag",         call_has_tag              },
    {"ip",                 false, false, 1, 1, "ip",             call_ip                   },
    {"isEmpty",            true,  true,  1, 1, "is_empty",        call_is_empty             },
    {"isInRange",          true,  false, 2, 2, "is_in_range",     call_is_in_range          },
    {"isIpv4",             true,  false, 1, 1, "is_ipv4",         call_is_ipv4              },
    {"isIpv6",             true,  false, 1, 1, "is_ipv6",         call_is_ipv6              },
    {"isLoopback",         true,  false, 1, 1, "is_loopback",     call_is_loopback          },
    {"isMulticast",        true,  false, 1, 1, "is_multicast",    call_is_multicast         },
    {"lessThan",           true,  false, 2, 2, "less",            call_less_than            },
    {"lessThanOrEqual",    true,  false, 2, 2, "less_equal",      call_less_than_or_equal   },
    {"offset",             true,  false, 2, 2, "offset",          call_offset               },
    {"toDate",             true,  false, 1, 1, "to_date",         call_to_date              },
    {"toDays",             true,  false, 1, 1, "to_days",         call_to_days              },
    {"toHours",            true,  false, 1, 1, "to_hours",        call_to_hours             },
    {"toMilliseconds",     true,  false, 1, 1, "to_milliseconds", call_to_milliseconds      },
    {"toMinutes",          true,  false, 1, 1, "to_minutes",      call_to_minutes           },
    {"toSeconds",          true,  false, 1, 1, "to_seconds",      call_to_seconds           },
    {"toTime",             true,  false, 1, 1, "to_time",         call_to_time              },
};
/* clang-format on */
#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

const struct cedar_function *
cedar_function_find(struct cedar_text name)
{
    for (size_t i = 0; i < FUNCTIONS; i++)
        if (cedar_text_is(name, functions[i].name))
            return &functions[i];
    return NULL;
}

const char *
cedar_function_nearest(TALLOC_CTX *mem, bool method, struct cedar_text name)
{
    const char *names[FUNCTIONS + 1];
    size_t count = 0;
    char *word = talloc_strndup(mem, name.at, name.length);
    for (size_t i = 0; i < FUNCTIONS; i++)
        if (functions[i].method == method)
            names[count++] = functions[i].name;
    names[count] = NULL;
    return word != NULL ? nearest_words(mem, names, word) : NULL;
}
