#include "config.h"

#include "base/log.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

/* A longer line could be mixed with another process's (PIPE_BUF). */
#define LINE_MAX_OCTETS 4096

static char seen[16384]; /* what was written to standard error */
static size_t seen_len;

/* Runs a call with standard error in a pipe and keeps what it wrote. */
#define CAPTURE(call)                                                                              \
    do {                                                                                           \
        int kept = dup(STDERR_FILENO), ends[2];                                                    \
        if (pipe(ends) != 0)                                                                       \
            exit(99);                                                                              \
        dup2(ends[1], STDERR_FILENO);                                                              \
        close(ends[1]);                                                                            \
        call;                                                                                      \
        dup2(kept, STDERR_FILENO);                                                                 \
        close(kept);                                                                               \
        read_all(ends[0]);                                                                         \
    } while (0)

static void
read_all(int fd)
{
    ssize_t got;
    seen_len = 0;
    while ((got = read(fd, seen + seen_len, sizeof(seen) - 1 - seen_len)) > 0)
        seen_len += (size_t) got;
    seen[seen_len] = '\0';
    close(fd);
}

/* One line end, at the end; printable ASCII before it. */
static bool
is_one_clean_line(void)
{
    for (size_t i = 0; i + 1 < seen_len; i++)
        if (seen[i] < 0x20 || seen[i] > 0x7e)
            return false;
    return seen_len > 0 && seen[seen_len - 1] == '\n';
}

static const char *
member(const char *name)
{
    static char text[4096];
    json_t *line = json_loads(seen, JSON_REJECT_DUPLICATES, NULL);
    const char *value = json_string_value(json_object_get(line, name));
    snprintf(text, sizeof(text), "%s", value != NULL ? value : "(absent)");
    json_decref(line);
    return text;
}

static bool
is_json(void)
{
    json_t *line = json_loads(seen, JSON_REJECT_DUPLICATES, NULL);
    json_decref(line);
    return line != NULL;
}

static void
test_line(void)
{
    const struct log_field fields[] = {
        LOG_TEXT("client_id", "crm"),
        LOG_TEXT("absent", NULL),
        LOG_NUMBER("us", -12),
    };
    log_level_set("info");
    CAPTURE(log_line(AZ_SEV_INFO, "request", fields, 3));
    ok(is_one_clean_line() && is_json(), "an event is one line of JSON");
    is_str(member("msg"), "request", "... with its message");
    is_str(member("level"), "info", "... its level");
    is_str(member("client_id"), "crm", "... its fields");
    ok(strstr(seen, "\"us\":-12") != NULL, "... numbers as numbers");
    is_str(member("absent"), "(absent)", "a field without text is left out");
    const char *ts = member("ts");
    ok(strlen(ts) == 24 && ts[10] == 'T' && ts[23] == 'Z', "... and a time in UTC");
}

static void
test_levels(void)
{
    static const char *const names[] = {"debug", "info", "warn", "error"};
    for (int least = 0; least < 4; least++) {
        log_level_set(names[least]);
        for (int severity = 0; severity < 4; severity++) {
            CAPTURE(log_line((enum az_severity) severity, "x", NULL, 0));
            ok((seen_len > 0) == (severity >= least)
                   && log_wanted((enum az_severity) severity) == (severity >= least),
               "SVC_LOG_LEVEL %s: %s is %s", names[least], names[severity],
               severity >= least ? "written" : "not written");
        }
    }
    log_level_set("no level");
    ok(!log_wanted(AZ_SEV_WARN), "an unknown level changes nothing");
    log_level_set("info");
}

static void
test_forgery(void)
{
    char all[256];
    for (int c = 1; c < 256; c++)
        all[c - 1] = (char) c;
    all[255] = '\0';
    const struct log_field fields[] = {LOG_TEXT("ip", all), LOG_TEXT("after", "there")};
    CAPTURE(log_line(AZ_SEV_ERROR, all, fields, 2));
    ok(is_one_clean_line(), "no octet of a value reaches the line raw but printable ASCII");
    ok(is_json(), "... and the line stays JSON");
    is_str(member("after"), "there", "... with the fields after it");
    const struct log_field forged[] = {
        LOG_TEXT("user_agent", "x\n{\"level\":\"error\",\"msg\":\"forged\"}\r\n\x1b[2J")};
    CAPTURE(log_line(AZ_SEV_INFO, "request", forged, 1));
    ok(is_one_clean_line() && strchr(seen, '\n') == seen + seen_len - 1,
       "a line end in a value forges no line (CWE-117)");
    ok(strstr(seen, "\\u001b") != NULL, "a terminal's escape is escaped");
    const struct log_field broken[] = {LOG_TEXT("ip", "\xff\xc3(")};
    CAPTURE(log_line(AZ_SEV_INFO, "request", broken, 1));
    ok(is_one_clean_line() && is_json(), "octets that are no UTF-8 do not break the line");
}

/* Values of every length near the limit of a line and of a value. */
static void
test_cut(void)
{
    static char text[LINE_MAX_OCTETS * 2];
    unsigned wrong = 0;
    size_t longest = 0;
    static const char fills[] = {'x', '"', '\n', '\xff'};
    for (size_t f = 0; f < sizeof(fills); f++)
        for (size_t len = 900; len < sizeof(text) - 1; len += len < 1100 ? 1 : 97) {
            memset(text, fills[f], len);
            text[len] = '\0';
            const struct log_field fields[] = {LOG_TEXT("a", text), LOG_TEXT("b", text),
                                               LOG_TEXT("c", text), LOG_NUMBER("d", -1),
                                               LOG_TEXT("e", text), LOG_NUMBER("f", 1)};
            CAPTURE(log_line(AZ_SEV_ERROR, text, fields, 6));
            wrong += !is_one_clean_line() || !is_json() || seen_len > LINE_MAX_OCTETS;
            longest = seen_len > longest ? seen_len : longest;
        }
    is_int(wrong, 0, "a long line is cut to 4,096 octets and stays one line of JSON");
    ok(longest > LINE_MAX_OCTETS - 64, "... and is not cut much below that (%zu)", longest);
    memset(text, 'x', sizeof(text) - 1); /* one octet in the value, one in the line */
    CAPTURE(log_text(AZ_SEV_ERROR, "m", "%s", text));
    ok(is_json() && strlen(member("detail")) <= 1024, "a single value is cut at 1,024");
}

static void
test_text(void)
{
    char all[256];
    const struct log_field fields[] = {
        LOG_TEXT("client_id", "crm"),
        LOG_TEXT("detail", "no \"such\" file\n2026-01-01T00:00:00.000Z info  forged"),
        LOG_TEXT("empty", ""),
        LOG_TEXT("absent", NULL),
        LOG_NUMBER("us", -12),
    };
    log_format_set("text");
    CAPTURE(log_line(AZ_SEV_WARN, "schema newer", fields, 5));
    ok(is_one_clean_line(), "SVC_LOG_FORMAT text: an event is one line");
    ok(seen_len > 24 && seen[10] == 'T' && seen[23] == 'Z', "... that begins with a time in UTC");
    is_str(seen + 24,
           " warn  schema newer client_id=crm"
           " detail=\"no \\\"such\\\" file\\u000a2026-01-01T00:00:00.000Z info  forged\" empty=\"\""
           " us=-12\n",
           "... then level, message, and name=value, in quotes where a value is no plain word");
    for (int c = 1; c < 256; c++)
        all[c - 1] = (char) c;
    all[255] = '\0';
    CAPTURE(log_line(AZ_SEV_ERROR, all, fields, 5));
    ok(is_one_clean_line(), "SVC_LOG_FORMAT text: no octet of a message forges a line (CWE-117)");
    log_format_set("json");
    CAPTURE(log_line(AZ_SEV_WARN, "x", fields, 5));
    ok(is_json(), "SVC_LOG_FORMAT json: the line is JSON again");
}

int
main(void)
{
    plan(0);
    test_line();
    test_levels();
    test_forgery();
    test_cut();
    test_text();
    return done();
}
