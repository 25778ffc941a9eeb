#!/bin/sh
# One step of a pipeline for an instance as files (doc/instance-as-files.md):
#   pipeline.sh test DIR          run the tests of the rules; needs no service
#   pipeline.sh plan DIR PLAN [LIMIT...]   write the plan to PLAN, and print it; 2: it changes something; 1: a limit refuses it
#   pipeline.sh apply PLAN [LIMIT...]      do exactly that; 2: a limit refuses it
# A LIMIT is an option like --max-newly-denied=0, of the policy's effect on recorded decisions; guards of the service hold in any case.
# AUTHZ_SERVER and AUTHZ_ADMIN_KEY name the service and the admin key; secrets of the files are variables too.
set -eu

usage() {
    sed -n '3,5s/^#   /usage: /p' "$0" >&2
    exit 64
}

case ${1-} in
test)
    [ $# -eq 2 ] || usage
    if [ -d "$2/policy" ]; then authzctl policy test "$2/policy"; fi
    ;;
plan)
    [ $# -ge 3 ] || usage
    dir=$2 plan=$3 status=0
    shift 3
    rm -f "$plan"
    authzctl plan --check --out "$plan" "$@" "$dir" || status=$?
    # 2 is a limit that refuses the policy, too; then there is no plan.
    if [ "$status" -eq 2 ] && [ ! -e "$plan" ]; then status=1; fi
    exit "$status"
    ;;
apply)
    [ $# -ge 2 ] || usage
    plan=$2
    shift 2
    authzctl apply "$@" "$plan"
    ;;
*)
    usage
    ;;
esac
