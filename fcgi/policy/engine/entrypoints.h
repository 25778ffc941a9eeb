/* The documents of the policy that the service asks for decisions: `result` of each is evaluated
 * (policy.md 6.3). */
#ifndef AZ_POLICY_ENGINE_ENTRYPOINTS_H
#define AZ_POLICY_ENGINE_ENTRYPOINTS_H

enum entrypoint {
    ENTRYPOINT_ISSUE,
    ENTRYPOINT_INTROSPECT,
    ENTRYPOINT_AUTHZEN,
    ENTRYPOINT_AUTHZEN_BATCH,
    ENTRYPOINT_GATEWAY,
    ENTRYPOINT_GATEWAY_TOOLS,
    ENTRYPOINT_REGISTER,
    ENTRYPOINT_ADMIN,
    ENTRYPOINTS
};

/* Paths of packages ("svc/decision/issue"), by entrypoint. */
extern const char *const entrypoint_paths[ENTRYPOINTS];

/* The rule of a package that holds the decision, as it follows the path. */
#define ENTRYPOINT_RULE "/result"

/* The file of the rules that show what the hooks of operators give, and the rules: one for each
 * package of hooks. No decision asks them; the trial of a save does (policy.md 7.3). */
#define ENTRYPOINT_HOOKS_FILE "svc/lib/trial.rego"
#define ENTRYPOINT_HOOKS_PACKAGE "svc/lib/trial/"
#define ENTRYPOINT_HOOKS 6
extern const char *const entrypoint_hooks[ENTRYPOINT_HOOKS];

#endif
