#include "config.h"

#include "admin/resource/resource_body.h"

#include "http/fake_io.h"
#include "tap.h"

static const struct {
    const char *text;
    int64_t id;
    const char *name;
} ids[] = {
    {"1",                    1,         "one digit"              },
    {"0",                    0,         "zero, which nothing has"},
    {"0012",                 12,        "leading zeros"          },
    {"9223372036854775807",  INT64_MAX, "the largest"            },
    {"9223372036854775808",  -1,        "one past it"            },
    {"99999999999999999999", -1,        "twenty digits"          },
    {"18446744073709551617", -1,        "what wraps to 1"        },
    {"",                     -1,        "nothing"                },
    {"-1",                   -1,        "a sign"                 },
    {"+1",                   -1,        "a plus"                 },
    {" 1",                   -1,        "a blank before"         },
    {"1 ",                   -1,        "a blank behind"         },
    {"1x",                   -1,        "a letter behind"        },
    {"0x1",                  -1,        "hex"                    },
    {"by-path",              -1,        "a word"                 },
};

static void
test_ids(TALLOC_CTX *mem)
{
    static const char *const set[] = {NULL};
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        struct request *req = fake_request(mem, fake_new(mem, set, ""), NULL);
        int64_t id = -1;
        req->path_value[0] = ids[i].text;
        enum az_status st = path_id_read(req, &id);
        ok(st == (ids[i].id < 0 ? AZ_NOT_FOUND : AZ_OK) && id == ids[i].id, "an id is %s: %s",
           ids[i].id < 0 ? "not found" : "read", ids[i].name);
    }
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    test_ids(mem);
    talloc_free(mem);
    return done();
}
