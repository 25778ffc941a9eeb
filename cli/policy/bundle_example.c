#include "config.h"

#include "cli/policy/bundle_example.h"

/* clang-format off */
const struct bundle_example bundle_example[BUNDLE_EXAMPLE_FILES] = {
    {"custom/example_draft_test.rego",
     "# An example of a rule. Its test is example_test.rego beside it; `authzctl policy test DIR` "
       "runs both.\n"
     "#\n"
     "# It has no effect: `authzctl bundle deploy` does not deploy a file whose name ends in "
       "_test.rego. To use it, change\n"
     "# the rule and its test to what you need, rename this file to example.rego, and deploy. "
       "Without the change it\n"
     "# refuses tokens to a client called example alone. To do without it, delete both files.\n"
     "# The policy author's guide (doc/policy-guide.md) has the input document, the hooks and more "
       "recipes.\n"
     "package custom.issue\n"
     "\n"
     "deny contains {\n"
     "\t\"code\": \"example_closed\",\n"
     "\t\"category\": \"client\",\n"
     "\t\"message\": \"the client example gets no token\",\n"
     "} if {\n"
     "\tinput.client.id == \"example\"\n"
     "}\n"},
    {"custom/example_test.rego",
     "# The test of the example rule. A test is a rule test_...; it passes if its body is true.\n"
     "package custom.example_test\n"
     "\n"
     "codes(client) := found if {\n"
     "\tfound := {reason.code | some reason in data.custom.issue.deny} with input as {\"client\": "
       "{\"id\": client}}\n"
     "}\n"
     "\n"
     "test_the_client_is_refused if \"example_closed\" in codes(\"example\")\n"
     "\n"
     "test_another_client_is_not if not \"example_closed\" in codes(\"shop\")\n"},
};
/* clang-format on */
