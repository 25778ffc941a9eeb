/* Handlers and option tables of the verbs; each lives in the file of its noun. */
#ifndef AZ_CLI_VERBS_H
#define AZ_CLI_VERBS_H

#include "cli.h"

extern const struct cli_option config_check_options[];
extern const struct cli_option admin_key_mint_options[];
extern const struct cli_option policy_data_set_options[];

int admin_key_mint_run(struct cli *cli);
int admin_key_list_run(struct cli *cli);
int admin_key_revoke_run(struct cli *cli);
int config_check_run(struct cli *cli);
int config_doc_run(struct cli *cli);
int config_show_run(struct cli *cli);
int db_migrate_run(struct cli *cli);
int db_status_run(struct cli *cli);
int keys_list_run(struct cli *cli);
int keys_rotate_run(struct cli *cli);
int maintain_run(struct cli *cli);
int manual_run(struct cli *cli);
int policy_data_get_run(struct cli *cli);
int policy_data_set_run(struct cli *cli);

#endif
