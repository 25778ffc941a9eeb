/* Handlers and option tables of the verbs that are rows of verbs.c, each defined in the file of its
 * noun. */
#ifndef AZ_CLI_VERBS_H
#define AZ_CLI_VERBS_H

#include "cli/lib/cli.h"

extern const struct cli_option admin_key_mint_options[];
extern const struct cli_option admin_key_revoke_options[];
extern const struct cli_option apply_options[];
extern const struct cli_option audit_export_options[];
extern const struct cli_option audit_seal_options[];
extern const struct cli_option audit_stream_options[];
extern const struct cli_option audit_tail_options[];
extern const struct cli_option audit_verify_export_options[];
extern const struct cli_option audit_verify_options[];
extern const struct cli_option bundle_deploy_options[];
extern const struct cli_option bundle_diff_options[];
extern const struct cli_option bundle_history_options[];
extern const struct cli_option bundle_pull_options[];
extern const struct cli_option bundle_rollback_options[];
extern const struct cli_option cedar_authorize_options[];
extern const struct cli_option cedar_test_options[];
extern const struct cli_option connector_sync_options[];
extern const struct cli_option report_options[];
extern const struct cli_option config_check_options[];
extern const struct cli_option db_migrate_options[];
extern const struct cli_option entitle_options[];
extern const struct cli_option export_options[];
extern const struct cli_option health_options[];
extern const struct cli_option idp_home_options[];
extern const struct cli_option keys_rotate_options[];
extern const struct cli_option plan_options[];
extern const struct cli_option policy_compare_options[];
extern const struct cli_option policy_impact_options[];
extern const struct cli_option policy_data_delete_options[];
extern const struct cli_option policy_data_set_options[];
extern const struct cli_option policy_rule_delete_options[];
extern const struct cli_option policy_rule_set_options[];
extern const struct cli_option policy_shadow_drop_options[];
extern const struct cli_option policy_shadow_promote_options[];
extern const struct cli_option policy_shadow_set_options[];
extern const struct cli_option policy_test_options[];
extern const struct cli_option serve_options[];
extern const struct cli_option setup_options[];
extern const struct cli_option token_revoke_options[];
extern const struct cli_option unentitle_options[];

/* Values of `needs`: of verbs that are requests to the admin API, of those among them that ask
 * policy, and of those that read signing keys. */
extern const char *const verbs_asking[], *const verbs_entitling[], *const verbs_signing[];

/* Return the verb `at`, counted from 0, of those that are one request to the admin API; NULL after
 * the last. They are in no order. */
const struct cli_verb *admin_verb_at(size_t at);

/* Run the verb of this name with the words and options in `cli`. Return an enum cli_exit. */
int admin_key_mint_run(struct cli *cli);
int admin_key_revoke_run(struct cli *cli);
int apply_run(struct cli *cli);
int audit_checkpoint_run(struct cli *cli);
int audit_consistency_run(struct cli *cli);
int audit_export_run(struct cli *cli);
int audit_keys_run(struct cli *cli);
int audit_lines_run(struct cli *cli);
int audit_prove_run(struct cli *cli);
int audit_replay_run(struct cli *cli);
int audit_seal_run(struct cli *cli);
int audit_show_run(struct cli *cli);
int audit_stream_verb_run(struct cli *cli);
int audit_tail_run(struct cli *cli);
int audit_verify_export_run(struct cli *cli);
int audit_verify_run(struct cli *cli);
int bundle_deploy_run(struct cli *cli);
int bundle_diff_run(struct cli *cli);
int bundle_history_run(struct cli *cli);
int bundle_pull_run(struct cli *cli);
int bundle_rollback_run(struct cli *cli);
int cedar_authorize_run(struct cli *cli);
int cedar_compile_run(struct cli *cli);
int cedar_format_run(struct cli *cli);
int cedar_test_run(struct cli *cli);
int completion_run(struct cli *cli);
int config_check_run(struct cli *cli);
int config_doc_run(struct cli *cli);
int config_show_run(struct cli *cli);
int connector_sync_run(struct cli *cli);
int db_grant_run(struct cli *cli);
int db_migrate_run(struct cli *cli);
int db_plan_run(struct cli *cli);
int db_status_run(struct cli *cli);
int entitle_run(struct cli *cli);
int export_run(struct cli *cli);
int health_run(struct cli *cli);
int idp_create_run(struct cli *cli);
int idp_home_run(struct cli *cli);
int import_hydra_run(struct cli *cli);
int import_keycloak_run(struct cli *cli);
int keys_rotate_run(struct cli *cli);
int maintain_run(struct cli *cli);
int secrets_reseal_run(struct cli *cli);
int manual_run(struct cli *cli);
int openapi_run(struct cli *cli);
int policy_impact_run(struct cli *cli);
int plan_run(struct cli *cli);
int policy_compare_run(struct cli *cli);
int policy_data_delete_run(struct cli *cli);
int policy_data_get_run(struct cli *cli);
int policy_data_list_run(struct cli *cli);
int policy_data_set_run(struct cli *cli);
int policy_rule_delete_run(struct cli *cli);
int policy_rule_get_run(struct cli *cli);
int policy_rule_list_run(struct cli *cli);
int policy_rule_set_run(struct cli *cli);
int policy_shadow_drop_run(struct cli *cli);
int policy_shadow_promote_run(struct cli *cli);
int policy_shadow_set_run(struct cli *cli);
int policy_shadow_status_run(struct cli *cli);
int policy_test_run(struct cli *cli);
int report_run(struct cli *cli);
int resource_show_run(struct cli *cli);
int serve_run(struct cli *cli);
int setup_run(struct cli *cli);
int token_introspect_run(struct cli *cli);
int token_revoke_run(struct cli *cli);
int unentitle_run(struct cli *cli);

#endif
