#include "config.h"

#include "policy/engine/entrypoints.h"

const char *const entrypoint_paths[ENTRYPOINTS] = {
    [ENTRYPOINT_ISSUE] = "svc/decision/issue",
    [ENTRYPOINT_INTROSPECT] = "svc/decision/introspect",
    [ENTRYPOINT_AUTHZEN] = "svc/decision/authzen",
    [ENTRYPOINT_AUTHZEN_BATCH] = "svc/decision/authzen_batch",
    [ENTRYPOINT_GATEWAY] = "svc/decision/gateway",
    [ENTRYPOINT_GATEWAY_TOOLS] = "svc/decision/gateway_tools",
    [ENTRYPOINT_REGISTER] = "svc/decision/register",
    [ENTRYPOINT_ADMIN] = "svc/decision/admin",
};

const char *const entrypoint_hooks[ENTRYPOINT_HOOKS] = {
    ENTRYPOINT_HOOKS_PACKAGE "issue",    ENTRYPOINT_HOOKS_PACKAGE "introspect",
    ENTRYPOINT_HOOKS_PACKAGE "register", ENTRYPOINT_HOOKS_PACKAGE "authzen",
    ENTRYPOINT_HOOKS_PACKAGE "gateway",  ENTRYPOINT_HOOKS_PACKAGE "admin",
};
