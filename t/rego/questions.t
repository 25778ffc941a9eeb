# The machine of fcgi/rego against OPA on random questions of the shipped policy (Authz::Questions), with random rows and with
# rules of operators. Both engines get the same rules, rows and inputs; the machine may leave a question to OPA, but
# never answers otherwise. A difference names its seed: AUTHZ_REGO_SEED=N repeats the run.
use strict;
use warnings;

use HTTP::Tiny ();
use JSON::PP   ();
use Test::More;

use Authz::Path      ();
use Authz::Process   ();
use Authz::Questions ();
use Authz::Web       ();

# AUTHZ_REGO_QUESTIONS=100000 is a long run.
my $questions = $ENV{AUTHZ_REGO_QUESTIONS} // 2000;
my $seed      = $ENV{AUTHZ_REGO_SEED}      // time;

# Questions that have the same rows, and questions that the machine gets at once.
my $SAME_ROWS = 20;
my $AT_ONCE   = 1000;

my $json  = JSON::PP->new->utf8->canonical->allow_nonref;
my $dir   = Authz::Process::directory();
my $svc   = Authz::Path::source(qw(etc policy svc));
my @asked = qw(issue introspect authzen authzen_batch gateway gateway_tools register admin);
my %rules = (
    'no rules'              => [],
    'rules with every hook' => [ glob Authz::Path::source(qw(t rego operator)) . '/*.rego' ],
    'rules of wrong types'  => [ glob Authz::Path::source(qw(t rego operator_wrong)) . '/*.rego' ],
    'Cedar rules'           => [ Authz::Path::source(qw(etc policy tests_cedar effect_module.rego)) ] );

sub run {
    my ( $name, @command ) = @_;
    my ( $status, $text ) =
      Authz::Process->run( name => $name, timeout => 120 * Authz::Process::patience(), command => \@command );
    die "$name: " . substr $text, 0, 500 if $status != 0;
    return $text;
}

# The module that asks OPA several questions at once: a list of a text, or none where it has no answer.
Authz::Web::write_file(
    "$dir/ask.rego",
    "package ask\n\nall := [answer | some q in input; answer := one(q)]\n\n" . join '',
    map {
            qq(one(q) := [json.marshal(v) | v := data.svc.decision.$_.result with input as q.input] )
          . qq(if q.entrypoint == "svc/decision/$_/result"\n\n)
    } @asked );

# Start OPA as a server, with the policy and some rules.
sub start_opa {
    my (@source) = @_;
    my $port     = Authz::Web::free_port();
    my $opa      = Authz::Process->start(
        name    => 'opa', env => { GOGC => 400, GOMEMLIMIT => '512MiB' },
        command => [
            Authz::Path::opa(),
            qw(run --server --log-level error --skip-version-check --optimize-store-for-read-speed --addr),
            "127.0.0.1:$port",
            @source ] );
    my $http = HTTP::Tiny->new( timeout => 120 * Authz::Process::patience() );
    my $base = "http://127.0.0.1:$port";
    defined Authz::Process::until_true( 60, sub { $http->get("$base/health")->{success} } )
      or die "OPA does not start\n";
    return {
        process => $opa,
        send    => sub {
            my ( $method, $path, $text ) = @_;
            return $http->request(
                $method, "$base/v1/data/$path",
                { content => $text, headers => { 'Content-Type' => 'application/json' } } );
        }
    };
}

sub octets { my ($text) = @_; utf8::encode($text); return $text }

# Return OPA's answers: texts, "" for undefined, undef for an error. An error of one question ends the whole request, so that
# each question is asked alone then.
sub opa_answers {
    my ( $opa, @question ) = @_;
    my $answer = $opa->{send}->( POST => 'ask/all', '{"input":[' . join( ',', @question ) . ']}' );
    my $result = $answer->{success} ? $json->decode( $answer->{content} )->{result} : undef;
    return map { octets( $_->[0] // '' ) } @$result if $result && @$result == @question;
    return undef                                    if @question == 1;
    return map { opa_answers( $opa, $_ ) } @question;
}

# True if two texts are the same document, however its characters are written. Numbers are compared by their text.
sub same {
    my ( $one, $other ) = @_;
    return 1 if $one eq $other;
    my @number   = map { join ' ', sort $_ =~ /(?<=[:,\[])(-?\d[^,\]\}]*)/g } $one, $other;
    my @document = map {
        eval { $json->encode( $json->decode($_) ) }
          // "no JSON: $_"
    } $one, $other;
    return $document[0] eq $document[1] && $number[0] eq $number[1];
}

# True if an outcome of the machine is OPA's: a conflict is an error there.
sub agree {
    my ( $outcome, $value, $want ) = @_;
    return $outcome eq 'conflict' if !defined $want;
    return $outcome eq 'done' && same( $value // '', $want );
}

my %count = ( same => 0, left => 0, different => 0 );
my ( %left, %of_entrypoint, @different );

# Compare the machine's answers to some lines with OPA's.
sub compare {
    my ( $rules, $plan, $line, $want ) = @_;
    Authz::Web::write_file( "$dir/lines", join '', map {"$_->{line}\n"} @$line );
    my @answer = split /\n/,
      run(
        'plans', 'sh', '-c', 'exec "$0" "$1" <"$2" 2>/dev/null', Authz::Path::program('t/rego/plans'), $plan,
        "$dir/lines" );
    die "$rules: " . @answer . ' outcomes of ' . @$line . " questions\n" if @answer != @$line;
    for my $i ( 0 .. $#answer ) {
        my ( $outcome, $why, $value ) =
          $answer[$i] =~ /\A\{"outcome":"([^"]*)"(?:,"why":"([^"]*)")?(?:,"value":(.*))?\}\z/s
          or die "outcome $answer[$i]\n";
        if ( $outcome eq 'give_up' || $outcome eq 'unreadable' ) {
            $count{left}++;
            $left{ $why // $outcome }++;
        }
        elsif ( agree( $outcome, $value, $want->[$i] ) ) {
            my $name    = $line->[$i]{entrypoint};
            my $allowed = ( $value // '' ) =~ ( $name eq 'gateway_tools' ? qr/"allow"[,\]]/ : qr/"allow":true/ );
            $count{same}++;
            $of_entrypoint{$name}[ $allowed ? 1 : 0 ]++;
        }
        else {
            my ( $got, $right ) = map { $_ // 'none' } $value, $want->[$i];
            $count{different}++;
            push @different,
              "seed $line->[$i]{seed}, $rules: $line->[$i]{line}\n  gives $outcome $got instead of $right"
              if @different < 5;
        }
    }
    return;
}

# Give OPA random rows and ask it questions: return the lines for the machine, and OPA's answers.
sub lines_of {
    my ( $opa, $source, $world, $how_many ) = @_;
    my $from = $seed + $world;
    $source->seed($from);
    my $rows = $source->rows;
    my @part;
    for my $path ( sort keys %$rows ) {
        my $text   = Authz::Questions::text( $rows->{$path} );
        my $answer = $opa->{send}->( PUT => $path, $text );
        die "OPA refuses $path: $answer->{content}\n" if !$answer->{success};
        push @part, '"' . ( $path =~ s{\Asvc/}{}r ) . '":' . $text;
    }
    my $data = '{"svc":{' . join( ',', @part ) . '}}';
    my ( @line, @question );
    for ( 1 .. $how_many ) {
        my ( $entrypoint, $input ) = $source->ask;
        my $question = qq("entrypoint":"svc/decision/$entrypoint/result","input":) . Authz::Questions::text($input);
        push @question, "{$question}";
        push @line, { entrypoint => $entrypoint, seed => $from, line => qq({"data":$data,$question}) };
    }
    return ( \@line, [ opa_answers( $opa, @question ) ] );
}

my $source = Authz::Questions->new( Authz::Questions::fixture() );
my $world  = 0;
for my $name ( sort keys %rules ) {
    my @source = ( $svc, @{ $rules{$name} } );
    run('opa', Authz::Path::opa(), qw(build -t plan -o), "$dir/plan.tar.gz",
        map( { ( '-e', "svc/decision/$_/result" ) } @asked ), @source );
    run( 'tar', 'tar', '-xzf', "$dir/plan.tar.gz", '-C', $dir, '/plan.json' );
    my $opa  = start_opa( @source, "$dir/ask.rego" );
    my $left = $questions / keys %rules;
    my ( @line, @want );
    while ( $left > 0 ) {
        my ( $line, $want ) = lines_of( $opa, $source, $world++, $left < $SAME_ROWS ? $left : $SAME_ROWS );
        $left -= $SAME_ROWS;
        push @line, @$line;
        push @want, @$want;
        next if $left > 0 && @line < $AT_ONCE;
        compare( $name, "$dir/plan.json", \@line, \@want );
        @line = @want = ();
    }
    $opa->{process}->stop;
}
is( join( "\n\n", @different ), '', "no other answer than OPA's (AUTHZ_REGO_SEED=$seed)" );
is( $count{different},          0,  '... to any question' );
cmp_ok( $count{left}, '<', 0.2 * $questions, "not all is left to OPA ($count{left} of $questions)" );
for my $name (@asked) {
    my ( $denied, $allowed ) = map { $_ // 0 } @{ $of_entrypoint{$name} // [] }[ 0, 1 ];
    ok( $denied > 0 && $allowed > 0, "$name: some are allowed ($allowed), some are not ($denied)" );
}
note "$count{same} answers are the same, $count{left} questions are left to OPA, $count{different} answers differ";
note "$left{$_} left to OPA: $_" for sort { $left{$b} <=> $left{$a} || $a cmp $b } keys %left;
done_testing();
