#!/usr/bin/perl
# idp create and idp home: a provider that cannot be used is not offered, and the home issuer is told and changed (decisions.md
# "Subject identifiers").
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use JSON::PP     ();
use MIME::Base64 ();
use Test::More;

use Authz::Grant ();
use Authz::Idp   ();
use Authz::Stack ();
use Authzctl;

my $stack = Authz::Stack->start( settings => { Authz::Idp->settings } );
my $env   = $stack->settings;
my %far   = ( SVC_CONFIG => '/dev/null', AUTHZ_ADMIN_KEY => $Authz::Stack::KEY{SVC_ADMIN_API_KEY} );
my $corp  = Authz::Idp->start;
my $demo  = Authz::Idp->start;

# The options of a provider, with its secret in a file.
sub provider {
    my ($idp) = @_;
    my $dir = tree( 'idp.json' => JSON::PP->new->encode( { clientSecret => $idp->{client_secret} } ) );
    return ( '--client-id', $idp->{client_id}, '--issuer', $idp->issuer, '--file', "$dir/idp.json" );
}

sub run {
    my ( $status, $words, $name ) = @_;
    return ctl_is( $status, $words, $name, env => $env );
}
sub home { my ($name) = @_; return run( 0, [qw(idp home --json)], $name )->{json} }

is_deeply( home('without a provider'), { source => 'none' }, '... there is no home issuer' );

# ---- a provider that cannot be used

my $dead =
  run( 0, [ qw(idp create dead --client-id x --issuer), 'http://127.0.0.1:1' ], 'idp create of a dead issuer' );
like( $dead->{out}, qr/^enabled +false$/m, '... makes it, disabled' );
like( $dead->{out}, qr/^home +false$/m,    '... and not the home' );
like( $dead->{err}, qr/warning: issuer: /, '... with a warning that says why' );
like(
    $dead->{err}, qr/dead is disabled, because its issuer cannot be used; .* idp update dead --enable/,
    '... and what to do' );
unlike( $dead->{out}, qr/warnings/, '... not in the table' );
is( $stack->sql(q{SELECT enabled FROM identity_provider WHERE idp_id = 'dead'}), 'f', '... in the database, too' );
like(
    run( 0, [ qw(idp create forced --enable --client-id x --issuer), 'http://127.0.0.1:2' ], '... with --enable' )
      ->{out},
    qr/^enabled +true$/m, '... it is enabled' );
run( 0, [qw(idp delete --yes forced)], '(deleted)' );

# ---- who is home

like(
    run( 0, [ qw(idp create corp), provider($corp) ], 'idp create of a provider that answers' )->{out},
    qr/^home +true$/m, '... says that it is the home: the oldest that is enabled' );
like(
    run( 0, [ qw(idp create demo), provider($demo) ], '... and of a second one' )->{out},
    qr/^home +false$/m, '... that it is not' );
is_deeply(
    home('before a sign-in'), { issuer => $corp->issuer, idpId => 'corp', source => 'oldest' },
    '... the oldest' );

# ---- a change

my %code = ( grants => ['authorization_code'], scopes => ['openid'] );
my @web  = $stack->make_client( 'web', {%code}, redirectUris => [$Authz::Grant::REDIRECT] );

sub name_of {
    my ( $idp, $id, $sub ) = @_;
    my $tokens = $idp->sign_in( $stack, \@web, $sub, 'openid', idp_hint => $id );
    return ( Authz::Grant->jwt( $tokens->member('id_token') ) )[1]{sub};
}
is( name_of( $corp, 'corp', 'alice' ), 'alice',      'a person of the home issuer has the sub' );
is( name_of( $demo, 'demo', 'carol' ), 'demo|carol', 'one of another provider has not' );
my $changed = run( 0, [qw(idp home --yes demo)], 'idp home demo' );
like( $changed->{out}, qr/^Names that people have stay as they are$/m,             '... tells what follows' );
like( $changed->{out}, qr/^New people of \Q@{[ $demo->issuer ]}\E get their sub/m, '... for its people' );
like(
    $changed->{out}, qr/^New people of \Q@{[ $corp->issuer ]}\E .*; 1 of its people/m,
    '... and for those of the one before' );
is_deeply( home('afterwards'), { issuer => $demo->issuer, idpId => 'demo', source => 'stored' }, '... it is stored' );
is( name_of( $demo, 'demo', 'dave' ),  'dave',       '... a new person has the sub, in a process that knew the other' );
is( name_of( $demo, 'demo', 'carol' ), 'demo|carol', '... a known one keeps the name' );
isnt( name_of( $demo, 'demo', 'alice' ), 'alice', '... and none gets a name that is taken' );
is( name_of( $corp, 'corp', 'erin' ), 'corp|erin', '... new people of the other have its idpId' );
run( 0, [qw(idp delete --yes demo)], 'the home is deleted' );
is_deeply( home('then'), { issuer => $demo->issuer, source => 'stored' }, '... and its place is not given to another' );
is( name_of( $corp, 'corp', 'frank' ), 'corp|frank', '... whose people have its idpId as before' );
is( ctl_is( 0, [ qw(idp home --json --server), $stack->base ], 'idp home over the API', env => \%far )->{json}{source},
    'stored', '... tells the same' );

# ---- a logo

my %picture  = ( png => "\x89PNG\r\n\x1a\nxx", jpeg => "\xff\xd8\xffxx", webp => 'RIFFxxxxWEBPxx' );
my $pictures = tree(
    ( map { ( "a.$_" => $picture{$_} ) } keys %picture ),
    'most.png' => $picture{png} . 'x' x 16374, 'more.png' => $picture{png} . 'x' x 16375,
    'a.svg'    => '<svg xmlns="http://www.w3.org/2000/svg"/>', 'none.png' => '', 'off.json' => '{"logo": null}' );
my $logo_of = sub { run( 0, [qw(idp show corp --json)], '... is stored' )->{json}{logo} };
for my $type ( sort keys %picture ) {
    my $made = run( 0, [ qw(idp update corp --logo), "$pictures/a.$type" ], "idp update --logo with a $type" );
    like( $made->{out}, qr{^logo +data:image/$type;base64,\.\.\. \(\d+ characters}m, '... shows its type' );
    is( $logo_of->(), "data:image/$type;base64," . MIME::Base64::encode_base64( $picture{$type}, '' ),
        '... as a data: URL' );
}
run( 0, [ qw(idp update corp --name), 'Corp' ], 'a change of another member' );
like( $logo_of->(), qr{\Adata:image/webp;}, '... with the logo as before' );
run( 0, [ qw(idp update corp --logo), "$pictures/most.png" ], 'limit: a picture of 16384 octets' );
my $stored = $logo_of->();
for my $case (
    [ 'more.png', qr/larger|16 KiB/,                                               'limit: one octet more is refused' ],
    [ 'a.svg',    qr/a\.svg is of another type; give a PNG, JPEG or WebP picture/, 'an SVG is refused' ],
    [ 'none.png', qr/none\.png/, 'an empty file' ], [ 'missing.png', qr/missing\.png/, 'no file' ] )
{
    my ( $file, $says, $name ) = @$case;
    like( run( 1, [ qw(idp update corp --logo), "$pictures/$file" ], $name )->{err}, $says, '... and says why' );
}
is( $logo_of->(), $stored, '... nothing changed' );
run( 0, [ qw(idp update corp --file), "$pictures/off.json" ], 'null in --file takes it away' );
is( $logo_of->(), undef, '... so there is none' );

# ---- refused

like(
    run( 1, [qw(idp home --yes nobody)], 'an unknown provider' )->{err}, qr/no such enabled identity provider/,
    '... is refused' );
run( 1, [qw(idp home --yes dead)], 'a disabled provider' );
like(
    ctl_is(
        1, [qw(idp home --yes corp)], 'beside the setting', env => { %$env, SVC_SUBJECT_HOME_ISSUER => $corp->issuer }
    )->{err},
    qr/SVC_SUBJECT_HOME_ISSUER is set and decides/,
    '... is refused' );
is( $stack->sql('SELECT issuer FROM home_issuer'), $demo->issuer, '... nothing changed' );

done_testing;
