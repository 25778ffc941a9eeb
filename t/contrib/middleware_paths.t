#!/usr/bin/perl
# contrib/middleware (doc/middleware.md, section 3): rules and policy see what the application routes by. Policy denies two paths. No
# spelling of them, and no field that names another path, reaches their handlers in Express 4 and 5, Fastify, Starlette on uvicorn,
# Flask on gunicorn, or net/http.
use strict;
use warnings;

use Test::More;

use Authz::Guarded;
use Authz::Path    ();
use Authz::Peer    ();
use Authz::Policy  ();
use Authz::Process ();
use Authz::Stack   ();

my $guarded = Authz::Guarded->new;
my $stack   = Authz::Stack->start;
my $url     = $guarded->{url};
my @api     = $stack->make_client( 'api', { endpoints => ['introspect'], resources => [$url] } );
my @app     = $stack->make_client(
    'app',
    { grants => ['client_credentials'], scopes => ['orders.read'], resources => [$url] } );
my $deployed = Authz::Policy->new($stack)->deploy( rules => { 'custom/introspect.rego' => <<'END' } );
package custom.introspect

deny contains "closed" if input.context.path in {"/shop/closed", "/shop/nested/closed"}
END
is( $deployed->status, 200, 'the rule' ) or diag $deployed->text;
my $token = $stack->token_text( @app, scope => 'orders.read', resource => $url );

my @way = grep { $_->{name} !~ /\A[aw]sgi\z/ }    # those have no router
  $guarded->start( { issuer => $stack->base, client => \@api, peer => Authz::Peer->start } );

# ---- spellings

my @spelling = map { chomp; $_ } grep {/\S/} <<'END' =~ /^.*\n/mg;
/shop/closed
/shop/closed?a=1
/shop/closed?
/shop/closed#a
/shop/closed%23
/shop/closed%3Fa
/SHOP/CLOSED
/Shop/closed
/shop/cloSed
/shop/clo%53ed
/shop/closed/
/SHOP/closed/
/shop/closed//
/shop//closed
//shop/closed
///shop///closed
/shop/%2Fclosed
/shop%2Fclosed
/shop%2fclosed
/shop%252Fclosed
/shop/closed%2F
/shop/%63losed
/shop/%2563losed
/%73%68%6f%70/%63%6c%6f%73%65%64
/shop/./closed
/./shop/closed
/shop/%2e/closed
/shop/x/../closed
/shop/x/%2e%2e/closed
/shop/x/%2E./closed
/shop/x%2F..%2Fclosed
/shop/of/..%2Fclosed
/shop/open/../closed
/shop/open/%2e%2e/closed
/shop/open/..;/closed
/shop/closed/.
/shop/closed/..
/shop/x/..;/closed
/shop/.;a/closed
/shop/;/closed
/shop;a/closed
/shop/closed;
/shop/closed;a=1
/shop/closed%3B
/shop\closed
\shop\closed
/shop%5Cclosed
/shop/closed%5C
/shop/closed%00
/shop/closed%00.json
/shop/closed%0A
/shop/closed%20
/shop/closed+
/shop/closed.
/shop/closed%
/shop/closed%zz
/shop/closed%C0%AF
/shop%C0%AFclosed
/shop%E2%88%95closed
/%C5%BFhop/closed
/shop/clo%C5%BFed
/shop/%EF%BD%83losed
shop/closed
http://other.example/shop/closed
http://other.example/SHOP/closed
http://other.example//shop/closed
http:/shop/closed
//other.example/shop/closed
/shop/nested/closed
/shop/nested/closed/
/shop/nested//closed
/SHOP/nested/closed
/shop/NESTED/closed
/shop/nested/Closed
/shop/%6Eested/closed
/shop/nested;a/closed
END
cmp_ok( scalar @spelling, '>=', 40, 'at least 40 spellings' );

# Fields from which a server, or what stands in front of it, may take the path of a request.
my @field = (
    map( {
            my $name = $_;
            map { [ "$_->[0]", "$name: $_->[1]" ] } [ '/x/shop/closed', '/x' ],
              [ '/shop/open/shop/closed', '/shop/open' ], [ '/shop/orders', '/shop/closed' ], [ '/shop/closed', '' ],
              [ '/shop/closed', '/' ]
    } qw(SCRIPT_NAME Script-Name PATH_INFO X-Forwarded-Prefix X-Script-Name) ),
    map { [ '/shop/orders', "$_: /shop/closed" ], [ '/shop/open/a', "$_: /shop/closed" ] }
      qw(X-Original-URL X-Rewrite-URL X-Forwarded-Uri X-Forwarded-Path Request-URI X-Test-Rewrite) );

sub head {
    my ( $way, $target, @more ) = @_;
    return $way->{http}
      ->raw( join( "\r\n", "GET $target HTTP/1.1", 'Host: 127.0.0.1', @more, 'Connection: close', '', '' ), 'GET' );
}

my @good = ("Authorization: Bearer $token");
for my $way (@way) {
    my ( @reached, %status );
    for my $case ( ( map { [$_] } @spelling ), @field ) {
        my ( $target, @more ) = @$case;
        for my $credential ( [], [@good] ) {
            my $answer = head( $way, $target, @more, @$credential );
            $status{ $answer->status }++;
            push @reached, "$target @more" if $answer->text =~ /"at": ?"(?:nested\/)?closed"|open .*closed$/;
        }
    }
    is( join( "\n", @reached ), '', "$way->{name}: no spelling and no field reaches the handlers that policy denies" );
    note join ' ', "$way->{name}:", map {"$_ x $status{$_}"} sort keys %status;
    served($way);
}

# ---- what is served, and in one spelling

sub served {
    my ($way) = @_;
    my $name  = $way->{name};
    my $loose = $name =~ /\A(?:express4?|fastify-loose)\z/;    # the routes ignore case and a slash at the end
    status_is( head( $way, '/shop/orders', @good ), 200, "$name: another path is served" );
    my %may = ( '/shop/of/Abc' => !$loose, '/shop/of/a%20b' => 1, '/shop/of/%C3%89' => 1 );
    $may{'/shop/of/a%2Fb'} = $name ne 'go';
    status_is( head( $way, $_, @good ), $may{$_} ? 200 : 400, "$name: $_" ) for sort keys %may;
    return if !$loose;
    my $capital = head( $way, '/SHOP/of/a', @good );
    is( $capital->status, 400, "$name: a capital, where the routes ignore case" );
    is( $capital->member('error_description'),
        'the path has a capital or a slash at the end', '... and the answer says so' );
    like(
        $way->{process}->log_text, qr/^authz: 400 invalid_request: the path has .*: see exactPaths/m,
        '... and the log the cure' );
    return;
}

# ---- Python: the prefix is the one that the operator gives

SKIP: {
    my $python =
      ( grep { system("$_ -c 'import cryptography, jwt' >/dev/null 2>&1") == 0 } '/usr/bin/python3', 'python3' )[0];
    skip 'no python3 with cryptography and jwt', 1 if !defined $python;
    my ( $status, $text ) = Authz::Process->run(
        name => 'prefix', command => [ $python, '-c', <<'END' ],
import asyncio
from authz_middleware import Asgi, Guard, Rule, Wsgi

guard = Guard("https://auth.example", "a", "b", "https://api.example")
seen = []
def rules(method, path):
    seen.append(path)

def wsgi(prefix, script, path):
    status = []
    environ = {"REQUEST_METHOD": "GET", "SCRIPT_NAME": script, "PATH_INFO": path}
    Wsgi(lambda environ, start: [], guard, rules, prefix)(environ, lambda line, fields: status.append(line[:3]))
    return "".join(status) or seen.pop()

def asgi(prefix, root, path):
    status = []
    async def app(scope, receive, send): pass
    async def send(event): status.append(str(event.get("status", "")))
    scope = {"type": "http", "method": "GET", "root_path": root, "path": path, "headers": []}
    asyncio.run(Asgi(app, guard, rules, prefix)(scope, None, send))
    return "".join(status) or seen.pop()

print(wsgi("", "", "/a"), wsgi("/x", "/x", "/a"), wsgi("/x", "/x", ""), wsgi("", "/x", "/a"), wsgi("/x", "", "/a"),
      wsgi("/x", "/x/y", "/a"), wsgi("/x", "/X", "/a"), wsgi("", "/", "/a"), wsgi("", "", ""))
print(asgi("", "", "/a"), asgi("/x", "/x", "/x/a"), asgi("/x", "/x", "/a"), asgi("/x", "/x", "/x"), asgi("/x", "/x", "/xa"),
      asgi("", "/x", "/x/a"), asgi("/x", "", "/x/a"), asgi("/x", "/x", "/x/x/a"))
for prefix in ("x", "/", "/x/", "//x", "/x?"):
    try:
        Wsgi(None, guard, rules, prefix)
        print("taken")
    except ValueError as fault:
        print(fault)
END
        env => { PYTHONPATH => Authz::Path::source( 'contrib', 'middleware', 'python' ), PYTHONDONTWRITEBYTECODE => 1 }
    );
    my @line = grep { !/\Aauthz: / } split /\n/, $text;
    is( $line[0], '/a /x/a /x 400 400 400 400 400 400', 'WSGI: SCRIPT_NAME is the prefix of the operator, or 400' )
      or diag $text;
    is( $line[1], '/a /x/a /x/a /x /x/xa 400 400 /x/x/a', 'ASGI: and so is root_path, in the path or before it' );
    is_deeply(
        [ @line[ 2 .. 6 ] ], [ ('prefix: must be a path without a slash at the end') x 5 ],
        '... a prefix has one spelling' );
    like(
        $text, qr/^authz: 400 invalid_request: the prefix is another one: set prefix to SCRIPT_NAME/m,
        '... and the log the cure' );
}

done_testing;
