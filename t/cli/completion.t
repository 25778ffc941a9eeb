#!/usr/bin/perl
# completion bash and zsh: what the shells offer, against the table of verbs as --help prints it.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use File::Temp ();
use Test::More;

use Authz::Path  ();
use Authz::Stack ();
use Authz::Web   ();
use Authzctl;

my $scripts = File::Temp->newdir;
my %script;
for my $shell (qw(bash zsh)) {
    $script{$shell} = "$scripts/$shell";
    open my $out, '>', $script{$shell} or die "$script{$shell}: $!";
    print {$out} ctl_is( 0, [ 'completion', $shell ], "completion $shell needs no configuration", env => {} )->{out};
    close $out or die "$script{$shell}: $!";
}
my $wrong = ctl_is( 64, [qw(completion fish)], 'refused: another shell' );
like( $wrong->{err}, qr/completion: fish is not supported; the shells are bash and zsh/, '... with those there are' );

# A program in place of authzctl for both shells: it has names that strangers could choose, and shows how it was called.
my $stub = <<'END';
authzctl() {
    printf '%s\n' 'CLIENT        TYPE          NAME'
    case "$*" in
    'client list') printf '%s\n' 'shop          confidential  Shop' 'till-2        public        Till' ;;
    *' client list') printf 'with%s.%s  x\n' "$1" "${2##*/}" ;;
    'idp list') printf '%s\n' '$(touch bad)  true' '`touch bad`  true' ';touch-bad  true' '*  true' '~root  true' '-rf  true' "a'b  true" \
        'a|b  true' 'a:b  true' 'corp@1  true' ;;
    'resource list') return 69 ;;
    'policy rule list') printf '%s\n' 'custom/a.rego  rego' ;;
    esac
}
END

# Return the program that prints what each shell offers after these words, the last of which is being typed.
my %asks = (
    bash => sub {
        my (@words) = @_;
        return <<"END";
$stub
. '$script{bash}'
COMP_WORDS=(authzctl @{[ map {"'$_'"} @words ]}) COMP_CWORD=@{[ scalar @words ]}
_authzctl
printf '%s\\n' "\${COMPREPLY[@]}"
END
    },
    zsh => sub {
        my (@words) = @_;
        return <<"END";
$stub
compadd() { shift; local offer; for offer; do [[ \$offer == \${cur}* ]] && print -r -- \$offer; done }
_files() { : }
words=(authzctl @{[ map {"'$_'"} @words ]}) CURRENT=@{[ @words + 1 ]}
. '$script{zsh}'
END
    },
);

my @cases = (
    [   [''],
        [   qw(admin-key apply audit bundle cedar client completion config connector consent db entitle export health idp import keys maintain openapi owner plan policy report resource restore-fence secrets serve session setup token unentitle)
        ],
        'the nouns' ],
    [ ['po'],                    ['policy'],                                     'a noun half typed' ],
    [ [ 'db', '' ],              [qw(grant migrate plan status)],                'the verbs of a noun' ],
    [ [ 'policy', '' ],          [qw(compare data impact rule shadow test try)], 'a noun with nouns below' ],
    [ [ 'policy', 'rule', '' ],  [qw(delete get list set)],                      'the verbs below them' ],
    [ [ 'policy', 'rule', 's' ], ['set'],                                        'a verb half typed' ],
    [ [ 'help', 'db', '' ],      [qw(grant migrate plan status)],                'after help the same' ],
    [ [ '--config', 'db', 'keys', '' ],             [qw(list rotate)],           'the value of an option is no noun' ],
    [ [ '--json', 'keys', 'r' ],                    ['rotate'],                  'an option before' ],
    [ [ 'keys', 'rotate', '--u' ],                  ['--use'],                   'an option of the verb' ],
    [ [ 'keys', 'list', '--u' ],                    [],                          '... not of another verb' ],
    [ [ 'keys', 'list', '--j' ],                    ['--json'],                  'an option of all verbs' ],
    [ [ 'bundle', 'deploy', 'd', '--dr' ],          ['--dry-run'],               'an option after an argument' ],
    [ [ 'client', 'create', 'shop', '--type', '' ], [qw(confidential public)],   'the values of an option' ],
    [ [ 'resource', 'create', '--type', 'M' ],      ['MCP'],                     '... which differ by verb' ],
    [ [ '--json', 'audit', 'list', '--outcome', 'de' ], ['denied'],              '... half typed' ],
    [ [ 'keys', 'list', '--key-file', '' ],             [],                      'no verb where a value is due' ],
    [ [ 'client', 'show', '' ],             [qw(shop till-2)], 'the names that exist, where a verb takes one' ],
    [ [ 'client', 'update', 't' ],          ['till-2'],        '... half typed' ],
    [ [ 'entitle', 's' ],                   ['shop'],          '... of a verb without a noun' ],
    [ [ 'client', 'create', 's' ],          [],                '... not for a name that is new' ],
    [ [ 'client', 'show', 'shop', '' ],     [],                '... not for a second word' ],
    [ [ 'client', 'update', '--name', '' ], [],                '... not for the value of an option' ],
    [ [ 'policy', 'rule', 'get', 'cu' ],    ['custom/a.rego'], '... of rules' ],
    [ [ 'idp', 'show', '' ],                ['corp@1'], 'a name that a shell could run or expand is not offered' ],
    [ [ 'resource', 'show', '' ],           [],         'no service: nothing is offered' ],
    [   [ '--config', '/a/b', 'client', 'show', '' ], ['with--config.b'],
        'the names are those of the settings that the line names' ],
    [ [ '--key-file', '/k', 'client', 'show', '' ], ['with--key-file.k'], '... and are asked with its key' ],
    [ [ 'manual',     '' ], [], 'a hidden verb is not offered' ],
);
for my $shell (qw(bash zsh)) {
  SKIP: {
        skip "no $shell", scalar @cases if !defined Authz::Path::on_path($shell);
        for my $case (@cases) {
            my ( $words, $offers, $name ) = @$case;
            open my $pipe, '-|', $shell, $shell eq 'zsh' ? '-fc' : '-c', $asks{$shell}->(@$words) or die "$shell: $!";
            chomp( my @got = <$pipe> );
            close $pipe;
            is_deeply( [ sort grep {length} @got ], $offers, "$shell: $name" );
        }
    }
}

# The values are those that the help of the option names.
my $reference = Authz::Web::edit( Authz::Path::source(qw(doc reference cli.md)) );
my $offered   = Authz::Web::edit( $script{bash} );
my $values    = 0;
while ( $offered =~ /^ +'([a-z]+)'\*' --([a-z-]+)'\) list='(.*)' ;;$/mg ) {
    my ( $noun, $option, $words ) = ( $1, $2, $3 );
    my ($help) = $reference =~ /^## $noun\b(?:(?!^## ).)*?^  --$option [A-Z.]+\s+(.*?)(?=^  -|^```)/ms;
    is( scalar( grep { ( $help // '' ) !~ /\b$_\b/ } split / /, $words ), 0, "the values of $noun --$option" )
      or diag $help;
    $values++;
}
cmp_ok( $values, '>=', 8, '... of every option that has some' );

# The first column of each list has the names.
my $stack = Authz::Stack->start;
$stack->make_client('first');
my %heading = (
    'client list'      => 'CLIENT', 'connector available' => 'CONNECTOR', 'idp list' => 'PROVIDER',
    'resource list'    => 'RESOURCE',
    'policy data list' => 'KEY', 'policy rule list' => 'PATH' );
my %listed = map { ( $_ => 1 ) } $offered =~ /\(_authzctl_names ([a-z ]+)\)/g;
is_deeply( [ sort keys %listed ], [ sort keys %heading ], 'the verbs that list names' );
for my $list ( sort keys %heading ) {
    my $got = ctl_is( 0, [ split / /, $list ], $list, env => $stack->settings );
    like( $got->{out}, qr/\A(?:$heading{$list}\b|\z)/, '... has them in its first column' );
}

# Nothing in the table is left out.
my @verbs = ( ctl( ['--help'] )->{out} =~ /\n\n(.*?)\n\nOptions:/s )[0] =~ /^  ((?:[a-z-]+ )*[a-z-]+)/mg;
for my $shell (qw(bash zsh)) {
    open my $in, '<', $script{$shell} or die "$script{$shell}: $!";
    my $text = do { local $/ = undef; <$in> };
    like( $text, qr/^    '\Q$_\E' \| /m, "$shell: $_ is there" ) for @verbs;
}

done_testing;
