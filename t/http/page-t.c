#include "config.h"

#include "http/page/page.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "env.h"
#include "http/fake_io.h"
#include "http/page/page_rows.h"
#include "tap.h"

static const char *
header(const struct request *req, const char *name)
{
    for (size_t i = 0; i < req->res.headers; i++)
        if (strcmp(req->res.header[i].name, name) == 0)
            return req->res.header[i].value;
    return NULL;
}

/* Copy a file of etc/www into www/ of a directory. */
static void
copy_shipped(const char *dir, const char *name)
{
    const char *source = getenv("srcdir");
    char path[4096], text[65536];
    snprintf(path, sizeof(path), "%s/etc/www/%s", source != NULL ? source : ".", name);
    FILE *in = fopen(path, "re");
    snprintf(path, sizeof(path), "%s/www/%s", dir, name);
    FILE *out = fopen(path, "we");
    if (in == NULL || out == NULL)
        exit(99);
    fwrite(text, 1, fread(text, 1, sizeof(text), in), out);
    fclose(in);
    fclose(out);
}

/* Make a directory with the shipped pages in www/. */
static const char *
make_data_dir(TALLOC_CTX *mem)
{
    const char *dir = env_directory(mem);
    char path[4096];
    snprintf(path, sizeof(path), "%s/www", dir);
    if (mkdir(path, 0700) != 0)
        exit(99);
    snprintf(path, sizeof(path), "%s/www/languages", dir);
    if (mkdir(path, 0700) != 0)
        exit(99);
    const char *source = getenv("srcdir");
    snprintf(path, sizeof(path), "%s/etc/www", source != NULL ? source : ".");
    DIR *files = opendir(path);
    for (const struct dirent *file; files != NULL && (file = readdir(files)) != NULL;)
        if (strstr(file->d_name, ".html") != NULL)
            copy_shipped(dir, file->d_name);
    if (files == NULL || closedir(files) != 0)
        exit(99);
    copy_shipped(dir, "languages/en.json");
    copy_shipped(dir, "languages/de.json");
    return dir;
}

static void
write_page(const char *dir, const char *name, const char *text)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/www/%s.html", dir, name);
    FILE *out = fopen(path, "we");
    if (out == NULL)
        exit(99);
    fputs(text, out);
    fclose(out);
}

/* Load the pages of a directory; problems are counted from none. */
static struct pages *
load(struct az *az, const char *dir, struct problems *ret_problems)
{
    *ret_problems = (struct problems){NULL, 0};
    env_settings(az)->data_dir = dir;
    env_settings(az)->oidc_issuer = "https://login.example/authz";
    return pages_load(az, az->cfg, ret_problems);
}

static struct request *
ask(TALLOC_CTX *mem, struct az *az)
{
    static const char *const set[] = {"REQUEST_METHOD", "GET", NULL, NULL};
    struct request *req = fake_request(mem, fake_new(mem, set, ""), NULL);
    req->op = env_op(req, az);
    return req;
}

/* Return the answer with a page. */
static struct request *
show(TALLOC_CTX *mem, struct az *az, const char *name, const char *values, const char *form_action)
{
    struct request *req = ask(mem, az);
    respond_page(req, 200, name, env_json(mem, values), form_action);
    return req;
}

static void
test_headers(TALLOC_CTX *mem, struct az *az)
{
    for (size_t i = 0; i < PAGES; i++) {
        struct request *req = show(mem, az, page_rows[i].name, "{}", NULL);
        const char *csp = header(req, "Content-Security-Policy");
        is_int(req->res.status, 200, "%s: is answered", page_rows[i].name);
        is_str(req->res.content_type, "text/html; charset=utf-8", "%s: is HTML in UTF-8",
               page_rows[i].name);
        is_str(header(req, "X-Frame-Options"), "DENY", "%s: cannot be framed (oauth.md 3.2)",
               page_rows[i].name);
        is_str(header(req, "Referrer-Policy"), "no-referrer", "%s: is no referrer",
               page_rows[i].name);
        ok(csp != NULL && strncmp(csp, "default-src 'none'; style-src 'sha256-", 38) == 0,
           "%s: nothing but its own style is loaded", page_rows[i].name);
        ok(csp != NULL && strstr(csp, "; img-src data:; form-action 'self'; ") != NULL
               && strstr(csp, "; frame-ancestors 'none'; base-uri 'none'") != NULL,
           "%s: forms lead to us alone", page_rows[i].name);
        ok(csp != NULL && strstr(csp, "unsafe") == NULL && strstr(csp, "script") == NULL,
           "%s: no script runs", page_rows[i].name);
        ok(strstr(req->res.body, "<html lang=\"en\" dir=\"ltr\">") != NULL,
           "%s: names its language", page_rows[i].name);
        ok(strstr(req->res.body, "login.example") != NULL, "%s: names whose it is",
           page_rows[i].name);
        ok(strstr(req->res.body, "{{") == NULL, "%s: is filled whole", page_rows[i].name);
    }
}

static void
test_escaping(TALLOC_CTX *mem, struct az *az)
{
    struct request *req =
        show(mem, az, "consent",
             "{'client_name':'<script>x</script>','id':'\\\"><b>','scopes':[{'name':'<i>','text':"
             "'<u>'}],'client_host':'<s>','redirect_host':'<q>','resource':'<a href>','action':"
             "'\\\" onsubmit=x'}",
             NULL);
    const char *const raw[] = {"<script>", "\"><b>", "<i>",      "<u>",
                               "<s>",      "<q>",    "<a href>", "\" onsubmit"};
    for (size_t i = 0; i < sizeof(raw) / sizeof(raw[0]); i++)
        ok(strstr(req->res.body, raw[i]) == NULL, "consent: %s of a client is text", raw[i]);
    ok(strstr(req->res.body, "&lt;script&gt;x&lt;/script&gt;") != NULL, "... and is shown");
}

/* Warnings of the consent page (decisions.md "Consent"). */
static void
test_warnings(TALLOC_CTX *mem, struct az *az)
{
    static const char unchecked[] = "<bdi>login.example</bdi> has not checked";
    const char *body = show(mem, az, "consent", "{'verified':true}", NULL)->res.body;
    ok(strstr(body, "class=\"note\"") == NULL, "consent: nothing to warn of");
    body = show(mem, az, "consent", "{'verified':false}", NULL)->res.body;
    ok(strstr(body, unchecked) != NULL, "consent: the page says that the client was not checked");
    body = show(mem, az, "consent", "{}", NULL)->res.body;
    ok(strstr(body, unchecked) != NULL, "consent: ... also when nothing is said of it");
    body = show(mem, az, "consent", "{'verified':true,'loopback':true}", NULL)->res.body;
    ok(strstr(body, "A program on this computer") != NULL, "consent: loopback redirect");
    body = show(mem, az, "consent", "{'verified':true,'private_scheme':true}", NULL)->res.body;
    ok(strstr(body, "an app on this device") != NULL, "consent: private-scheme redirect");
    body = show(mem, az, "consent", "{'client_id':'the-id'}", NULL)->res.body;
    ok(strstr(body, "<bdi>the-id</bdi>") != NULL, "consent: a client without a name");
}

static void
test_form_action(TALLOC_CTX *mem, struct az *az)
{
    static const struct {
        const char *origin, *source; /* NULL: refused */
    } cases[] = {
        {"https://app.example",        "form-action 'self' https://app.example https:;"     },
        {"https://app.example:8443",   "form-action 'self' https://app.example:8443 https:;"},
        {"http://127.0.0.1:7777",      "form-action 'self' http://127.0.0.1:7777 https:;"   },
        {"http://[::1]:7777",          "form-action 'self' http: https:;"                   },
        {"https:",                     "form-action 'self' https:;"                         },
        {"com.example.app:",           "form-action 'self' com.example.app: https:;"        },
        {"com.example.app://callback", "form-action 'self' com.example.app: https:;"        },
        {"com.example.app:/ ;x",       NULL                                                 },
        {"",                           NULL                                                 },
        {"https:// evil",              NULL                                                 },
        {"https://a;script-src",       NULL                                                 },
        {"https://a,b",                NULL                                                 },
        {"https://a/b",                NULL                                                 },
        {"https://*",                  NULL                                                 },
        {"https://a'self'",            NULL                                                 },
        {"https://",                   NULL                                                 },
        {"https:/a",                   NULL                                                 },
        {"'none'",                     NULL                                                 },
        {"app.example",                NULL                                                 },
        {":",                          NULL                                                 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct request *req = show(mem, az, "consent", "{}", cases[i].origin);
        const char *csp = header(req, "Content-Security-Policy");
        if (cases[i].source != NULL)
            ok(csp != NULL && strstr(csp, cases[i].source) != NULL, "form-action: %s",
               cases[i].origin);
        else
            ok(csp == NULL && req->op.fault.status == AZ_SERVER_ERROR,
               "form-action: '%s' is refused, it would change the policy", cases[i].origin);
    }
}

static void
test_error_page(TALLOC_CTX *mem, struct az *az)
{
    static const struct {
        int status;
        const char *words;
    } cases[] = {
        {400, "<h1>This sign-in cannot continue</h1>"},
        {404, "<h1>This sign-in cannot continue</h1>"},
        {429, "<h1>Too many requests</h1>"           },
        {500, "<h1>Something went wrong</h1>"        },
        {503, "<h1>Not available right now</h1>"     },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct request *req = ask(mem, az);
        op_fail(&req->op, AZ_INVALID_REQUEST, "The <redirect_uri>", "secret detail");
        respond_error_page(req, cases[i].status, "invalid_request", "The <redirect_uri>", NULL);
        const char *first = strstr(req->res.body, "<h1>");
        is_int(req->res.status, cases[i].status, "error page: %d", cases[i].status);
        ok(first != NULL && strncmp(first, cases[i].words, strlen(cases[i].words)) == 0
               && strstr(first + 1, "<h1>") == NULL,
           "... says what happened");
        ok(strstr(req->res.body, "req-1") != NULL && strstr(req->res.body, "&lt;redirect_uri&gt;"),
           "... with reason and request id");
        ok(strstr(req->res.body, "secret detail") == NULL, "... and nothing for the log");
        is_int(req->op.fault.status, AZ_INVALID_REQUEST, "... the fault stays");
    }
    const struct page_link back = {"https://a.example/?a=\"&b=<", "a.example<b>"};
    struct request *linked = ask(mem, az);
    respond_error_page(linked, 400, "access_denied", "No", &back);
    ok(strstr(linked->res.body, "<h1>No access was given</h1>") != NULL,
       "error page: a denial has words of its own");
    ok(strstr(linked->res.body, "<a href=\"https://a.example/?a=&quot;&amp;b=&lt;\">") != NULL
           || strstr(linked->res.body, "<a href=\"https://a.example/?a=&#34;&amp;b=&lt;\">")
                  != NULL,
       "... the link back is escaped");
    ok(strstr(linked->res.body, "<bdi>a.example&lt;b&gt;</bdi>") != NULL,
       "... and so is its place");
    struct pages *pages = az->pages;
    az->pages = NULL;
    struct request *req = ask(mem, az);
    op_fail(&req->op, AZ_UNAVAILABLE, NULL, "away");
    respond_error_page(req, 503, "temporarily_unavailable", "Try again", NULL);
    is_int(req->res.status, 503, "error page: without templates it is answered too");
    is_str(req->res.content_type, "text/plain; charset=utf-8", "... as plain text");
    is_str(req->res.body, "temporarily_unavailable: Try again\nRequest ID: req-1\n", "... in full");
    is_str(req->op.fault.detail, "away", "... and the fault stays");
    az->pages = pages;
}

static void
test_unknown(TALLOC_CTX *mem, struct az *az)
{
    struct request *req = show(mem, az, "none", "{}", NULL);
    is_int(req->op.fault.status, AZ_SERVER_ERROR, "a page that is not there is our failure");
    req = show(mem, az, "consent", "{'redirect_host':1}", NULL);
    is_int(req->op.fault.status, AZ_SERVER_ERROR, "and so is a value that is no text");
    is_int(req->res.status, 0, "... nothing is answered by half");
}

/* The start names what is wrong, and what to do. */
static void
test_broken(TALLOC_CTX *mem, struct az *az)
{
    struct problems problems;
    const char *dir = make_data_dir(mem);
    ok(load(az, dir, &problems) != NULL && problems.count == 0,
       "start: the shipped pages are right");
    static const struct {
        const char *name, *text, *why;
    } cases[] = {
        {"consent", "<h1>{{client_name}}\n{{#scopes}}",
         "consent.html:2: scopes: this section is not closed"                                                  },
        {"consent", "\n{{nonsense}}",                   "consent.html:2: nonsense: no value has this name here"},
        {"error",   "{{{text}}}",                       "error.html:1: values are always escaped"              },
        {"head",    "<style>\n<\n</style>\n<script>",   "head.html:4: this element does not work"              },
        {"logout",  "{{>gone}}",                        "gone.html: No such file or directory"                 },
        {"logout",  "{{>logout}}",                      "logout.html:1: logout: templates include each other"  },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        dir = make_data_dir(mem);
        write_page(dir, cases[i].name, cases[i].text);
        ok(load(az, dir, &problems) == NULL && problems.count > 0, "start: %s is refused",
           cases[i].text);
        ok(problems.count > 0 && strncmp(problems.line[0], "SVC_DATA_DIR: ", 14) == 0
               && strstr(problems.line[0], cases[i].why) != NULL
               && strstr(problems.line[0], "correct the page or restore") != NULL,
           "... with setting, file, line, and what to do: %s",
           problems.count > 0 ? problems.line[0] : "");
    }
    dir = make_data_dir(mem);
    write_page(dir, "consent", "{{");
    write_page(dir, "error", "{{");
    load(az, dir, &problems);
    is_int((int64_t) problems.count, 2, "start: two broken pages are two lines");
    ok(load(az, "/nonexistent", &problems) == NULL && problems.count == 1,
       "start: a folder that is not there is one");
}

/* A branded page gets the hash of its own style. */
static void
test_branded(TALLOC_CTX *mem, struct az *az)
{
    struct problems problems;
    const char *dir = make_data_dir(mem);
    write_page(dir, "signed_out", "<title>{{site}}</title><style>p{color:red}</style>{{>mine}}");
    write_page(dir, "mine", "<style>\r\na{}\r\n</style>");
    write_page(dir, "logout", "<title>plain</title>");
    struct pages *before = az->pages;
    az->pages = load(az, dir, &problems);
    ok(az->pages != NULL, "branded: further files may be included");
    struct request *req = show(mem, az, "signed_out", "{}", NULL);
    ok(strstr(header(req, "Content-Security-Policy"),
              "style-src 'sha256-p0bF+un5yUb9MBO6xRb8kPHlY2BdpHVtLiFkDrZPF64=' "
              "'sha256-qCar8pRQiWlgDxN7Kk6boSJXmhcN4LB/65l3d2ZDO+g=';")
           != NULL,
       "branded: the policy has the hashes of its styles, as a browser makes them: %s",
       header(req, "Content-Security-Policy"));
    req = show(mem, az, "logout", "{}", NULL);
    ok(strstr(header(req, "Content-Security-Policy"), "style-src 'none';") != NULL,
       "branded: none without a style");
    az->pages = before;
}

/* The operator's own directory needs only the pages that differ. */
static void
test_own(TALLOC_CTX *mem, struct az *az)
{
    struct problems problems;
    struct pages *before = az->pages;
    const char *own = env_directory(mem), *data_dir = make_data_dir(mem);
    const char *dir = talloc_asprintf(mem, "%s/www", own);
    if (mkdir(dir, 0700) != 0)
        exit(99);
    write_page(own, "signed_out", "<title>ours</title>{{>top}}");
    write_page(own, "top", "<p>our top</p>");
    env_settings(az)->www_dir = dir;
    az->pages = load(az, data_dir, &problems);
    ok(az->pages != NULL && problems.count == 0,
       "SVC_WWW_DIR: a directory with two pages is enough");
    struct request *req = show(mem, az, "signed_out", "{}", NULL);
    is_str(req->res.body, "<title>ours</title><p>our top</p>",
           "... its page and its part replace the shipped ones");
    req = show(mem, az, "busy", "{}", NULL);
    ok(strstr(req->res.body, "our top") != NULL, "... also in shipped pages that include the part");
    az->pages = before;
    write_page(own, "signed_out", "{{");
    ok(load(az, data_dir, &problems) == NULL && problems.count == 1
           && strncmp(problems.line[0], "SVC_WWW_DIR: ", 13) == 0
           && strstr(problems.line[0], "signed_out.html:1") != NULL,
       "SVC_WWW_DIR: a broken page is named with the setting: %s",
       problems.count > 0 ? problems.line[0] : "");
    write_page(data_dir, "logout", "{{");
    env_settings(az)->www_dir = data_dir;
    ok(load(az, data_dir, &problems) == NULL && problems.count == 1
           && strncmp(problems.line[0], "SVC_DATA_DIR: ", 14) == 0
           && strstr(problems.line[0], "or restore the one") != NULL,
       "SVC_DATA_DIR: a broken shipped page is named with its own setting, although SVC_WWW_DIR "
       "is the directory above: %s",
       problems.count > 0 ? problems.line[0] : "");
    env_settings(az)->www_dir = "/nonexistent";
    ok(load(az, data_dir, &problems) == NULL && problems.count == 1
           && strncmp(problems.line[0], "SVC_WWW_DIR: ", 13) == 0,
       "SVC_WWW_DIR: a directory that is not there is refused");
    env_settings(az)->www_dir = NULL;
}

/* Name and logo of the settings on every page (decisions.md "Pages"). */
static void
test_site(TALLOC_CTX *mem, struct az *az)
{
    struct problems problems;
    struct pages *before = az->pages;
    const char *data_dir = make_data_dir(mem), *own = make_data_dir(mem);
    const char *dir = talloc_asprintf(mem, "%s/www", own);
    write_page(own, "x", "<svg/>");
    const char *html = talloc_asprintf(mem, "%s/x.html", dir);
    if (rename(html, talloc_asprintf(mem, "%s/logo.svg", dir)) != 0)
        exit(99);
    env_settings(az)->www_dir = dir;
    env_settings(az)->pages_name = "<b>Ours";
    env_settings(az)->pages_logo = "logo.svg";
    az->pages = load(az, data_dir, &problems);
    is_int((int64_t) problems.count, 0, "SVC_PAGES_NAME and SVC_PAGES_LOGO are taken");
    for (size_t i = 0; i < PAGES; i++) {
        struct request *req = show(mem, az, page_rows[i].name, "{'site_name':'theirs'}", NULL);
        ok(strstr(req->res.body, "<span>&lt;b&gt;Ours</span>") != NULL,
           "%s: shows the name, escaped", page_rows[i].name);
        ok(strstr(req->res.body, " – &lt;b&gt;Ours</title>") != NULL, "%s: ... in its title too",
           page_rows[i].name);
        ok(strstr(req->res.body, "theirs") == NULL, "%s: ... and no value replaces it",
           page_rows[i].name);
        ok(strstr(req->res.body, "<img src=\"data:image/svg+xml;base64,PHN2Zy8+\" alt=\"\">")
               != NULL,
           "%s: shows the logo", page_rows[i].name);
        ok(strstr(header(req, "Content-Security-Policy"), "; img-src data:; ") != NULL,
           "%s: ... under the same policy", page_rows[i].name);
    }
    env_settings(az)->pages_name = "a\nb";
    env_settings(az)->pages_logo = "javascript:alert(1)";
    ok(load(az, data_dir, &problems) == NULL && problems.count == 2,
       "faults of name and logo stop the start, each with a line");
    env_settings(az)->www_dir = env_settings(az)->pages_name = env_settings(az)->pages_logo = NULL;
    az->pages = before;
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct az *az = env_az(mem);
    struct problems problems;
    plan(0);
    az->pages = load(az, make_data_dir(mem), &problems);
    for (size_t i = 0; i < problems.count; i++)
        printf("# %s\n", problems.line[i]);
    test_headers(mem, az);
    test_escaping(mem, az);
    test_warnings(mem, az);
    test_form_action(mem, az);
    test_error_page(mem, az);
    test_unknown(mem, az);
    test_broken(mem, az);
    test_branded(mem, az);
    test_own(mem, az);
    test_site(mem, az);
    talloc_free(mem);
    return done();
}
