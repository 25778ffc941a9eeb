#include "config.h"

#include "http/fake_io.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Return a copy in memory of its own, so that a sanitizer detects a use after finish. */
static const char *
variable(const struct http_io *io, const char *name)
{
    struct fake *fake = io->handle;
    for (const char *const *at = fake->set; at[0] != NULL; at += 2)
        if (strcmp(at[0], name) == 0) {
            fake->given = realloc(fake->given, (fake->given_count + 1) * sizeof(char *));
            return fake->given[fake->given_count++] = strdup(at[1]);
        }
    return NULL;
}

static long
read_body(const struct http_io *io, void *buffer, size_t size)
{
    struct fake *fake = io->handle;
    size_t left = fake->body_length - fake->body_read;
    /* In small pieces, as a network would. */
    size = size < left ? size : left;
    size = size < 700 ? size : 700;
    if (size > 0)
        memcpy(buffer, fake->body + fake->body_read, size);
    fake->body_read += size;
    return (long) size;
}

static bool
write_answer(const struct http_io *io, const void *octets, size_t size)
{
    struct fake *fake = io->handle;
    fake->answer = talloc_realloc(fake, fake->answer, char, fake->answer_length + size + 1);
    memcpy(fake->answer + fake->answer_length, octets, size);
    fake->answer_length += size;
    fake->answer[fake->answer_length] = '\0';
    return true;
}

static void
forget_given(struct fake *fake)
{
    while (fake->given_count > 0) {
        char *copy = fake->given[--fake->given_count];
        memset(copy, '!', strlen(copy));
        free(copy);
    }
    free(fake->given);
    fake->given = NULL;
}

static void
finish(const struct http_io *io)
{
    struct fake *fake = io->handle;
    fake->finished++;
    forget_given(fake);
}

static void
cut(const struct http_io *io)
{
    ((struct fake *) io->handle)->cuts++;
}

static int
destroy(struct fake *fake)
{
    forget_given(fake);
    return 0;
}

struct fake *
fake_new(TALLOC_CTX *mem, const char *const *set, const char *body)
{
    struct fake *fake = talloc_zero(mem, struct fake);
    fake->io = (struct http_io){.handle = fake,
                                .variable = variable,
                                .read = read_body,
                                .write = write_answer,
                                .finish = finish,
                                .cut = cut};
    fake->set = set;
    fake->body = body;
    fake->body_length = body != NULL ? strlen(body) : 0;
    talloc_set_destructor(fake, destroy);
    return fake;
}

/* Return the value of the header whose line begins at `line`; NULL if it is another header. */
static const char *
value_in_line(const struct fake *fake, const char *line, const char *name)
{
    size_t length = strlen(name);
    if (strncasecmp(line, name, length) != 0 || strncmp(line + length, ": ", 2) != 0)
        return NULL;
    return talloc_strndup((void *) (uintptr_t) fake, line + length + 2,
                          strcspn(line + length + 2, "\r"));
}

static const char *
find_header(const struct fake *fake, const char *name, unsigned *ret_count)
{
    const char *end = fake_body(fake), *found = NULL;
    *ret_count = 0;
    for (const char *line = fake->answer; end != NULL && line < end - 2;
         line = strstr(line, "\r\n") + 2) {
        const char *value = value_in_line(fake, line, name);
        if (value != NULL)
            (*ret_count)++, found = found != NULL ? found : value;
    }
    return found;
}

const char *
fake_header(const struct fake *fake, const char *name)
{
    unsigned count;
    return find_header(fake, name, &count);
}

unsigned
fake_header_count(const struct fake *fake, const char *name)
{
    unsigned count;
    find_header(fake, name, &count);
    return count;
}

int
fake_status(const struct fake *fake)
{
    const char *status = fake_header(fake, "Status");
    return status != NULL ? atoi(status) : 0;
}

const char *
fake_body(const struct fake *fake)
{
    const char *end = fake->answer != NULL ? strstr(fake->answer, "\r\n\r\n") : NULL;
    return end != NULL ? end + 4 : NULL;
}

struct request *
fake_request(TALLOC_CTX *mem, const struct fake *fake, const struct route_param *params)
{
    struct request *req = talloc_zero(mem, struct request);
    struct route *route = talloc_zero(req, struct route);
    route->params = params;
    req->op.mem = req;
    req->op.request_id = "req-1";
    req->route = route;
    req->io = fake != NULL ? &fake->io : NULL;
    req->path = req->query = "";
    return req;
}
