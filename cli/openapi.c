/* openapi: the description of the interface, as the service has it at /openapi.json. */
#include "config.h"

#include "base/json/jsonx.h"
#include "cli/lib/output.h"
#include "cli/verbs.h"
#include "http/api/document.h"

int
openapi_run(struct cli *cli)
{
    const json_t *document = api_document(cli->mem, cli->az->cfg->oidc_issuer);
    if (document == NULL) {
        output_error("out of memory for the description");
        return CLI_FAILED;
    }
    output_json(document);
    return CLI_OK;
}
