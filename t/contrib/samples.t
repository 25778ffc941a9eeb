#!/usr/bin/perl
# The samples of the pages of doc/ that are no commands (t/contrib/walk.t runs those): each page and kind of block is named here, with
# the test that takes it from the page and runs it. Those that need little are run here.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Path    ();
use Authz::Policy  ();
use Authz::Process ();
use Authz::Stack   ();
use Authz::Web     ();

my $dir = Authz::Process::directory();
my %run = (
    'behind-your-proxy.md json'  => \&edge_jwt,
    'behind-your-proxy.md nginx' => \&nginx,
    'cedar.md json'              => \&cedar,
    'jwt-access-tokens.md json'  => \&jwt_resources,
    'jwt-access-tokens.md rego'  => \&opaque_rule,
    'middleware.md go'           => 't/contrib/middleware_form.t',
    'middleware.md js'           => 't/contrib/middleware_form.t',
    'middleware.md nginx'        => \&nginx,
    'middleware.md python'       => 't/contrib/middleware_form.t',
    'middleware.md rego'         => \&introspect_rules,
    'monitoring.md yaml'         => \&prometheus,
    'policy-guide.md json'       => 't/contrib/policy_guide.t',
    'policy-guide.md rego'       => \&admin_rules,
    'sign-in.md js'              => 't/interop/clients.t',
);

my %shown = map { ( $_ => 1 ) } '', qw(sh text {toctree});    # commands, output, drawings and lists of pages
my ( %sample, $stack );
for my $file ( glob( Authz::Path::source('doc') . '/{,providers/,mcp-clients/}*.md' ) ) {
    my ($name) = $file =~ m{/doc/((?:[\w-]+/)?[^/]+)\z};
    my $text = Authz::Web::edit($file);
    push @{ $sample{"$name $1"} }, $2 while $text =~ /^```(\S*)[^\n]*\n(.*?)^```$/msg;
}
my @samples = grep { !$shown{ ( split / / )[1] // '' } } sort keys %sample;
is_deeply( \@samples, [ sort keys %run ], 'each kind of sample on a page is run by a test' );

for my $what (@samples) {
    my $run = $run{$what} // next;
    if ( ref $run ) { $run->( $what, @{ $sample{$what} } ); next }
    my ($page) = split / /, $what;
    like( Authz::Web::edit( Authz::Path::source($run) ), qr/\Q$page\E/, "$what: $run takes it from the page" );
}

sub stack { return $stack //= Authz::Stack->start }

# ---- those that are run here

# A managed resource takes the members.
sub edge_jwt {
    my ( $what, @text ) = @_;
    for my $text (@text) {
        my $made = stack()->admin(
            POST => '/admin/api/managed-resources',
            json => {
                name        => 'edge', displayName => 'Edge', upstreamType => 'REST',
                upstreamUrl => 'https://up.example', %{ JSON::PP->new->decode($text) } } );
        is( $made->status, 201, "$what: a resource takes it" ) or diag $made->text;
    }
    return;
}

# nginx takes the lines, in a location with the files of contrib/middleware/nginx.
sub nginx {
    my ( $what, @text ) = @_;
  SKIP: {
        my $nginx = Authz::Path::door('nginx');
        skip "$what: no nginx", scalar @text if !$nginx;
        my $files = Authz::Path::source( 'contrib', 'middleware', 'nginx' );
        my $edit  = qr{include (authz-\w+\.conf)};
        my $http  = Authz::Web::edit( "$files/authz-http.conf", qr{/run/authz-nginx} => "$dir/kept" );
        for my $text (@text) {
            my $inside = $text =~ /^location/m ? $text : "include $files/authz-server.conf; location / { $text }";
            $inside =~ s{$edit}{include $files/$1}g;
            $inside =~ s{(?<=\$authz_jwt";)}{ include $files/authz-protect.conf;};
            my $file = Authz::Web::write_file(
                "$dir/nginx.conf",
                "pid $dir/nginx.pid; events {}\nhttp {\naccess_log off;\n$http\nserver {\nlisten 127.0.0.1:1;\n$inside\n}\n}\n"
            );
            my ( $status, $said ) = Authz::Process->run(
                name    => 'nginx -t',
                command => [ $nginx, '-t', '-q', '-p', $dir, '-e', "$dir/nginx.log", '-c', $file ] );
            is( $status, 0, "$what: nginx takes it" ) or diag $said;
        }
    }
    return;
}

# The reason of a denial has such members, and the row takes the types.
sub cedar {
    my ( $what, $reason, $types, @more ) = @_;
    is_deeply(
        [ sort keys %{ JSON::PP->new->decode($reason) } ],
        [qw(category code control detail message)],
        "$what: the reason is one" );
    my $row = JSON::PP->new->decode($types);
    is( stack()->patch_row( 'svc.cedar_data.types', $row )->status, 200, "$what: the row takes the types" );
    is( scalar @more,                                               0,   '... and there are no others' );
    return;
}

# The row takes the resources.
sub jwt_resources {
    my ( $what, $row, @more ) = @_;
    is( stack()->patch_row( 'svc.registry.jwt_resources', JSON::PP->new->decode($row) )->status,
        200, "$what: the row takes the resources" );
    is( scalar @more, 0, '... and there are no others' );
    return;
}

# The rule is deployed, and keeps the tokens of partners opaque, for a resource of the row above.
sub opaque_rule {
    my ( $what, $rule, @more ) = @_;
    my $deployed = Authz::Policy->new( stack() )->deploy( rules => { 'custom/issue.rego' => $rule } );
    is( $deployed->status, 200, "$what: the rule is deployed" ) or diag $deployed->text;
    my $api = 'https://api.example/orders';
    my %may = ( grants => ['client_credentials'], scopes => ['orders.read'], resources => [$api] );
    for my $id (qw(partner-one shop)) {
        my @client = stack()->make_client( $id, {%may} );
        my $form   = $id eq 'shop' ? 'eyJ' : 'at_';
        like(
            stack()->token_text( @client, scope => 'orders.read', resource => $api ), qr/\A$form/,
            "... $id gets $form" );
    }
    is( scalar @more, 0, '... and there are no others' );
    return;
}

# The rules are deployed together, and the API is told how long an answer may be kept.
sub introspect_rules {
    my ( $what, $deny, $keep, @more ) = @_;
    my $deployed = Authz::Policy->new( stack() )->deploy( rules => { 'custom/introspect.rego' => "$deny\n$keep" } );
    is( $deployed->status, 200, "$what: the rules are deployed" ) or diag $deployed->text;
    my @api   = stack()->make_client( 'api', { endpoints => ['introspect'] } );
    my @app   = stack()->make_client( 'app', { grants    => ['client_credentials'], scopes => ['orders.read'] } );
    my $token = stack()->token_text( @app, scope => 'orders.read' );
    for my $method (qw(GET POST)) {
        my $answer = stack()->introspect( @api, $token, context => qq({"method":"$method"}) );
        ok( $answer->member('active'), "... a new token is good for $method" ) or diag $answer->text;
        my $kept = $answer->member('extensions') // {};
        is( $kept->{cache_seconds}, $method eq 'GET' ? 10 : undef, '... and an answer is kept for GET alone' );
    }
    is( scalar @more, 0, '... and there are no others' );
    return;
}

# The rules are deployed together; the first one knows whose client it is. What the second one refuses is in
# t/http/admin/operator_rule.t, which takes it from the page too.
sub admin_rules {
    my ( $what, @text ) = @_;
    my %rules    = map { ( "custom/admin_$_.rego" => $text[$_] ) } 0 .. $#text;
    my $deployed = Authz::Policy->new( stack() )->deploy( rules => \%rules );
    is( $deployed->status, 200, "$what: the rules are deployed" ) or diag $deployed->text;
    for my $client (qw(shop-web bank-web)) {
        my %input = (
            subject => { claims    => { groups => ['shop'] } },
            action  => { operation => 'updateClient', method => 'PUT', values => [$client] } );
        my $answer = stack()->admin(
            POST => '/admin/api/policy-rules/evaluate',
            json => { path => 'custom/admin/deny', input => \%input } );
        is_deeply(
            $answer->member('result'), [ $client eq 'bank-web' ? 'this client belongs to another team' : () ],
            "... $client for a person of the team shop" ) or diag $answer->text;
    }
    return;
}

sub prometheus {
    my ( $what, @text ) = @_;
  SKIP: {
        my $promtool = Authz::Path::promtool();
        skip "$what: no promtool", scalar @text if !defined $promtool;
        my $rules = Authz::Path::source( 'etc', 'prometheus', 'authz.rules.yml' );
        for my $text (@text) {
            Authz::Web::write_file( "$dir/authz.token", 'token' );
            my $file = Authz::Web::write_file(
                "$dir/prometheus.yml",
                $text =~ s{/etc/prometheus/authz\.rules\.yml}{$rules}r =~
                  s{/etc/prometheus/authz\.token}{$dir/authz.token}r );
            my ( $status, $said ) =
              Authz::Process->run( name => 'promtool', command => [ $promtool, 'check', 'config', $file ] );
            is( $status, 0, "$what: Prometheus takes it" ) or diag $said;
        }
    }
    return;
}

done_testing;
