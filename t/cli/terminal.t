# Texts of a server never reach a terminal raw: escape sequences would write what they like on it, and characters that reorder text
# would show another rule than the one that runs (security-operations L1, L2). script(1) makes the terminal.
use strict;
use warnings;

use Encode           ();
use IO::Socket::INET ();
use JSON::PP         ();
use Test::More;

use FindBin ();
use lib $FindBin::Bin;
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authzctl       qw(ctl ctl_is);

my ($terminal) = grep { -x $_ } map {"$_/script"} split /:/, $ENV{PATH};
plan skip_all => 'no script(1)' if !defined $terminal;

# An escape sequence, a control character of C1 in UTF-8, one that turns the text around, one that hides, and a tag of plane 14.
my $BAD   = "\e]0;x\a\xc2\x9b31m\xe2\x80\xae\xe2\x80\x8b\xf3\xa0\x81\x81";
my $SHOWN = qr/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8b\xae]|\xf3\xa0\x81/;

my $stack = Authz::Stack->start;
my $env   = $stack->settings;

# Run a verb at a terminal; what the terminal got.
sub at_terminal {
    my ( $set, @words ) = @_;
    local %ENV = ( ( map { /^(?:SVC_|PG)/ ? () : ( $_ => $ENV{$_} ) } keys %ENV ), %$set );
    my $command = join ' ', Authz::Path::program('authzctl'), map {"'$_'"} @words;
    open my $out, '-|', $terminal, '-qec', $command, '/dev/null' or die "script: $!";
    local $/ = undef;
    return readline $out;
}

my $rule = "package custom.issue\n\n# $BAD\nx := 1\n";
my $made = $stack->admin(
    POST => '/admin/api/policy-rules',
    json => {
        path    => 'custom/x.rego', kind => 'rego', version => '1', content => Encode::decode( 'UTF-8', $rule ),
        enabled => JSON::PP::false() } );
is( $made->status, 201, 'a disabled rule may be a draft' ) or diag $made->body;
is( ctl_is( 0, [qw(policy rule get custom/x.rego)], 'rule get into a file', env => $env )->{out}, $rule,
    '... gives the text as it is' );
my $seen = at_terminal( $env, qw(policy rule get custom/x.rego) );
unlike( $seen, $SHOWN, '... and a terminal the clean text' );
like(
    $seen, qr/package custom\.issue\r?\n\r?\n# \?\]0;x\?\?31m\?\?\?\r?\nx := 1/,
    '... with ? in their place, and its lines' );

$made = $stack->admin(
    POST => '/admin/api/policy-data',
    json => {
        dataKey => 'custom.x',
        payload => Encode::decode( 'UTF-8', qq({"text":"a \\u001b]0;x\xc2\x9b31m\xe2\x80\xae\xe2\x80\x8b b"}) ) } );
is( $made->status, 201, 'a row of data may have them' ) or diag $made->body;
for my $words (
    [qw(policy data get custom.x)], [qw(--json policy data get custom.x)],
    [qw(--json policy rule get custom/x.rego)] )
{
    $seen = at_terminal( $env, @$words );
    unlike( $seen, $SHOWN, "@$words: a terminal gets no control character" );
    like( $seen, qr/31m/, '... but text' );
}
like(
    at_terminal( $env, qw(--json policy rule get custom/x.rego) ), qr/\\u009b31m\\u202e\\u200b\\udb40\\udc41/,
    '... JSON has escapes, so it is the same value' );

# A save of an enabled rule with them is refused, and says where.
for my $case (
    [ "\e[31m", 'U\+001B' ], [ "\xc2\x9b", 'U\+009B' ], [ "\xe2\x80\xae", 'U\+202E' ], [ "\xe2\x80\x8b", 'U\+200B' ],
    [ "\xf3\xa0\x81\x81", 'U\+E0041' ] )
{
    my ( $octets, $point ) = @$case;
    my $got = ctl(
        [qw(policy rule set custom/bad.rego -)], env => $env,
        in => "package custom.issue\n\n# one\n# $octets\n" );
    isnt( $got->{status}, 0, "a rule with $point is not saved" );
    like( $got->{err}, qr/control or invisible character in line 4 \($point\)/, '... and its place is named' );
}
ctl_is(
    0, [qw(policy rule set custom/good.rego -)], 'a rule with tabs, line ends of Windows, umlauts and emoji is',
    env => $env, in => "package custom.issue\r\n\r\n# \tgr\xc3\xbc\xc3\x9f \xf0\x9f\x99\x82\r\ny := 1\r\n" );

# ---- a hostile server

my $listen = IO::Socket::INET->new( LocalAddr => '127.0.0.1', Listen => 8 ) or die "listen: $!";
my $url    = 'http://127.0.0.1:' . $listen->sockport;
my $file   = Authz::Process::directory() . '/answer';

sub answer_with {
    my ($body) = @_;
    open my $out, '>:raw', $file or die $!;
    print {$out} $body;
    close $out or die $!;
    return;
}
my $server = Authz::Process->start(
    name => 'hostile',
    code => sub {
        while ( my $socket = $listen->accept ) {
            my $head = '';
            $head .= $_ // last while $head !~ /\r\n\r\n/ && sysread( $socket, $_, 1 );
            my $body = do { open my $in, '<:raw', $file or die $!; local $/ = undef; <$in> };
            print {$socket}
              "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ",
              length $body, "\r\n\r\n$body";
            close $socket;
        }
    } );
my %far = ( SVC_CONFIG => '/dev/null', AUTHZ_ADMIN_KEY => 'k', AUTHZ_SERVER => $url );
for my $body (
    '{}', '[]', 'null', '"text"', '{"key":1,"id":2}', '{"key":"k"}', '{"id":"i"}', '{"key":"","id":""}',
    qq({"key":"a\\u001b]0;x\\u0007","id":"b"}), qq({"key":"a","id":"b\xc2\x9b"}), qq({"key":"a b","id":"c"}) )
{
    answer_with($body);
    my $got = ctl( [qw(admin-key mint --label x)], env => \%far );
    is( $got->{status}, 1,  "mint: an answer $body is no key" );
    is( $got->{out},    '', '... nothing is printed as one' );
    like(
        $got->{err}, qr/admin-key mint: .*(?:no admin key; see `authzctl admin-key list`|answer)/,
        '... and the error says so' );
    unlike( $got->{err}, $SHOWN, '... without the octets of the server' );
}
answer_with('{"key":"ak_1","id":"c"}');
is( ctl_is( 0, [qw(admin-key mint --label x)], 'mint: a key', env => \%far )->{out}, "ak_1\n", '... is printed' );

my $text = '\u001b]0;x\u0007\u009b31m\u202e\u200b';
answer_with(
    qq({"id":1,"state":"$text","baseRevision":"$text","candidateRevision":"$text","until":"$text","note":"$text","rate":1,)
      . qq("result":{"looked":1,"byClient":[{"clientId":"$text"}],"examples":{"$text":[{"requestId":"$text","endpoint":"$text",)
      . qq("clientId":"$text","before":{"outcome":"$text"},"after":{"outcome":"$text"}}]},"notMeasured":[{"what":"$text"}]}})
);
for my $words ( [qw(policy shadow status)], [qw(--json policy shadow status)] ) {
    my $got = at_terminal( \%far, @$words );
    unlike( $got, $SHOWN, "@$words: a hostile answer at a terminal" );
    like( $got, qr/31m/, '... is shown clean' ) or diag $got;
}
$server->stop;
done_testing;
