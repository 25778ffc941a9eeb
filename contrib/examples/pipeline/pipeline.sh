#!/bin/sh
# One step of a pipeline for an instance as files (doc/instance-as-files.md):
#   pipeline.sh test DIR          run the tests of the rules; needs no service
#   pipeline.sh plan DIR PLAN     write the plan to PLAN, and print it; 2: it changes something
#   pipeline.sh apply PLAN        do exactly that
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
    [ $# -eq 3 ] || usage
    authzctl plan --check --out "$3" "$2"
    ;;
apply)
    [ $# -eq 2 ] || usage
    authzctl apply "$2"
    ;;
*)
    usage
    ;;
esac
