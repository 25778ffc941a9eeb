#include "config.h"

#include "store/tokens/tokens_find.h"

#include "tap.h"

/* clang-format off */
static const struct { const char *list, *revision; bool wanted; const char *name; } cases[] = {
    {"{r1-0a}", "r1-0a", true, "the one revision"},
    {"{r1-0a,r2-0b}", "r1-0a", true, "the first of two"},
    {"{r1-0a,r2-0b}", "r2-0b", true, "the second of two"},
    {"{r1-0a,r2-0b,r3-0c}", "r2-0b", true, "the one in the middle"},
    {"{r12-0a,r2-0a}", "r2-0a", true, "one that is the end of another before it"},
    {"{r1-0ab,r1-0a}", "r1-0a", true, "one that is the beginning of another before it"},
    {"{}", "r1-0a", false, "an empty list"},
    {"", "r1-0a", false, "no list"},
    {NULL, "r1-0a", false, "NULL: the column was empty"},
    {"{r1-0a}", "", false, "a bundle without a revision decides nothing"},
    {"{}", "", false, "... nor where the list is empty"},
    {"{\"\"}", "", false, "... nor where the list holds an empty text"},
    {",", "", false, "... nor in a list that is none"},
    {"", "", false, "... nor without a list"},
    {NULL, "", false, "... nor with NULL"},
    {"{r1-0a}", "r1", false, "a beginning"},
    {"{r1-0a}", "0a", false, "an end"},
    {"{r1-0a}", "-", false, "a part"},
    {"{r1-0a}", "r1-0ab", false, "a longer one"},
    {"{r1-0a}", "xr1-0a", false, "one with more in front"},
    {"{r12-0a}", "r2-0a", false, "the end of another"},
    {"{r1-0a}", "R1-0A", false, "another case"},
    {"{r1-0a}", "{r1-0a}", false, "the whole list"},
    {"{r1-0a}", "{r1-0a", false, "with the brace"},
    {"{r1-0a}", ",", false, "a comma"},
    {"{r1-0a}", "{", false, "a brace"},
    {"r1-0a", "r1-0a", false, "a text that is no list"},
    {"r1-0a}", "r1-0a", false, "a list without its beginning"},
    {"{r1-0a", "r1-0a", false, "a list without its end"},
    {"{\"r1-0a\"}", "r1-0a", false, "a quoted item: our revisions need no quotes"},
    {"{NULL}", "NULL", true, "the word NULL is text here: no revision is called so (bundle.c)"},
    {"{r1-0a,r2-0b}", "r1-0a,r2-0b", false, "several at once"},
    {"{aa}", "a", false, "a repeated letter"},
    {"{aaa,a}", "a", true, "... and the letter itself after it"},
    {"{a,a}", "a", true, "the same twice"},
};
/* clang-format on */

int
main(void)
{
    plan(0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        is_int(token_revision_acceptable(cases[i].list, cases[i].revision), cases[i].wanted,
               "revision '%s' in %s: %s", cases[i].revision,
               cases[i].list != NULL ? cases[i].list : "nothing", cases[i].name);
    return done();
}
