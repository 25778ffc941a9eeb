# /admin/api/controls, /settings and /{id}: the settings of policy and the reasons it gives (specification 4.12; policy.md
# 6.4).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Path  ();
use Authz::Stack ();

my $stack = Authz::Stack->start;
my $json  = JSON::PP->new->canonical;
my $base  = '/admin/api/controls';

sub slurp {
    my (@path) = @_;
    open my $in, '<', Authz::Path::source( 'etc', 'policy', @path ) or die "@path: $!";
    local $/ = undef;
    return scalar readline $in;
}
sub shipped { return JSON::PP->new->utf8->decode( slurp(@_) ) }

sub same {
    my ( $have, $want, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return is( $json->encode($have), $json->encode($want), $name );
}

# A type of JSON Schema is a name or a list of names.
sub types { my ($type) = @_; return ref $type ? @$type : $type }

# In order, each once.
sub ordered {
    my %seen;
    return sort grep { !$seen{$_}++ } @_;
}

my @catalogue = @{ shipped('controls.json') };

# ---- the list

my $list = $stack->admin( GET => $base );
is( $list->status,   200,     'GET: 200' );
is( ref $list->json, 'ARRAY', 'GET: an array (specification 4.12)' ) or BAIL_OUT( $list->text );
my @rows = @{ $list->json };
same(
    [ map { $_->{id} } @rows ], [ map { $_->{id} } @catalogue ],
    'GET: every control of the catalogue, in its order' );
is( scalar( my @ids = ordered( map { $_->{id} } @rows ) ), scalar @rows, 'GET: each once' );
same(
    [ ordered( map { join ' ', sort keys %$_ } @rows ) ],
    ['configurable decides entrypoints id reasons settings title'],
    'GET: compact rows: what it decides, entrypoints, whether configurable, settings it owns, its reasons' );
is_deeply(
    [ grep { !JSON::PP::is_bool( $_->{configurable} ) || ( $_->{configurable} xor @{ $_->{settings} } ) } @rows ], [],
    'GET: the configurable ones are those with settings' );
is( $stack->admin( GET => $base )->body, $list->body, 'GET: the same octets each time' );
is( $list->header('Cache-Control'),      'no-store',  'GET: not to be cached' );

# ---- the settings

my $answer = $stack->admin( GET => "$base/settings" );
is( $answer->status,   200,    'settings: 200; the word is no id' );
is( ref $answer->json, 'HASH', 'settings: an object (specification 4.12)' ) or BAIL_OUT( $answer->text );
my %settings = %{ $answer->json };
cmp_ok( scalar keys %settings, '>', 60, 'settings: the complete surface' );
same(
    [ sort map { @{ $_->{settings} } } @rows ], [ sort keys %settings ],
    'settings: each is owned by one control of the list' );
is_deeply(
    [ grep { !/\A[a-z_.]+#(?:\/(?:[A-Za-z_]+|\{[a-z_]+\}))+\z/ } keys %settings ], [],
    'settings: they are named <policy-data row>#<path>' );
is_deeply(
    [   grep { join( ' ', sort keys %{ $settings{$_} } ) ne 'control default description required type' }
          keys %settings ],
    [],
    'settings: each has type, default, description and control (policy.md 6.4)' );
is_deeply(
    [   grep {
            grep( { !/\A(?:object|array|string|integer|boolean)\z/ } types( $settings{$_}{type} ) )
              || $settings{$_}{description} !~ /\w.*\./
        } keys %settings ],
    [],
    'settings: types are those of JSON Schema, descriptions are sentences' );
is_deeply(
    [   grep { !defined $settings{$_}{default} && !$settings{$_}{required} && $settings{$_}{description} !~ /Absent: / }
          keys %settings ],
    [],
    'settings: without default one is required, or says what its absence means' );
my %owner = map {
    my $id = $_->{id};
    map { $_->{key} => $id } @{ $_->{rows} }
} @catalogue;
is_deeply(
    [ grep { $settings{$_}{control} ne ( $owner{ ( split /#/ )[0] } // 'nobody' ) } keys %settings ], [],
    'settings: control is the one that owns the row' );
same( [ ordered( map { ( split /#/ )[0] } keys %settings ) ], [ sort keys %owner ], 'settings: of every row' );
for my $case (
    [   'svc.operator.controls.introspection#/require_audience',
        { type => 'boolean', default => JSON::PP::true(), control => 'introspection', required => JSON::PP::false() } ],
    [   'svc.operator.controls.lifetime#/by_resource_type/{resource_type}',
        { type => 'integer', default => undef, control => 'lifetime', required => JSON::PP::false() } ],
    [   'svc.entitlements.bindings#/clients/{client_id}/scopes',
        { type => 'array', default => [], control => 'entitlements', required => JSON::PP::false() } ],
    [   'svc.entitlements.bindings#/registrations/DCR/grants',
        { type => 'array', default => [], control => 'entitlements', required => JSON::PP::false() } ],
    [   'svc.operator.controls.environment#/hours/tz',
        { type => 'string', default => undef, control => 'environment', required => JSON::PP::true() } ],
    [   'svc.operator.controls.trust#/trusted_issuers/{index}/issuer',
        { type => 'string', default => undef, control => 'trust', required => JSON::PP::true() } ],
  )
{
    my %have = %{ $settings{ $case->[0] } // {} };
    delete $have{description};
    same( \%have, $case->[1], "settings: $case->[0]" );
}

# A row written as the settings describe it is accepted.
my $row     = '/admin/api/policy-data/by-key?dataKey=svc.operator.controls.introspection';
my $default = $settings{'svc.operator.controls.introspection#/narrow_to_context'}{default};
is( $stack->admin( PATCH => $row, json => { narrow_to_context => $default } )->status, 200,
    'settings: a default may be written' );

# ---- each control

my @told;
for my $listed (@catalogue) {
    my $id  = $listed->{id};
    my $got = $stack->admin( GET => "$base/$id" );
    is( $got->status, 200, "$id: 200" ) or diag( $got->text );
    my %one = %{ $got->json // {} };
    my ($compact) = grep { $_->{id} eq $id } @rows;
    same( { map { $_ => $one{$_} } keys %$compact }, $compact, "$id: says what the list says" );
    same(
        [ @one{qw(inputs outputs reasons)} ], [ @$listed{qw(inputs outputs reasons)} ],
        "$id: inputs, outputs, and every reason code with its category (specification 4.12)" );
    same(
        $one{rows},
        [   map {
                { %$_, schema => shipped( 'schemas', "$_->{key}.json" ) }
            } @{ $listed->{rows} } ],
        "$id: its rows, who may write them, and their schemas" );
    push @told, map { $_->{code} } @{ $one{reasons} };
    my @wrong = grep { !site_ok( $id, $_ ) } @{ $one{sites} };
    same( \@wrong, [], "$id: at every site stands what is said to" );
    same(
        [ ordered( map { $_->{code} // () } @{ $one{sites} } ) ], [ sort map { $_->{code} } @{ $one{reasons} } ],
        "$id: every reason has a site, and no other" );
    is( !!@{ $one{sites} }, !!@{ $one{entrypoints} },
        "$id: it is written somewhere exactly when an entrypoint asks it" );
    same(
        $one{sites}, [ sort { $a->{file} cmp $b->{file} || $a->{line} <=> $b->{line} } @{ $one{sites} } ],
        "$id: sites in order" );
}

# The line of a site, its package, and the rule that it is in.
sub site_ok {
    my ( $id, $site ) = @_;
    return own_site_ok($site) if $id eq 'system';
    my @lines     = split /\n/, slurp( split m{/}, $site->{file} );
    my $line      = $lines[ $site->{line} - 1 ] // '';
    my ($package) = map {/\Apackage (\S+)/} @lines;
    return $line eq "package $site->{rule}" && $site->{rule} eq "svc.controls.$id" if !defined $site->{code};
    my ($head) = grep { !/\A(?:import|package|else)\b/ } grep {/\A[a-z_]/} reverse @lines[ 0 .. $site->{line} - 1 ];
    my ($name) = $head =~ /\A(?:default )?(\w+)/;
    return $line =~ /"code": "\Q$site->{code}\E".*"control": "\Q$id\E"/ && $site->{rule} eq "$package.$name";
}

# The service gives the reasons of the control system itself, out of a table with its message.
sub own_site_ok {
    my ($site) = @_;
    my ($reason) =
      grep { $_->{code} eq $site->{code} } map { $_->{id} eq 'system' ? @{ $_->{reasons} } : () } @catalogue;
    my $line = ( split /\n/, slurp( '..', '..', split m{/}, $site->{file} ) )[ $site->{line} - 1 ] // '';
    return $line =~ /ROW\("\Q$site->{code}\E", "\Q$reason->{message}\E"\)/ && $site->{rule} eq 'no_decision_rows';
}

my @emitted = slurp( '..', '..', qw(fcgi policy engine no_decision.c) ) =~ /ROW\("([a-z_]+)"/g;
is( scalar @emitted, 4, 'reasons: found in the table of the service (policy.md 6.4, control system)' );
for my $file ( glob Authz::Path::source( 'etc', 'policy', 'svc' ) . '/*/*.rego' ) {
    open my $in, '<', $file or die "$file: $!";
    push @emitted, map {/"code": "([a-z_]+)"/} <$in>;
}
cmp_ok( scalar @emitted, '>', 20, 'reasons: found in the rules' );
same(
    [ sort @told ], [ ordered(@emitted) ],
    'reasons: every code that the rules and the service give is in an answer, and the reverse; each belongs to one control'
);

# ---- every row that C reads is owned (policy.md 6.4)

my @c = ( glob( Authz::Path::source('fcgi') . '/{*/,*/*/}*.[ch]' ), glob( Authz::Path::source('cli') . '/*.c' ) );

# No row: the entities are made of other rows.
my %absent = ( 'svc.cedar_data.entities' => 1 );
my %read;
for my $file (@c) {
    open my $in, '<', $file or die "$file: $!";
    my $text = do { local $/ = undef; readline $in };
    $read{$1}++ while $text =~ /"(svc\.(?:operator|entitlements|registry|cedar_data)\.[a-z_.]+)"/g;
}
ok( $read{'svc.registry.resource_types'}, 'rows: those that C reads are found' );
is_deeply( [ grep { !$owner{$_} && !$absent{$_} } keys %read ], [], 'rows: every one is owned by a control' );

# ---- refuses

my %bad = ( 'no key' => undef, 'an empty key' => '', 'a wrong key' => 'wrong' );
for my $path ( $base, "$base/settings", "$base/client", "$base/nobody" ) {
    admin_error( $stack->admin( GET => $path, key => $bad{$_} ), 401, "$_ on $path is 401", error => 'unauthorized' )
      for sort keys %bad;
    for my $method (qw(POST PUT PATCH DELETE)) {
        my $refused = $stack->admin( $method => $path, json => {} );
        admin_error( $refused, 405, "$method on $path is 405" );
        like( $refused->header('Allow') // '', qr/\AGET\b/, "$method on $path: Allow names GET" ) if $method eq 'POST';
    }
}
admin_error( $stack->admin( GET => "$base/$_->[0]" ), 404, "$_->[1] is 404 with an empty body" )
  for [ 'nobody', 'an unknown id' ], [ 'Client', 'an id in another case' ], [ 'clients', 'a longer id' ],
  [ 'clien',              'a shorter id' ],
  [ '..%2Fcontrols.json', 'a path for an id' ],             [ 'svc.operator.controls.client', 'the name of a row' ],
  [ 'client/',            'an id with a slash behind it' ], [ 'client/rows', 'a path below a control' ];
is( $stack->admin( HEAD => "$base/client" )->status, 200, 'HEAD wherever GET (RFC 9110 9.3.2)' );

# ---- without the files nothing is made up

my $dir = Authz::Process::directory() . '/bare';
mkdir $dir or die "$dir: $!";
symlink Authz::Path::source(@$_), "$dir/$_->[-1]" or die "symlink: $!" for ['sql'], [ 'etc', 'www' ];
my $bare = Authz::Stack->start( beside => $stack, settings => { SVC_DATA_DIR => $dir } );
for my $path ( $base, "$base/settings", "$base/client", "$base/nobody" ) {
    admin_error( $bare->admin( GET => $path ), 500, "the catalogue is away: $path is 500", error => 'server_error' );
}
is( $bare->admin( GET => '/admin/api/clients' )->status, 200, 'the catalogue is away: the rest goes on' );
mkdir "$dir/policy";
symlink Authz::Path::source( 'etc', 'policy', $_ ), "$dir/policy/$_"
  or die "symlink: $!"
  for qw(controls.json schemas svc);
is( $bare->admin( GET => "$base/client" )->status, 200, 'the catalogue is back: it is read anew' );

done_testing;
