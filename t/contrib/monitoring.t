# etc/prometheus and etc/grafana: the rules are valid and fire where they should, and both name metrics, labels and values that
# exist (doc/reference/metrics.md, which t/contrib/reference.t holds against the table).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

sub text_of { return Authz::Web::edit( Authz::Path::source(@_) ) }

my $page = text_of(qw(doc reference metrics.md));
my ( %labels, %values );
while ( $page =~ /^\| `(svc_\w+)` \| (\w+) \| ([^|]*) \|/mg ) {
    my ( $name, $type, $list ) = ( $1, $2, $3 );
    my @label = $list =~ /`(\w+)`/g;
    $labels{$_} = { map { ( $_ => 1 ) } @label, qw(job instance) }
      for $type eq 'histogram' ? ( "${name}_sum", "${name}_count" ) : $name;
    $labels{"${name}_bucket"} = { map { ( $_ => 1 ) } @label, qw(job instance le) } if $type eq 'histogram';
}
while ( $page =~ /^\| `([a-z_]+)` \| (`.*) \|$/mg ) {
    my ( $label, $list ) = ( $1, $2 );
    $values{$label} //= { map { ( $_ => 1 ) } $list =~ /`([^`]+)`/g } if $label !~ /\Asvc_/;
}
$values{route} = { map { ( $_ => 1 ) } text_of(qw(doc reference routes.md)) =~ /^\| [A-Z]+ \| `([^`]+)`/mg };
cmp_ok( scalar keys %labels, '>', 10, 'the page lists metrics' );
cmp_ok( scalar keys %values, '>', 5,  '... and values of labels' );

# Return the faults of an expression as text; "" if it has none.
sub faults {
    my ($expr) = @_;
    my @fault;
    while ( $expr =~ /\b(svc_\w+)(?:\{([^}]*)\})?/g ) {
        my ( $metric, $selector ) = ( $1, $2 // '' );
        push @fault, "no metric $metric" if !$labels{$metric};
        while ( $selector =~ /(\w+)(=~|!=|=)"([^"]*)"/g ) {
            my ( $label, $how, $value ) = ( $1, $2, $3 );
            push @fault, "$metric has no label $label" if !$labels{$metric}{$label};
            push @fault, "$label is never $value"      if $values{$label} && $how eq '=' && !$values{$label}{$value};
            push @fault, "$label never matches $value"
              if $values{$label} && $how eq '=~' && !grep {/\A(?:$value)\z/} keys %{ $values{$label} };
        }
    }
    my %known = map { ( $_ => 1 ) } map { keys %$_ } @labels{ grep { $labels{$_} } $expr =~ /\b(svc_\w+)/g };
    while ( $expr =~ /\bby \(([^)]*)\)/g ) {
        push @fault, map {"no label $_"} grep { !$known{$_} } split /,\s*/, $1;
    }
    return join ', ', @fault;
}
is( faults('rate(svc_no_such_total[5m])'), 'no metric svc_no_such_total', 'a metric that does not exist is found' );
is( faults('svc_introspect_total{active="yes"}'), 'active is never yes',  '... so is a value' );
is( faults('sum by (colour) (svc_introspect_total{path="x"})'),
    'svc_introspect_total has no label path, no label colour',
    '... and a label' );

# ---- alerts

my $rules = text_of(qw(etc prometheus authz.rules.yml));
my @alert = $rules =~ /^ +- alert: (\w+)$/mg;
my @expr  = $rules =~ /^ +expr: (?:>-\n)?(.*?)\n +for:/msg;
is( scalar @alert,       10, 'there are ten alerts (gateway-admin.md 7.1)' );
is( scalar @expr,        10, '... with an expression each' );
is( faults( $expr[$_] ), '', "$alert[$_]: its metrics, labels and values exist" ) for 0 .. $#expr;
my @reason = $rules =~ /(svc_\w+)/g;
is( join(
        ' ',
        grep {
            my $name = $_;
            !grep {/\A$name(?:_sum)?\z/} keys %labels
        } @reason ),
    '',
    'the descriptions name metrics that exist' );

# Each bound that an expression compares a quantile with is a bound of the buckets; between two the quantile is a guess.
my ($bounds) = $page  =~ /^\| `svc_http_request_seconds` \| ([\d., ]+) \|$/m;
my ($slow)   = $rules =~ /_bucket\{route=~.*?> ([\d.]+)\n/s;
ok( ( grep { $_ == $slow } split /, /, $bounds ), 'AuthzSlow compares with a bound of the buckets' );

# ---- the dashboard

my $board  = JSON::PP->new->utf8->decode( text_of(qw(etc grafana authz.json)) );
my @panels = @{ $board->{panels} };
my %shown;
for my $panel (@panels) {
    my @target = map { $_->{expr} } @{ $panel->{targets} };
    is( join( '; ', grep {length} map { faults($_) } @target ), '',
        "panel \"$panel->{title}\": its metrics, labels and values exist" );
    $shown{$_} = 1 for map {/\b(svc_\w+?)(?:_bucket|_sum|_count)?\b/g} @target;
}
my @table = $page =~ /^\| `(svc_\w+)` \| (?:counter|histogram|gauge) \|/mg;
is( join( ' ', grep { !$shown{$_} } @table ), '', 'the dashboard shows each metric of the table' );
is( scalar( () = keys %{ { map { ( $_->{id} => 1 ) } @panels } } ), scalar @panels, 'each panel has an id of its own' );
for my $variable ( grep { $_->{type} eq 'query' } @{ $board->{templating}{list} } ) {
    my ($metric) = $variable->{query}{query} =~ /\((svc_\w+)/;
    ok( $labels{ $metric // '' }, "the variable $variable->{name} asks for a metric that exists" );
}

# ---- promtool

SKIP: {
    my $promtool = Authz::Path::promtool();
    skip 'promtool is not installed (contrib/check installs it)', 2 if !defined $promtool;
    for my $what ( [ 'check rules', 'authz.rules.yml' ], [ 'test rules', 'authz.rules.test.yml' ] ) {
        my ( $status, $text ) = Authz::Process->run(
            name    => 'promtool',
            command => [ $promtool, split( / /, $what->[0] ), Authz::Path::source( qw(etc prometheus), $what->[1] ) ] );
        is( $status, 0, "promtool $what->[0] $what->[1]" ) or diag $text;
    }
}
my $tests = text_of(qw(etc prometheus authz.rules.test.yml));
is( join( ' ', grep { $tests !~ /alertname: $_\n/ } @alert ), '', 'each alert has a test' );

# ---- make install, and with it the Debian package, which has all of DATADIR/authz

my $root = Authz::Process::directory() . '/root';
SKIP: {
    my $build = $ENV{AUTHZ_BUILDDIR} // '';
    skip 'there is no build folder', 3 if !-f "$build/Makefile";
    my ( $status, $text ) = Authz::Process->run(
        name    => 'install',
        command => [
            'make', '-s', '-C', $build, 'install-dist_prometheusDATA', 'install-dist_grafanaDATA', "DESTDIR=$root",
            'pkgdatadir=/d' ] );
    is( $status, 0, 'make installs the files' ) or diag $text;
    for my $file (qw(prometheus/authz.rules.yml grafana/authz.json)) {
        ok( -s "$root/d/$file", "... $file" );
    }
}
like( text_of(qw(debian authz.install)), qr{^usr/share/authz/$_$}m, "the Debian package has $_" )
  for qw(grafana prometheus);

done_testing;
