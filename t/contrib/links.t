#!/usr/bin/perl
# README and the pages of doc: their links lead somewhere. t/contrib/walk.t runs their commands.
use strict;
use warnings;

use Test::More;

use Authz::Path ();
use Authz::Web  ();

# ---- the pages lead to files that exist

for my $name (
    'README', 'doc/README',
    map {m{(doc/(?:[\w-]+/)?[^/]+)\z}} glob( Authz::Path::source('doc') . '/{,providers/,mcp-clients/}*.md' ) )
{
    my $text = Authz::Web::edit( Authz::Path::source($name) );
    my ($in) = $name =~ m{\A(.*/)?};
    my @link = $text =~ /\]\(([^):#]+)(?:#[^)]*)?\)/g;
    @link = map {"../$_"} $text =~ m{(?<![\w./-])((?:doc|build-aux|contrib|etc|fcgi|cli|sql|t)/[\w./-]*[\w/])}g
      if $name =~ /security-model/ || $name =~ /README|source/ && !@link;
    my @gone = grep { !-e Authz::Path::source( ( $in // '' ) . (s{\A\.\./}{$name eq 'README' ? '' : '../'}er) ) } @link;
    is( "@gone", '', "$name: what it names exists" );
}

# The website has the pages of doc/ alone; what else they link to becomes a download, but a page does not (build-aux/site/conf.py).
for my $file ( glob( Authz::Path::source('doc') . '/{,providers/,mcp-clients/}*.md' ) ) {
    my $up      = $file                   =~ m{/doc/[^/]+/} ? qr{\.\./\.\./} : qr{\.\./};
    my @outside = Authz::Web::edit($file) =~ m{\]\(($up[^)]*\.md)[)#]}g;
    is( "@outside", '', ( $file =~ s{.*/}{}r ) . ': links to no page outside doc/, which make html refuses' );
}

done_testing;
