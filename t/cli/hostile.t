#!/usr/bin/perl
# What a server that is not ours may answer to authzctl (security-operations, bad input): each verb that asks a server ends by itself,
# with a status of its own and not by a signal, whatever the JSON of the answer is. t/cli/terminal.t has what a terminal gets.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use IO::Socket::INET ();
use Test::More;
use Time::HiRes qw(time);

use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authz::Web     ();
use Authzctl;

# ---- the verbs: those of doc/reference/cli.md that take --server, with words for their arguments

my $dir   = Authz::Process::directory();
my %value = (
    DIR        => sub { tree( 'custom/x.rego' => "package custom.x\n\na := 1\n" ) },
    'DIR|FILE' => sub { tree( 'custom/x.rego' => "package custom.x\n\na := 1\n" ) },
    FILE       => sub { put_file( $dir, 'file.json', '{}' ) },
    PATH       => sub {'custom/x.rego'},
    KEY        => sub {'app.x'},
    URL        => sub {'https://a.example'},
    OLD        => sub {1},
    NEW        => sub {2},
    ID         => sub { $_[0] =~ /\A(?:audit|bundle)/ ? 1 : '01890000-0000-7000-8000-000000000001' } );

# It waits for new rows for ever.
my %left_out = map { ( $_ => 1 ) } 'audit tail';

sub verbs {
    my $page = Authz::Web::edit( Authz::Path::source(qw(doc reference cli.md)), qr/\A/ => '' );
    my @verb;
    while ( $page =~ /^## ([a-z -]+)\n\n```\nusage: authzctl \[OPTION\.\.\.\] (.*?)\n\n(.*?)^```$/msg ) {
        my ( $name, $usage, $text ) = ( $1, $2, $3 );
        next if $left_out{$name} || $text =~ /refuses\s+--server|work on files/;
        1 while $usage =~ s/\[[^\[\]]*\]//g;
        my @word = split ' ', $usage =~ s/\A\Q$name\E//r;
        push @verb, [
            $name, split( / /, $name ), ( $text =~ /^ +-?y?,? ?--yes\b/m ? '--yes' : () ),
            map {
                /\A-/
                  ? $_
                  : ( $value{$_} // sub {'x'} )->($name)
            } @word ];
    }
    return @verb;
}

# ---- the server: it sends what stands in a file, to everything

my $listen = IO::Socket::INET->new( LocalAddr => '127.0.0.1', Listen => 64 ) or die "listen: $!";
my ( $file, $count ) = ( "$dir/answer", "$dir/count" );
my $server = Authz::Process->start(
    name => 'hostile',
    code => sub {
        local $SIG{PIPE} = 'IGNORE';
        while ( my $socket = $listen->accept ) {
            my $head = '';
            while ( $head !~ /\r\n\r\n/ && sysread $socket, my $more, 65536 ) { $head .= $more }
            open my $asked, '>>', $count or die $!;
            print {$asked} "x\n";
            close $asked or die $!;
            my $body = do { open my $in, '<:raw', $file or die $!; local $/ = undef; <$in> };
            my ($endless) = $body =~ /\AENDLESS (.*)/;
            print {$socket} "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nETag: \"1\"\r\nConnection: close\r\n",
              defined $endless ? "\r\n" : 'Content-Length: ' . length($body) . "\r\n\r\n$body";

            if ( defined $endless ) {
                my $piece = $endless x 65_536;
                1 while defined syswrite $socket, $piece;
            }
            close $socket;
        }
    } );
my %far = (
    SVC_CONFIG   => '/dev/null', AUTHZ_ADMIN_KEY => 'k', AUTHZ_SERVER => 'http://127.0.0.1:' . $listen->sockport,
    SVC_DATA_DIR => Authz::Stack::data_dir() );

sub answer {
    my ($body) = @_;
    open my $out, '>:raw', $file or die $!;
    print {$out} $body;
    close $out or die $!;
    return;
}

my $DEEP = 200_000;
my @member =
  qw(id items total state key clientId client name rules dataRows subject revision createdAt tree size origin hashes
  result changes issuer keys note objects page status text content payload before after label tools resources);
my $each = sub {
    my ($text) = @_;
    return '{' . join( ',', map {qq("$_":$text)} @member ) . '}';
};
my $control = '"\u001b]0;x\u0007\u009b31m\u202e\u0000"';
my %answer  = (
    'an empty object'           => '{}',
    'an empty list'             => '[]',
    'null'                      => 'null',
    'a text'                    => '"text"',
    'nothing'                   => '',
    'lists 200,000 deep'        => '[' x $DEEP . ']' x $DEEP,
    'objects 200,000 deep'      => '{"items":' x $DEEP . '1' . '}' x $DEEP,
    'numbers for members'       => $each->(7),
    'null for members'          => $each->('null'),
    'lists of nothing'          => $each->('[null,[],{},"",-1]'),
    'objects for members'       => $each->('{"id":{}}'),
    'control characters'        => $each->($control),
    'lists of objects of lists' => $each->( '[' . $each->('[]') . ',' . $each->($control) . ']' ),
    'numbers beyond 64 bits'    => $each->('-99999999999999999999'),
);

my @verb  = verbs();
my $asked = 0;
for my $verb (@verb) {
    my ( $name, @words ) = @$verb;
    unlink $count;
    my ( @odd, $slowest );
    for my $what ( sort keys %answer ) {
        answer( $answer{$what} );
        my $began = time;
        my $got   = ctl( \@words, env => \%far, in => '{}' );
        my $took  = time - $began;
        push @odd, "$what: status $got->{status}" if $got->{status} !~ /\A(?:0|1|2|64|69|78)\z/;
        push @odd, "$what: no reason"             if $got->{status} == 1 && $got->{err} eq '';
        push @odd, "$what: $took s"               if $took > 10 * Authz::Process::patience();
    }
    $asked++ if -s $count;
    is( join( '; ', @odd ), '', "$name: " . keys(%answer) . ' answers that it does not expect' );
}
cmp_ok( $asked, '>=', 50, "$asked verbs have asked the server" );

# ---- an answer without an end

for my $text ( '[', '"x', ' ', '[1,' ) {
    answer("ENDLESS $text");
    my $began = time;
    my $got   = ctl( [qw(client list)], env => \%far );
    isnt( $got->{status}, 0, "refused: an endless answer of $text" );
    unlike( $got->{status}, qr/\A1[2-5]\d\z/, '... not by a signal' );
    cmp_ok( time - $began, '<', 60 * Authz::Process::patience(), '... after a part of it' );
    like( $got->{err}, qr/\Aauthzctl: client list: .{10}/, '... with the reason' );
    cmp_ok( length $got->{err}, '<', 1000, '... and not with the answer' );
}
$server->stop;
done_testing;
