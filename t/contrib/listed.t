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
