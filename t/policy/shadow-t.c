/* Shadows of the policy: the way of decisions to the process that compares them, and the result
 * (policy.md 7.2). */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "env.h"
#include "policy/engine/shadow_tap.h"
#include "policy/shadow/change.h"
#include "policy/shadow/result.h"
#include "store/policy/impact.h"
#include "tap.h"

#define REVISION "r1"

/* More decisions than the kernel's queue of a socket takes. */
#define FLOOD 20000

/* ---- the way */

/* Offer a decision with a question of so many octets, and send it. */
static void
offer(struct op *op, size_t length)
{
    char *input = talloc_zero_size(op->mem, length + 1);
    memset(input, 'x', length);
    const struct engine_answer answer = {
        .result = env_json(op->mem, "{'allow':true}"),
        .revision = REVISION,
        .asked = {.text = input, .length = length}
    };
    shadow_tap_keep(op, &answer);
    shadow_tap_send(op->az);
    talloc_free(input);
}

static void
test_way(TALLOC_CTX *mem)
{
    struct az *az = env_az(mem);
    struct op op = env_op(mem, az);
    struct shadow_question question = {.input = NULL};
    offer(&op, 10);
    ok(true, "a process without a parent of --workers sends nothing");
    az->shadow_tap = shadow_tap_new(mem);
    ok(az->shadow_tap != NULL, "a way is made");
    offer(&op, 10);
    ok(!shadow_tap_receive(az->shadow_tap, 0, &question), "without a shadow nothing is sent");
    shadow_tap_set_rate(az->shadow_tap, 1);
    offer(&op, 10);
    ok(shadow_tap_receive(az->shadow_tap, 0, &question), "with one, a decision arrives");
    is_str(question.revision, REVISION, "... its revision");
    is_str(question.request_id, op.request_id, "... its request");
    is_str(question.input, "xxxxxxxxxx", "... its question");
    is_str(question.result, "{\"allow\":true}", "... and its answer");
    const struct engine_answer undefined = {
        .revision = REVISION, .asked = {.text = "{}", .length = 2}
    };
    shadow_tap_keep(&op, &undefined);
    ok(!shadow_tap_receive(az->shadow_tap, 0, &question), "nothing is sent before the answer");
    shadow_tap_send(az);
    ok(shadow_tap_receive(az->shadow_tap, 0, &question), "... and after it, it is");
    is_str(question.result, "", "... an undefined answer too");
    ok(!shadow_tap_is_woken(az->shadow_tap), "the parent is not woken");
    shadow_tap_wake(az->shadow_tap);
    ok(shadow_tap_is_woken(az->shadow_tap), "... until a shadow is saved");
    ok(!shadow_tap_is_woken(az->shadow_tap), "... and then once");
    shadow_tap_set_rate(az->shadow_tap, 0);
    offer(&op, 10);
    ok(!shadow_tap_receive(az->shadow_tap, 0, &question), "a shadow that ended gets nothing");
}

static void
test_limits(TALLOC_CTX *mem)
{
    struct az *az = env_az(mem);
    struct op op = env_op(mem, az);
    struct shadow_question question;
    struct shadow_tap *tap = az->shadow_tap = shadow_tap_new(mem);
    const char *result = "{\"allow\":true}";
    size_t rest = strlen(REVISION) + strlen(op.request_id) + strlen(result) + 4;
    shadow_tap_set_rate(tap, 1);
    offer(&op, SHADOW_TAP_OCTETS_MAX - rest);
    ok(shadow_tap_receive(tap, 0, &question), "a decision of SHADOW_TAP_OCTETS_MAX arrives");
    is_int(shadow_tap_take_dropped(tap), 0, "... and none was dropped");
    offer(&op, SHADOW_TAP_OCTETS_MAX - rest + 1);
    ok(!shadow_tap_receive(tap, 0, &question), "one of an octet more does not");
    is_int(shadow_tap_take_dropped(tap), 1, "... and is counted");
    const struct engine_answer answer = {
        .revision = REVISION, .asked = {.text = "{}", .length = 2}
    };
    for (int i = 0; i < SHADOW_TAP_KEPT_MAX; i++)
        shadow_tap_keep(&op, &answer);
    is_int(shadow_tap_take_dropped(tap), 0, "SHADOW_TAP_KEPT_MAX decisions of a request are kept");
    shadow_tap_keep(&op, &answer);
    is_int(shadow_tap_take_dropped(tap), 1, "... and one more is dropped");
    shadow_tap_send(az);
    int64_t got = 0;
    while (shadow_tap_receive(tap, 0, &question))
        got++;
    is_int(got, SHADOW_TAP_KEPT_MAX, "... and all of them arrive");
}

static void
test_full(TALLOC_CTX *mem)
{
    struct az *az = env_az(mem);
    struct op op = env_op(mem, az);
    struct shadow_question question;
    struct shadow_tap *tap = az->shadow_tap = shadow_tap_new(mem);
    int64_t got = 0;
    shadow_tap_set_rate(tap, 1);
    for (int i = 0; i < FLOOD; i++)
        offer(&op, 100);
    int64_t dropped = shadow_tap_take_dropped(tap);
    while (shadow_tap_receive(tap, 0, &question))
        got++;
    ok(dropped > 0, "socket_full_drops: a queue that nothing reads takes no more");
    is_int(got + dropped, FLOOD, "... and each decision arrives or is counted as dropped");
}

/* ---- the result */

/* Return a report with counts of one client and one example. */
static const json_t *
report_of(TALLOC_CTX *mem, int client)
{
    char text[400];
    snprintf(text, sizeof(text),
             "{'looked':2,'newlyDenied':1,'otherBy':{'claims':1},'moved':0,'byClient':[{'clientId':"
             "'c%d','newlyDenied':1}],'notKnown':[{'why':'gives_up','builtin':'b','count':1}],"
             "'examples':{'newlyDenied':[{'clientId':'c%d','requestId':'q%d'}]}}",
             client, client, client);
    return env_json(mem, text);
}

static json_int_t
number_at(const json_t *list, size_t at, const char *name)
{
    return json_integer_value(json_object_get(json_array_get(list, at), name));
}

static void
test_sums(TALLOC_CTX *mem)
{
    const json_t *sum = shadow_result_add(mem, NULL, report_of(mem, 1));
    sum = shadow_result_add(mem, sum, report_of(mem, 1));
    sum = shadow_result_add(mem, sum, report_of(mem, 2));
    is_int(json_integer_value(json_object_get(sum, "looked")), 6, "numbers of reports are summed");
    is_int(json_integer_value(json_object_get(json_object_get(sum, "otherBy"), "claims")), 3,
           "... at any depth");
    const json_t *clients = json_object_get(sum, "byClient");
    is_int((int64_t) json_array_size(clients), 2, "a client has one item");
    is_int(number_at(clients, 0, "newlyDenied"), 2, "... with its sum");
    is_int(number_at(json_object_get(sum, "notKnown"), 0, "count"), 3,
           "... and so have reasons why a decision is not known");
    is_int(json_integer_value(json_object_get(shadow_result_show(mem, sum, 50), "clients")), 2,
           "the result says how many clients there are");
}

static void
test_keys(TALLOC_CTX *mem)
{
    const json_t *sum = NULL;
    for (int i = 0; i < SHADOW_KEYS_MAX; i++)
        sum = shadow_result_add(mem, sum, report_of(mem, i));
    is_int((int64_t) json_array_size(json_object_get(sum, "byClient")), SHADOW_KEYS_MAX,
           "SHADOW_KEYS_MAX keys of a group are stored");
    sum = shadow_result_add(mem, sum, report_of(mem, SHADOW_KEYS_MAX));
    sum = shadow_result_add(mem, sum, report_of(mem, SHADOW_KEYS_MAX + 1));
    sum = shadow_result_add(mem, sum, report_of(mem, 7));
    const json_t *clients = json_object_get(sum, "byClient");
    const json_t *last = json_array_get(clients, SHADOW_KEYS_MAX);
    is_int((int64_t) json_array_size(clients), SHADOW_KEYS_MAX + 1, "... and others together");
    is_int(json_integer_value(json_object_get(json_object_get(last, "others"), "newlyDenied")), 2,
           "... with their sum");
    const json_t *shown = json_object_get(shadow_result_show(mem, sum, 50), "byClient");
    is_int((int64_t) json_array_size(shown), 51, "50 are shown, and others");
    is_str(json_string_value(json_object_get(json_array_get(shown, 0), "clientId")), "c7",
           "... the largest first");
    last = json_object_get(json_array_get(shown, 50), "others");
    is_int(json_integer_value(json_object_get(last, "newlyDenied")), SHADOW_KEYS_MAX + 3 - 51,
           "... and the sum of all is the same");
}

static void
test_examples(TALLOC_CTX *mem)
{
    const json_t *sum = shadow_result_add(mem, NULL, report_of(mem, 99));
    for (int i = 0; i < SHADOW_EXAMPLES - 1; i++)
        sum = shadow_result_add(mem, sum, report_of(mem, 1));
    const json_t *list = json_object_get(json_object_get(sum, "examples"), "newlyDenied");
    is_int((int64_t) json_array_size(list), SHADOW_EXAMPLES, "SHADOW_EXAMPLES of a class stay");
    sum = shadow_result_add(mem, sum, report_of(mem, 1));
    list = json_object_get(json_object_get(sum, "examples"), "newlyDenied");
    is_int((int64_t) json_array_size(list), SHADOW_EXAMPLES, "... not one more");
    is_str(json_string_value(json_object_get(json_array_get(list, 0), "clientId")), "c99",
           "... and a client with one example keeps it");
}

/* Return a report of a person whose name has so many octets, each of which is six in JSON. */
static json_t *
report_of_person(TALLOC_CTX *mem, int number, size_t octets)
{
    char *name = talloc_asprintf(mem, "%0*d", (int) octets, number);
    memset(name, 1, octets - 4);
    return jsonx_own(mem, json_pack("{s:i,s:[{s:s,s:i}],s:{s:[{s:s}]}}", "looked", 1, "bySubject",
                                    "subjectId", name, "newlyDenied", 1, "examples", "newlyDenied",
                                    "subjectId", name));
}

/* An id of AuthZEN has up to 1024 octets (ACCESS_ID_MAX). */
static void
test_long_keys(TALLOC_CTX *mem)
{
    const json_t *sum = NULL;
    for (int i = 0; i < SHADOW_KEYS_MAX; i++)
        sum = shadow_result_add(mem, sum, report_of_person(mem, i, 1024));
    const char *text = shadow_result_text(mem, sum, IMPACT_RESULT_MAX);
    json_t *stored = NULL;
    ok(text != NULL && strlen(text) <= IMPACT_RESULT_MAX
           && jsonx_parse(mem, text, strlen(text), 8, &stored, NULL) == AZ_OK,
       "callers with long names do not stop the counts: the result is stored");
    is_int(json_integer_value(json_object_get(stored, "looked")), SHADOW_KEYS_MAX,
           "... with all numbers");
    const json_t *people = json_object_get(stored, "bySubject");
    size_t last = json_array_size(people) - 1;
    is_int((int64_t) last, SHADOW_KEYS_MAX / 10, "... a tenth of the keys");
    const json_t *others = json_object_get(json_array_get(people, last), "others");
    is_int(json_integer_value(json_object_get(others, "newlyDenied")),
           SHADOW_KEYS_MAX - SHADOW_KEYS_MAX / 10, "... and the sum of the others");
    sum = shadow_result_add(mem, NULL, report_of_person(mem, 1, 1024));
    ok(strstr(shadow_result_text(mem, sum, IMPACT_RESULT_MAX), "examples") != NULL,
       "a result that is not too long has its examples");
}

/* ---- the change */

static void
test_change(TALLOC_CTX *mem)
{
    struct az *az = env_az(mem);
    struct op op = env_op(mem, az);
    const struct deploy_rule rule = {"custom/a.rego", "package custom.a\n", true, NULL};
    const struct deploy_data row = {"example.limits", "{\"orders\": 1.0}", NULL};
    const struct deploy deploy = {.rule = &rule,
                                  .rules = 1,
                                  .data = &row,
                                  .data_rows = 1,
                                  .delete_data = env_json(mem, "['example.old']"),
                                  .replace = true};
    const bool same[] = {true};
    const struct deploy_result result = {.same_rule = same, .same_data = same};
    struct deploy again, merge = deploy;
    const char *text = shadow_change_write(mem, &deploy, &result);
    ok(shadow_change_read(&op, text, &again) == AZ_OK && again.rules == 1 && again.data_rows == 1,
       "a change is read as it was written");
    is_str(again.rule[0].content, rule.content, "... its rules");
    is_str(again.data[0].payload, row.payload, "... its rows, to the digit");
    ok(again.replaced == NULL, "... without what it replaces, as that was not judged");
    ok(again.replace && json_array_size(again.delete_data) == 1 && again.delete_rules == NULL,
       "... its mode and what it deletes");
    merge.replace = false;
    text = shadow_change_write(mem, &merge, &result);
    ok(shadow_change_read(&op, text, &again) == AZ_OK && again.rules == 0 && again.data_rows == 0,
       "merge: what is stored already is left out, so that a promote takes no later save back");
    text = shadow_change_write(mem, &merge, &(struct deploy_result){.same_rule = NULL});
    ok(shadow_change_read(&op, text, &again) == AZ_OK && again.rules == 1 && again.data_rows == 1,
       "... and nothing else is");
    ok(shadow_change_read(&op, "{\"rules\":1", &again) != AZ_OK, "a damaged one is refused");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    test_way(mem);
    test_limits(mem);
    test_full(mem);
    test_sums(mem);
    test_keys(mem);
    test_examples(mem);
    test_long_keys(mem);
    test_change(mem);
    talloc_free(mem);
    return done();
}
