# shellcheck shell=bash
# What the ordinary run takes of the tests under the sanitizers. Needs: TOP.
#
# Each day it takes the files below, to which octets of strangers come as they were sent, and a quarter of the others, so that four days
# in a row take all. The same rules are tested without the sanitizers each day; what waits for its day is the search for faults of
# memory in their code. contrib/check --all and --sanitize take all files at once.
#
# CALENDAR_DAY  the day, in days since 1970-01-01, or "all" (default: that of the commit, or today where there is none)

# Seven days take each share once or twice.
CALENDAR_SHARES=4

# File, and the octets that reach a parser by it.
CALENDAR_DAILY=(
    't/failure/gateway.t                  answers of upstreams that stop in the middle'
    't/failure/heads.t                    heads of FastCGI in pieces'
    't/http/bad_input.t                   every field of a request, hostile'
    't/http/client/client_keys.t          signed assertions and their keys'
    't/http/fetch.t                       heads, bodies and redirects of other hosts'
    't/http/fetched_documents.t           documents of other hosts'
    't/http/gateway/gateway_headers.t     header fields both ways through the gateway'
    't/http/gateway/gateway_proxy.t       requests and answers through the gateway'
    't/http/gateway/upstream_transfer.t   framing of upstreams that misbehave'
    't/http/mcp/mcp.t                     JSON-RPC both ways'
    't/http/mcp/mcp_error_text.t          errors of an upstream that are cut within a character'
    't/http/mcp/mcp_session_stream.t      events of an upstream'
    't/http/sign_in/authorize_errors.t    the query of a browser'
    't/http/sign_in/upstream.t            answers of an identity provider that misbehaves'
    't/http/token/dpop.t                  signed proofs'
    't/http/token/token_request.t         forms, credentials and JSON in a form'
)

# Print the day. The same commit has the same day whenever it is checked.
calendar_day() {
    local seconds
    if [ -n "${CALENDAR_DAY-}" ]; then
        printf '%s' "$CALENDAR_DAY"
        return
    fi
    seconds=$(git -c safe.directory='*' -C "$TOP" log -1 --format=%ct 2>/dev/null) || seconds=$(date +%s)
    printf '%s' $((seconds / 86400))
}

# Print the files of every day.
calendar_daily() { printf '%s\n' "${CALENDAR_DAILY[@]%% *}"; }

# calendar_files DAY FILE…: print those of the files that run on this day, or with "all" each of them. Which day takes a file
# depends on its name alone, so a new file moves none of the others. The checksum is shifted because that makes the shares alike: 950 to
# 1,190 s of the files' times.
calendar_files() {
    local day=$1
    shift
    calendar_daily | perl -e '
        my ( $day, $shares, @files ) = @ARGV;
        my %daily = map { ( $_ => 1 ) } split /\n/, do { local $/; <STDIN> };
        for my $file (@files) {
            print "$file\n" if $day eq "all" || $daily{$file} || ( unpack( "%32C*", $file ) >> 2 ) % $shares == $day % $shares;
        }' "$day" "$CALENDAR_SHARES" "$@"
}
