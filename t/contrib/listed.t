# Lists of one table of the source that another place has to repeat by hand: pages, settings that are limits, and the members of an
# authorization request. A name that a place forgot is told here.
use strict;
use warnings;

use Test::More;

use Authz::Path ();
use Authz::Web  ();

sub text_of { return Authz::Web::edit( Authz::Path::source(@_) ) }

# The names that the first list lacks of the second.
sub lacks {
    my ( $have, $named ) = @_;
    my %have = map { ( $_ => 1 ) } @{$have};
    return join q{ }, grep { !$have{$_} } @{$named};
}

# ---- pages: fcgi/http/page/page_rows.c is the table. The compiler counts its rows, and page-t shows each.

my @page = text_of(qw(fcgi http page page_rows.c)) =~ /^    \{"(\w+)",/mg;
my %template =
  map { ( /(\w+)[.]html\z/ ? ( $1 => Authz::Web::edit($_) ) : () ) } glob Authz::Path::source(qw(etc www)) . '/*.html';
my @part     = map {/\{\{>(\w+)\}\}/g} values %template;
my @rendered = text_of(qw(t pages pages.mjs)) =~ /^ *'[^'\n]+': \['(\w+)',/mg;
cmp_ok( scalar @page, '>=', 14, 'fcgi/http/page/page_rows.c: the pages are read' );
is( lacks( [ keys %template ], \@page ), q{}, '... each has a template in etc/www' );
is( lacks( [ @page, @part ], [ sort keys %template ] ), q{},
    '... each template in etc/www is a page, or a part of one' );
my @walked = text_of(qw(t pages link.mjs)) =~ /\bisWell\(\w+, '(\w+)/g;
is( lacks( [ @rendered, @walked ], \@page ),     q{}, '... t/pages/pages.mjs or link.mjs looks at each in a browser' );
is( lacks( \@page,                 \@rendered ), q{}, '... and pages.mjs at no other' );
is( lacks( [ text_of(qw(etc www README)) =~ /^(\w+) +\S/mg ], \@page ), q{}, '... etc/www/README has a line for each' );

# ---- the sections of the error page: the template has their words, and page.c says which failure has which

my $table = text_of(qw(fcgi http page page.c));
my @failure =
  map { [/\{(\d+), +(NULL|"\w+"), +"(\w+)" *\}/] } $table =~ /^    (\{\d+, +(?:NULL|"\w+"), +"\w+" *\}),$/mg;
my ($choose) = $table =~ /^error_kind\(.*?\n(.*?)^\}/ms;
my @kind     = ( ( map { $_->[2] } @failure ), $choose =~ /"(\w+)"(?=;| :)/g );
my @section  = grep { !/_href\z/ } map {/\{\{#(\w+)\}\}\n/g} $template{error};
cmp_ok( scalar @failure, '>=', 8, 'fcgi/http/page/page.c: the failures with a section of their own are read' );
is( lacks( \@kind,    \@section ), q{}, '... each section of error.html has a failure' );
is( lacks( \@section, \@kind ),    q{}, '... and each failure a section' );
my @link_code = text_of(qw(fcgi base status.c)) =~ /"(link_\w+)"/g;
cmp_ok( scalar @link_code, '>=', 4, 'fcgi/base/status.c: the codes of links are read' );
is( lacks( [ map { $_->[1] =~ /(\w+)/ } @failure ], \@link_code ), q{}, '... each has a row in page.c' );

# The section that a state of pages.mjs shows.
sub section_of {
    my ($state) = @_;
    my ( $status, $error ) = map { $state =~ /\b$_: '?(\w+)/ } qw(status error);
    return 'console' if $state =~ m{path: '/admin/};
    my ($row) =
      grep { ( !$_->[0] || $_->[0] == $status ) && ( $_->[1] eq 'NULL' || $_->[1] eq qq{"$error"} ) } @failure;
    return $row ? $row->[2] : $status >= 500 ? 'broken' : 'refused';
}
my @state = grep {/\bstatus: /} text_of(qw(t pages pages.mjs)) =~ /: \['error', (\{.*?\})/g;
is( lacks( [ map { section_of($_) } @state ], \@section ), q{}, '... t/pages/pages.mjs has a state with each section' );

# ---- members that the service sets by itself: the tables of the admin API say so (FIELD_READ_ONLY)

my ( $kinds, $client_js ) = ( text_of(qw(cli instance kinds.c)), text_of(qw(etc portal js parts client.js)) );
for my $case (
    [ client   => qw(admin people client_dto.c) ],
    [ provider => qw(admin people identity_provider_dto.c) ],
    [ resource => qw(managed document.c) ] )
{
    my ( $name, @file ) = @$case;
    my @set = text_of( 'fcgi', @file ) =~ /\{"(\w+)",\s*FIELD_READ_ONLY\b/g;
    my ($omitted) = $kinds =~ /\b${name}_omitted\[\] = \{(.*?)\}/s;
    cmp_ok( scalar @set, '>=', 1, "$file[-1]: the members that the service sets are read" );
    is( lacks( [ $omitted =~ /"(\w+)"/g ], \@set ), q{},
        "... cli/instance/kinds.c writes none of a $name into a file" );
    next if $name ne 'client';
    my ($own) = $client_js =~ /SERVICE_OWN = \[(.*?)\]/s;
    is( lacks( [ $own =~ /'(\w+)'/g ], \@set ), q{}, '... nor does the console' );
}

# ---- settings that are limits: doc/limits.md has them, and t/contrib/pages.t holds the numbers

my @limit = text_of(qw(doc reference settings.md)) =~ /^\| `(\w+)` \| (?:Maximum (?:number|size)|Time limit)\b/mg;
cmp_ok( scalar @limit, '>=', 13, 'doc/reference/settings.md: the settings that are limits are read' );
is( lacks( [ text_of(qw(doc limits.md)) =~ /\b(SVC_\w+)/g ], \@limit ), q{}, '... doc/limits.md has each' );

# ---- an authorization request: struct authorization, the row in which it waits, and the links of pages that repeat it

my ($struct) = text_of(qw(fcgi token authorization.h)) =~ /^struct authorization \{\n(.*?)^\};/ms;
$struct =~ s{/[*].*?[*]/}{}gs;
my @member = map {/(\w+)\s*(?=[,;])/g} split /\n/, $struct;
cmp_ok( scalar @member, '>=', 25, 'fcgi/token/authorization.h: the members of a request are read' );
my $stored = text_of(qw(fcgi token authorization.c));
my @kept   = ( $stored =~ /\bINTO\((\w+)\)/g, map { $stored =~ /json_object_set(?:_new)?\(object, "(\w+)"/g } 1 );
is( lacks( \@kept, \@member ), q{}, '... the stored row keeps each, so that none is lost while a person signs in' );
is( lacks( [ $stored =~ /authorization->(\w+) = /g, $stored =~ /\bINTO\((\w+)\)/g, 'details' ], \@member ),
    q{}, '... and gives each back' );

# Members that are no parameter of the client, or that a page's link says in another way.
my %unsaid = (
    hint_subject => 'id_token_hint limits prompt=none, with which no page is shown',
    prompt_none  => 'no page is shown',
    idp_hint     => 'the link is that of the provider which the user chooses',
    signed_in    => 'the link begins again',
    again        => 'the same',
    own_page     => 'no client asks, so the pages make links of their own',
    for_console  => 'the same',
    flow_id      => 'a new request has a new one',
    asked_at     => 'the same',
);
my @said = text_of(qw(fcgi oidc authorize_link.c)) =~ /authorization->(\w+)/g;
is( lacks( [ @said, keys %unsaid ], \@member ), q{}, '... a link of a page repeats each, or this file says why not' );
is( lacks( \@member,                [ sort keys %unsaid ] ), q{}, '... which it says of members alone that there are' );

done_testing;
