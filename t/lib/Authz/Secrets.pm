package Authz::Secrets;

# Remembers the secrets in the requests and answers of a test file: passwords, tokens, codes, keys and cookies. At its end no
# audit row and no log line of a service may have any of them (architecture.md 7). Authz::Client notes them, Authz::Stack looks
# for them.

use strict;
use warnings;

use MIME::Base64 ();

use Authz::Check   ();
use Authz::Path    ();
use Authz::Process ();

# Shorter values, and those of few letters, are words of a test that stand in other places too.
my $SHORTEST = 16;
my $LETTERS  = 8;

# Documents of audit rows that are unpacked, in Perl: the newest.
my $DOCUMENTS = 2_000;

my ( %secret, %place );

sub note {
    for my $value (@_) {
        next if !defined $value || length $value < $SHORTEST;
        my %letter = map { ( $_ => 1 ) } split //, $value;
        $secret{$value} = 1 if keys %letter >= $LETTERS;
    }
    return;
}

sub _plain { my ($text) = @_; $text =~ tr/+/ /; return $text =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ger }

my $FORM =
  qr/client_secret|code|auth_req_id|refresh_token|token|code_verifier|password|client_assertion|assertion|subject_token/;
my $JSON = qr/"(?:auth_req_id|access_token|refresh_token|id_token|clientSecret|client_secret)":"([^"\\]*)"/;

# The admin API shows an admin key as `key`, and the keys of data rows by the same name.
my $ADMIN_KEY = qr/"key":"(ak_[^"\\]*)"/;

sub note_request {
    my ($octets) = @_;
    my ( $head, $body ) = split /\r\n\r\n/, $octets, 2;
    note( $head =~ /^(?:X-Admin-API-Key|X-Bundle-API-Key|Authorization: (?:Bearer|DPoP)):? *([^\r\n]+)/mig );
    note( _plain( ( split /:/, MIME::Base64::decode_base64($1), 2 )[1] // '' ) )
      while $head =~ /^Authorization: Basic ([^\r\n]+)/mig;
    note( $head =~ /^Cookie:.*?=([^;\r\n]+)/mig );
    note( map { _plain($_) } ( $body // '' ) =~ /(?:\A|&)$FORM=([^&]*)/g );
    note( ( $body // '' ) =~ /$JSON/g );
    return;
}

sub note_answer {
    my ($answer) = @_;
    return                                                            if $answer->failure;
    note( $answer->body =~ /$JSON/g, $answer->body =~ /$ADMIN_KEY/g ) if length $answer->body < 100_000;
    note( map {/\A[^=]*=([^;]+)/} $answer->headers('Set-Cookie') );
    note( map { _plain($_) } map {/[?&]code=([^&]+)/} $answer->headers('Location') );
    return;
}

# Patterns of so many secrets each: Perl looks for more than some 3,000 alternatives one by one, which takes many minutes.
my $ALTERNATIVES = 1_000;

sub _patterns {
    my @value = sort keys %secret;
    my @pattern;
    while ( my @part = splice @value, 0, $ALTERNATIVES ) {
        my $any = join '|', map {quotemeta} @part;
        push @pattern, qr/($any)/;
    }
    return @pattern;
}

sub _found {
    my ( $where, $text ) = @_;
    our $patterns //= [ _patterns() ];
    for my $pattern (@$patterns) {
        $place{ sprintf '%s has %s...', $where, substr $1, 0, 10 }++ while $text =~ /$pattern/g;
    }
    return;
}

# Look for the secrets of this file in the rows of a database and in the logs of the services. Return the places.
sub search {
    my (@stack) = @_;
    our $patterns = undef;
    %place = ();
    my %database;
    for my $stack (@stack) {
        my $log = $stack->{service} ? $stack->{service}->log_text : '';
        _found( "the log of authz$stack->{number}", $log );
        next if $database{ $stack->{database} }++ || !$stack->{postgres}->try( 'SELECT 1', $stack->{database} );
        _found( 'an audit row', $stack->sql('SELECT (a.*)::text FROM audit_log a') );
        for (
            split /\n/,
            $stack->sql(
                "SELECT encode(policy_input, 'hex') FROM (SELECT * FROM audit_log WHERE policy_input IS NOT NULL ORDER BY id DESC LIMIT $DOCUMENTS) a UNION ALL SELECT encode(policy_decision, 'hex') FROM (SELECT * FROM audit_log WHERE policy_decision IS NOT NULL ORDER BY id DESC LIMIT $DOCUMENTS) a"
            ) )
        {
            _found( 'a policy document of an audit row', eval { Authz::Check::unpack_text($_) } // '' );
        }
    }
    return sort keys %place;
}

sub forget { delete @secret{@_}; return }
sub count  { return scalar keys %secret }

1;
