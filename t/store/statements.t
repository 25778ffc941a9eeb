# Prepare every SQL statement of the program, read from its row in the source, against a fresh schema: PostgreSQL accepts it, it
# has the number of parameters of its row, and the enum or the table of its columns matches its columns (store/db/db.h, db_row.h).
use strict;
use warnings;

use File::Find ();
use Test::More;

use Authz::Path     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Web      ();

my $postgres = Authz::Postgres->shared_or_new;
my $database = $postgres->database;

my %source;
File::Find::find(
    sub { $source{$File::Find::name} = read_source($_) if /\.[ch]\z/ },
    map { Authz::Path::source($_) } qw(fcgi cli) );

# Remove comments; keep quoted text.
sub read_source {
    open my $in, '<', $_[0] or die "$_[0]: $!";
    local $/ = undef;
    my $text = readline $in;
    $text =~ s{("(?:[^"\\]|\\.)*")|/\*.*?\*/}{$1 // ' '}gse;
    return $text;
}

# Join adjacent literals, and macros of the same file or of a header that expand to literals.
my ( %macro, %shared );

sub text_of {
    my ( $file, $part ) = @_;
    my $text = '';
    while ( $part =~ /\G\s*(?:"((?:[^"\\]|\\.)*)"|(\w+))/g ) {
        my ( $literal, $name ) = ( $1, $2 );
        $literal = text_of( $file, $macro{$file}{$name} // $shared{$name} // die "no macro $name" ) if defined $name;
        $literal =~ s/\\(.)/$1/g if !defined $name;
        $text .= $literal;
    }
    return $text;
}

my $string = qr/(?:\s*(?:"(?:[^"\\]|\\.)*"|[A-Z_]+))+/;
for my $file ( sort keys %source ) {
    my $text = $source{$file} =~ s/\\\n/ /gr;
    while ( $text =~ /^#\s*define\s+([A-Z_]+)((?:[ \t]*(?:"(?:[^"\\]|\\.)*"|[A-Z_]+))+)[ \t]*$/mg ) {
        my ( $name, $value ) = ( $1, $2 );
        $macro{$file}{$name} = $value;
        $shared{$name} = $value if $file =~ /[.]h\z/;
    }
}

# Rows that several tables have are macros.
my %row_macro;
for my $text ( values %source ) {
    $row_macro{$1} = $2 while $text =~ /#define (\w+_ROWS)\(.*?\)((?:[^\n]*\\\n)*[^\n]*)/g;
}

my ( @statement, %enum, %table, $rows );
for my $file ( sort keys %source ) {
    $rows += () = $source{$file} =~ /struct db_stmt \w+ = \{/g;
    while ( $source{$file} =~ /struct db_stmt \w+ = \{\s*"(\w+)",($string),\s*(\d+)\s*,?\s*\}/g ) {
        my ( $name, $parts, $params ) = ( $1, $2, $3 );
        push @statement, { name => $name, text => text_of( $file, $parts ), params => $params };
    }
    while ( $source{$file} =~ /enum (\w+)_column \{([^}]*)\}/g ) {
        my ( $name, $members ) = ( $1, $2 );
        $enum{$name} = [ $members =~ /\w+/g ];
    }
    while ( $source{$file} =~ /struct db_column (\w+)_columns\[\] = \{(.*?)\n\};/gs ) {
        my ( $name, $members ) = ( $1, $2 );
        $members =~ s/\b(\w+_ROWS)\(.*?\)/$row_macro{$1}/g;
        $table{$name} = [ $members =~ /\{\s*"(\w+)",/g ];
    }
}
cmp_ok( scalar @statement, '>=', 60, 'the statements are found' );
is( scalar @statement, $rows, 'each row of a statement has a name, a text and a number of parameters' );
my %count;
$count{ $_->{name} }++ for @statement;
is( join( ' ', grep { $count{$_} > 1 } sort keys %count ), '', 'names are unique in the program' );
cmp_ok( scalar keys %enum,  '>=', 15, 'enums of columns are found' );
cmp_ok( scalar keys %table, '>=', 2,  'tables of columns are found' );
is( join( ' ', grep { !$count{$_} } sort( keys %enum, keys %table ) ), '',
    'each enum or table of columns is of a statement' );
is( join(
        ' ',
        map    { $_->{name} }
          grep { $_->{text} =~ /secret_hash\s*(?:=|<>|IN\b|LIKE\b)|(?:=|<>)\s*(?:\w+\.)?secret_hash/i } @statement ),
    '',
    "no statement compares a stored secret's hash itself: SQL's comparison stops at the first octet that differs" );
my ($longest) = sort { length $b <=> length $a } keys %count;
cmp_ok(
    length("$longest:99999999:999999:999999"), '<', 64,
    'with its partitions the longest name is one that PostgreSQL does not cut' );

my %partition = map {
    (   $_ => $postgres->sql(
            "SELECT min(substring(inhrelid::regclass::text FROM '[0-9]+\$')::integer) FROM pg_inherits WHERE inhparent = '$_'::regclass",
            $database ) )
} qw(access_token audit_log refresh_token);

# psql prepares and describes a statement that ends in \gdesc, without running it; \gdesc works only in a file.
sub columns_of {
    my ($text) = @_;
    my $file = Authz::Web::write_file( Authz::Process::directory() . '/describe.sql', "$text \\gdesc\n" );
    open my $out, '-|', Authz::Path::postgres('psql'), qw(-X -q -A -t -F), "\t", '-h', $postgres->socket, '-p',
      $Authz::Postgres::PORT, qw(-U postgres -d), $database, '-f', $file
      or die "psql: $!";
    my @line = grep {/\t/} readline $out;
    close $out or return "exit status $?";
    return map { ( split /\t/ )[0] } @line;
}

for my $statement (@statement) {
    my ( $name, $text ) = @{$statement}{qw(name text)};
    next if $text =~ /\A(?:BEGIN|COMMIT)\z/;           # cannot be prepared by SQL; they have no parameters to get wrong
    $text         =~ s/%P/$partition{access_token}/g;
    $text         =~ s/%D/$partition{audit_log}/g;
    $text         =~ s/%R/$partition{refresh_token}/g;
    $text         =~ s/%N/pg_notify/g;
    my $params = eval {
        $postgres->sql(
            "PREPARE s AS $text; SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = 's'",
            $database );
    };
    is( $params, $statement->{params}, "$name: PostgreSQL accepts it, with $statement->{params} parameters" )
      or diag($@);
    my @columns = $enum{$name} || $table{$name} ? columns_of($text) : ();
    is( join( ' ', @columns ), join( ' ', @{ $table{$name} } ), "$name: its table names its columns in order" )
      if $table{$name};
    my $members = $enum{$name} // next;
    my ($prefix) = join( ' ', @$members ) =~ /\A([A-Z]+_)/;
    is( join( ' ', map { $prefix . uc } @columns ), join( ' ', @$members ),
        "$name: its enum names its columns in order" );
}

done_testing;
