package Authz::Questions;

# This module makes random questions of the shipped policy: inputs near to real ones, and the rows that policy reads.
#   my $fixture   = Authz::Questions::fixture();        the documents of etc/policy/tests/fixture_test.rego, by OPA
#   my $questions = Authz::Questions->new($fixture);
#   $questions->seed(7);
#   my $rows = $questions->rows;                        {'svc/entitlements' => {...}, ...}
#   my ( $entrypoint, $input ) = $questions->ask;       'issue', {...}
#   Authz::Questions::text($document);                  as JSON
#
# An input begins as the fixture's or as one that its schema describes (etc/policy/inputs, which the service keeps to:
# t/http/policy/policy_inputs.t). Then parts are put in, left out or replaced: by other types, by numbers at the boundaries of what an
# engine can hold, by unusual texts, by names that no row has.

use strict;
use warnings;

use JSON::PP ();

use Authz::Inputs  ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

my $json = JSON::PP->new->utf8->canonical->allow_nonref;

# A number that Perl cannot hold is a text with this mark until the document is written.
my $NUMBER = "\x01number ";

# Words by member: rows and inputs are about the same clients, scopes and resources. Integers are in @INTEGER.
my @SCOPE = qw(orders.read orders.write stock.read openid profile admin introspection authzen uma_protection mcp
  github:read github:write);
my @CLIENT   = ( qw(crm crm crm shop pep nobody), 'https://app.example/c.json' );
my @TYPE     = qw(urn:r:orders urn:r:stock urn:r:other);
my @RESOURCE = (
    'https://api.example/orders', 'https://api.example',            'https://orders.example', 'https://orders.example/',
    'urn:svc:gateway',            'https://as.example/gateway/mcp', 'https://as.example/gateway/github' );
my @ISSUER = qw(https://statements.example https://pub.example https://idp.example https://as.example);
my @GRANT  = qw(client_credentials client_credentials authorization_code refresh_token
  urn:ietf:params:oauth:grant-type:token-exchange urn:openid:params:grant-type:ciba);
my @ADDRESS = qw(192.0.2.7 198.51.100.1 10.0.0.1 2001:db8::1 ::ffff:192.0.2.7);
my @NETWORK = qw(192.0.2.0/24 198.51.100.0/24 10.0.0.0/8 2001:db8::/32 0.0.0.0/0 ::/0 192.0.2.7/32);
my @USER    = qw(alice bob bea crm);
my @TIME    = qw(2026-11-20T11:00:00Z 2026-11-20T12:00:00Z 2035-01-01T00:00:00Z 2026-11-20T11:00:30.5Z);
my @METHOD  = qw(client_secret_basic client_secret_post private_key_jwt none bearer);
my %word    = (
    ( map { ( $_ => \@SCOPE ) } qw(scopes requested default ceiling requiredScopes block_scopes scope) ),
    ( map { ( $_ => \@CLIENT ) } qw(client_id actor subject_client allow_callers clients) ),
    ( map { ( $_ => \@TYPE ) } qw(types resource_types resource_type jit_resource_types) ),
    ( map { ( $_ => \@RESOURCE ) } qw(indicator resources resource resource_id audiences aud) ),
    ( map { ( $_ => \@ISSUER ) } qw(iss issuer issuers idp trusted_issuers statement_issuers) ),
    ( map { ( $_ => \@GRANT ) } qw(grants grant_type grant_types allowed_grant_types) ),
    ( map { ( $_ => \@ADDRESS ) } qw(ip) ),
    ( map { ( $_ => \@NETWORK ) } qw(allow_cidrs deny_cidrs) ),
    ( map { ( $_ => \@USER ) } qw(sub subject roles) ),
    ( map { ( $_ => \@TIME ) } qw(time expires_at) ),
    ( map { ( $_ => \@METHOD ) } qw(auth_method allowed_auth_methods token_endpoint_auth_method) ),
    id                    => [ @CLIENT, @USER, 't1', 't9' ],
    type                  => [ qw(user client todo payment), 'urn:x:order' ],
    name                  => [qw(write read create_issue get_status github)],
    path                  => [ '/repos/a/b/issues', '/status' ],
    groups                => [qw(ops corp/ops dev corp/dev staff)],
    claims_incomplete     => [qw(groups roles *)],
    acr                   => [qw(urn:loa:1 urn:loa:2)],
    allowed_acr           => [qw(urn:loa:1 urn:loa:2)],
    amr                   => [qw(pwd otp)],
    required_amr          => [qw(pwd otp)],
    authorization_details => [qw(payment transfer)],
    gateway_scopes        => [qw(* github:* mcp)],
    endpoints             => [qw(introspect authzen uma_protection)],
    software_id           => [qw(soft crm)],
    software              => [qw(soft crm)],
    uri                   =>
      [ 'https://app.example/cb', 'http://127.0.0.1/cb', 'http://localhost:8080/cb', 'com.example.app:/cb', 'no uri' ],
    scheme => [qw(https http com.example.app)],
    tz     => [qw(UTC UTC Europe/Berlin)],
    from   => [qw(09:00 00:00 22:30)],
    to     => [qw(17:00 11:30 06:00)],
    status => [qw(active active error)],
    any    => [ qw(a b crm orders.read user), "\x{dc}n\x{ef}code", "\x{1F600}", '<a&b>', '' ] );
my @INTEGER = ( 0, 1, -1, 2, 8, 60, 300, 3600, 1795172400, 1795172460, 1795176000, 1795172400000000000 );
my @ODD     = (
    undef, JSON::PP::true, JSON::PP::false, [], {}, [ [] ], { '' => undef }, '', 'x' x 300, "\x{e9}", "e\x{301}",
    "\x{1F600}", "\x{2028}", "a\0b", '<&>', '"\\', '08', '1e3', 'null', 'data', '*', '/', 1.5, @INTEGER,
    map {"$NUMBER$_"}
      qw(9007199254740993 9223372036854775807 9223372036854775808 -9223372036854775808 18446744073709551616 1e3 1e21
      1.0 -0 0.1 3600.0 1e-7 123456789012345678901234567890) );
my @MEMBER = qw(x-unknown type id scopes iss claims action name groups);

sub fixture {
    my @data =
      map { ( '--data', Authz::Path::source( qw(etc policy), $_ ) ) } qw(svc tests/fixture_test.rego tests_cedar);
    my ( $status, $text ) = Authz::Process->run(
        name    => 'opa', timeout => 120 * Authz::Process::patience(),
        command => [ Authz::Path::opa(), qw(eval --format raw), @data, <<'REGO' ] );
object.union({name: data.fixture[name] | some name in {"issue_input", "introspect_input", "register_input", "authzen_input", "admin_input",
"gateway_input", "bindings", "wide", "registry", "roles"}}, {name: data.effect_test[name] | some name in {"entities", "types"}})
REGO
    die "opa: $text" if $status != 0;
    return $json->decode($text);
}

sub new {
    my ( $class, $fixture ) = @_;
    my %row = map { ( m{/svc[.]([^/]+)[.]json\z}, $json->decode( Authz::Web::edit($_) ) ) }
      glob Authz::Path::source(qw(etc policy schemas)) . '/*.json';
    my %shipped = map { ( m{/svc[.]([^/]+)[.]json\z}, $json->decode( Authz::Web::edit($_) ) ) }
      glob Authz::Path::source(qw(etc policy data)) . '/*.json';
    return bless {
        fixture => $fixture, row => \%row, shipped => \%shipped,
        input   => { map { ( $_ => Authz::Inputs::schema($_) ) } Authz::Inputs::names() } }, $class;
}

sub seed { my ( undef, $seed ) = @_; srand $seed; return }

# Return a document as JSON, with the numbers that the marked texts stand for.
sub text {
    my ($document) = @_;
    return $json->encode($document) =~ s/"\\u0001number ([^"]*)"/$1/gr;
}

sub _one_of { return $_[ rand @_ ] }
sub _chance { my ($of)    = @_; return rand() < $of }
sub _word   { my ($name)  = @_; return _one_of( @{ $word{$name} // $word{any} } ) }
sub _copy   { my ($value) = @_; return $json->decode( $json->encode($value) ) }

# Return an object such as a party may send where any member is allowed.
sub _free {
    my ($depth) = @_;
    my %member;
    for ( 1 .. rand 4 ) {
        my $name = _one_of(qw(groups iss sub aud scope grants resources type actions act team level site id n));
        $member{$name} =
            $depth > 0 && _chance(0.2) ? _free( $depth - 1 )
          : _chance(0.3)               ? [ map { _word($name) } 1 .. rand 3 ]
          : _chance(0.15)              ? _one_of(@INTEGER)
          :                              _word($name);
    }
    return \%member;
}

# Return a value that a schema describes.
sub _described {
    my ( $root, $schema, $name ) = @_;
    $schema = $root->{'$defs'}{$1} while ( $schema->{'$ref'} // '' ) =~ m{\A\#/\$defs/(\w+)\z};
    return _described( $root, _one_of( @{ $schema->{anyOf} } ), $name ) if $schema->{anyOf};
    return _one_of( @{ $schema->{enum} } )                              if $schema->{enum};
    my $type = $schema->{type} // 'string';
    $type = _one_of(@$type) if ref $type;
    return [ map { _described( $root, $schema->{items} // {}, $name ) } 1 .. rand 4 ] if $type eq 'array';
    return _chance(0.5) ? JSON::PP::true : JSON::PP::false                            if $type eq 'boolean';
    return _one_of(@INTEGER) if $type eq 'integer' || $type eq 'number';
    return undef             if $type eq 'null';
    return _word($name)      if $type ne 'object';
    my ( %member, %must );
    @must{ @{ $schema->{required} // [] } } = ();

    for my $key ( sort keys %{ $schema->{properties} // {} } ) {
        $member{$key} = _described( $root, $schema->{properties}{$key}, $key )
          if exists $must{$key} || _chance(0.4);
    }
    my $more = $schema->{additionalProperties};
    return _free(2) if $more && ref $more ne 'HASH';
    if ($more) {
        my $kind = $schema->{'x-key'} // $name;
        $kind = $kind eq 'subject_id' ? 'sub' : $kind =~ /_type\z/ && $kind ne 'resource_type' ? 'type' : $kind;
        $member{ _word($kind) } = _described( $root, $more, $kind ) for 1 .. rand 4;
    }
    return \%member;
}

# Return all places in a document, each as the container and the name or index in it.
sub _places {
    my ($value) = @_;
    return ( map { ( [ $value, $_ ], _places( $value->{$_} ) ) } sort keys %$value ) if ref $value eq 'HASH';
    return ( map { ( [ $value, $_ ], _places( $value->[$_] ) ) } 0 .. $#$value )     if ref $value eq 'ARRAY';
    return;
}

# Change one place: leave it out, or replace it.
sub _change {
    my ($document) = @_;
    my $place = _one_of( _places($document) ) // return;
    my ( $in, $at ) = @$place;
    if ( ref $in eq 'ARRAY' ) {
        my $kind = int rand 3;
        splice @$in, $at, $kind == 0 ? 0 : 1, $kind == 1 ? () : _chance(0.5) ? _copy( $in->[$at] ) : _one_of(@ODD);
        return;
    }
    my $kind = int rand 10;
    if    ( $kind < 3 )  { delete $in->{$at} }
    elsif ( $kind < 6 )  { $in->{$at}                = _one_of(@ODD) }
    elsif ( $kind < 8 )  { $in->{$at}                = _word($at) }
    elsif ( $kind == 8 ) { $in->{ _one_of(@MEMBER) } = _one_of( @ODD, $in->{$at} ) }
    else                 { $in->{$at}                = [ $in->{$at} ] }
    return;
}

# Return rows as a service may have them: those of the tests, those that the schemas describe, and now and then one that no
# schema admits.
sub rows {
    my ($self) = @_;
    my $of = sub {
        my ($key) = @_;
        my $root  = $self->{row}{$key} // die "no schema of $key\n";
        my $row   = _described( $root, $root, $key );
        _change($row) if _chance(0.08);
        return $row;
    };
    my $own      = $self->{fixture};
    my $bindings = _chance(0.75) ? _copy( _one_of( $own->{bindings}, $own->{wide} ) ) : $of->('entitlements.bindings');
    if ( _chance(0.3) ) {
        my $more = $of->('entitlements.bindings');
        if ( ref $more->{clients} eq 'HASH' ) {
            $bindings->{clients}{$_} = $more->{clients}{$_} for sort keys %{ $more->{clients} };
        }
        $bindings->{$_} = $more->{$_} for grep { $more->{$_} && _chance(0.5) } qw(registrations software scopes);
    }
    _change($bindings) if _chance(0.1);
    my $calm = _chance(0.4);
    my %control;
    for my $key ( sort grep {/\Aoperator[.]controls[.]/} keys %{ $self->{row} } ) {
        my ($name) = $key =~ /([^.]+)\z/;
        $control{$name} = $calm || _chance(0.5) ? _copy( $self->{shipped}{$key} ) : $of->($key) if _chance(0.9);
    }
    $control{authzen} = { %{ $control{authzen} // {} }, %{ $own->{roles} } } if _chance(0.7);
    return {
        'svc/entitlements' => _chance(0.98) ? { bindings => $bindings } : {},
        'svc/operator'     => { controls       => \%control },
        'svc/registry'     => { resource_types => _chance(0.75) ? $own->{registry} : $of->('registry.resource_types') },
        'svc/cedar_data'   => {
            types    => _chance(0.5) ? $own->{types} : $of->('cedar_data.types'),
            entities => $own->{entities} } };
}

# Return the input of the fixture. That about several tools is made of the one about a single request.
sub _plain {
    my ( $self, $name ) = @_;
    my $own = $self->{fixture};
    return _copy( $own->{"${name}_input"} ) if $own->{"${name}_input"};
    my $root  = $self->{input}{$name};
    my %plain = ( %{ _copy( $own->{gateway_input} ) }, evaluation => 'gateway_tools' );
    delete @plain{qw(resource action arguments)};
    $plain{$_} = _described( $root, $root->{properties}{$_}, $_ ) for qw(resources tools);
    unshift @{ $plain{resources} }, $own->{gateway_input}{resource};

    for my $tool ( @{ $plain{tools} } ) {
        $tool->{resource} = int rand 3;
        $tool->{action}   = $own->{gateway_input}{action} if _chance(0.5);
    }
    return _copy( \%plain );
}

sub ask {
    my ($self) = @_;
    my $entrypoint =
      _one_of(qw(issue issue introspect introspect authzen authzen_batch gateway gateway_tools register admin));
    my $name  = $entrypoint eq 'authzen_batch' ? 'authzen' : $entrypoint;
    my $root  = $self->{input}{$name};
    my $input = _chance(0.7) ? $self->_plain($name) : _described( $root, $root, $name );
    for ( 1 .. _one_of( 0, 0, 1, 1, 2, 3 ) ) {
        my $member = _one_of( sort keys %{ $root->{properties} } );
        next if $member =~ /\A(?:schema|evaluation)\z/;
        my $other = _described( $root, $root->{properties}{$member}, $member );
        $input->{$member} =
          ref $other eq 'HASH' && ref $input->{$member} eq 'HASH' && _chance(0.7)
          ? { %{ $input->{$member} }, %$other }
          : $other;
    }
    if ( $entrypoint eq 'authzen_batch' ) {
        $input->{evaluation} = 'authzen_batch';
        $input->{authzen}    = {
            evaluations => [
                map {
                    _chance(0.5) ? _copy( $input->{authzen} ) : _described( $root, $root->{properties}{authzen}, 'a' )
                } 1 .. rand 5 ] };
    }
    _change($input) for 1 .. _one_of( 0, 0, 0, 0, 1, 1, 2, 3 );
    return ( $entrypoint, $input );
}

1;
