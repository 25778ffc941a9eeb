# METADATA
# title: Audit
# description: The part of a request's arguments that is stored with the decision.
package svc.controls.audit

import data.svc.operator.controls.audit as row

# Anything but `full` stores names alone.
default argument_mode := "keys"

argument_mode := "full" if row.argument_mode == "full"

argument_mode := "none" if row.argument_mode == "none"
