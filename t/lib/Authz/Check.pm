package Authz::Check;

# Checks of a family's answers, one test each; a failure shows the whole answer.

use strict;
use warnings;

use Exporter   qw(import);
use JSON::PP   ();
use Test::More ();

our @EXPORT = qw(oauth_error oauth_ok admin_ok admin_error inactive same_words true false members_are decode_packed);

sub true  { return JSON::PP::true() }
sub false { return JSON::PP::false() }

sub _verdict {
    my ( $name, $answer, @wrong ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 2;
    my $good = Test::More::ok( !@wrong, $name );
    if ( !$good ) { Test::More::diag("$_") for @wrong, 'the answer was:', $answer->text }
    return $good;
}

# Check the rules for each answer of /token, /introspect and /revoke (specification 1; oauth.md C8; decisions.md
# "X-Request-ID").
sub _family {
    my ($answer) = @_;
    return 'no answer' if defined $answer->failure;
    my @wrong;
    push @wrong, 'Cache-Control is not no-store' if ( $answer->header('Cache-Control') // '' ) ne 'no-store';
    push @wrong, 'Pragma is not no-cache'        if ( $answer->header('Pragma')        // '' ) ne 'no-cache';
    push @wrong, 'no X-Request-ID, or several'   if $answer->headers('X-Request-ID') != 1;
    push @wrong, 'JSON with a null'              if $answer->body =~ /:\s*null\b/;
    return @wrong;
}

sub oauth_error {
    my ( $answer, $status, $code, $name ) = @_;
    my @wrong = _family($answer);
    my $error = $answer->member('error') // 'none';
    push @wrong, "status is not $status"      if $answer->status != $status;
    push @wrong, "error is $error, not $code" if $error !~ /\A(?:$code)\z/;
    push @wrong, 'Content-Type is not application/json'
      if ( $answer->header('Content-Type') // '' ) !~ m{\Aapplication/json\b};
    my $text = $answer->member('error_description');
    push @wrong, 'no error_description, or one with a forbidden character (RFC 6749 5.2)'
      if !defined $text || $text eq '' || $text !~ /\A[\x20\x21\x23-\x5b\x5d-\x7e]*\z/;
    push @wrong, 'a 401 without WWW-Authenticate' if $status == 401 && !defined $answer->header('WWW-Authenticate');
    push @wrong, 'a 503 without Retry-After' if $status == 503 && ( $answer->header('Retry-After') // '' ) !~ /\A\d+\z/;
    push @wrong, 'members beside error and error_description'
      if grep { !/\Aerror(?:_description)?\z/ } keys %{ ref $answer->json eq 'HASH' ? $answer->json : {} };
    return _verdict( $name, $answer, @wrong );
}

# 200 with a JSON object; its members are compared where given. A value may be a pattern, or a code that judges.
sub oauth_ok {
    my ( $answer, $members, $name ) = @_;
    my @wrong = _family($answer);
    push @wrong, 'status is not 200'                 if $answer->status != 200;
    push @wrong, 'no JSON object'                    if ref $answer->json ne 'HASH';
    push @wrong, _members( $answer->json, $members ) if !@wrong;
    return _verdict( $name, $answer, @wrong );
}

# Return the differences from {name => expected}: undef means absent, a pattern must match, a code reference decides.
sub _members {
    my ( $json, $members ) = @_;
    my @wrong;
    for my $name ( sort keys %{ $members // {} } ) {
        my ( $want, $have ) = ( $members->{$name}, $json->{$name} );
        my $good =
           !defined $want         ? !exists $json->{$name}
          : ref $want eq 'CODE'   ? $want->($have)
          : ref $want eq 'Regexp' ? defined $have && !ref $have && $have =~ $want
          :                         defined $have && _plain($want) eq _plain($have);
        push @wrong, "$name is " . ( defined $have ? _plain($have) : 'absent' ) if !$good;
    }
    return @wrong;
}

# A number and its text are the same to these tests; where the type matters they say so with a code.
sub _plain {
    my ($value) = @_;
    return ref $value ? JSON::PP->new->canonical->allow_nonref->encode($value) : $value;
}

sub members_are {
    my ( $json, $members, $name ) = @_;
    my @wrong = ref $json eq 'HASH' ? _members( $json, $members ) : 'no JSON object';
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $good = Test::More::ok( !@wrong, $name );
    Test::More::diag($_) for @wrong;
    return $good;
}

# Exactly {active: false, inactive_reason: invalid_token} and nothing else (specification 4.5; RFC 7662 2.2).
sub inactive {
    my ( $answer, $name ) = @_;
    my @wrong = _family($answer);
    push @wrong, 'status is not 200' if $answer->status != 200;
    my $json = $answer->json;
    push @wrong, 'the body is not exactly {active:false,inactive_reason:invalid_token}'
      if ref $json ne 'HASH'
      || keys %$json != 2
      || !JSON::PP::is_bool( $json->{active} )
      || $json->{active}
      || ( $json->{inactive_reason} // '' ) ne 'invalid_token';
    return _verdict( $name, $answer, @wrong );
}

sub admin_ok {
    my ( $answer, $status, $members, $name ) = @_;
    my @wrong;
    push @wrong, "status is not $status" if $answer->status != $status;
    push @wrong, 'no X-Request-ID'       if $answer->headers('X-Request-ID') != 1;
    push @wrong, 'Content-Type is not application/json'
      if $status != 204 && ( $answer->header('Content-Type') // '' ) !~ m{\Aapplication/json\b};
    push @wrong, 'a 204 with a body' if $status == 204 && $answer->body ne '';
    push @wrong, _members( ref $answer->json eq 'HASH' ? $answer->json : {}, $members ) if !@wrong && $members;
    return _verdict( $name, $answer, @wrong );
}

# An error of the admin API (specification 7.2); fields: exactly these in fieldErrors.
sub admin_error {
    my ( $answer, $status, $name, %option ) = @_;
    my @wrong;
    my $json = $answer->json;
    push @wrong, "status is not $status" if $answer->status != $status;
    push @wrong, 'no X-Request-ID'       if $answer->headers('X-Request-ID') != 1;
    if    ( $status == 404 ) { push @wrong, 'the body of a 404 is not empty' if $answer->body ne '' }
    elsif ( ref $json ne 'HASH' || !defined $json->{error} ) { push @wrong, 'no JSON object with error' }
    elsif ( defined $option{error} && $json->{error} ne $option{error} ) {
        push @wrong, "error is $json->{error}, not $option{error}";
    }
    if ( $option{fields} && ref $json eq 'HASH' ) {
        my $have = join ' ', sort keys %{ ref $json->{fieldErrors} eq 'HASH' ? $json->{fieldErrors} : {} };
        my $want = join ' ', sort @{ $option{fields} };
        push @wrong, "fieldErrors names [$have], not [$want]" if $have ne $want;
    }
    push @wrong, _members( $json // {}, $option{members} ) if $option{members};
    return _verdict( $name, $answer, @wrong );
}

# For a member that holds space-separated words, in any order.
sub same_words {
    my ($want) = @_;
    my $sorted = join ' ', sort split / /, $want;
    return sub { return defined $_[0] && join( ' ', sort split / /, $_[0] ) eq $sorted };
}

# The texts of fcgi/base/pack_dictionaries.c, by their numbers (a hash).
sub dictionaries {
    require Authz::Path;
    open my $in, '<', Authz::Path::source(qw(fcgi base pack_dictionaries.c)) or die "pack_dictionaries.c: $!";
    my $source = do { local $/ = undef; readline $in };
    my ( %text, %dictionary );
    while ( $source =~ /^static const char (\w+)\[\] =\n((?:\s+"(?:[^"\\]|\\.)*"\n?)+);/mg ) {
        my ( $name, $lines ) = ( $1, $2 );
        $text{$name} = join '', map {s/\\(.)/$1/gr} $lines =~ /"((?:[^"\\]|\\.)*)"/g;
    }
    $dictionary{$1} = $text{$2} while $source =~ /^ +\{(\d+), "(?:[^"\\]|\\.)*", +(\w+),/mg;
    die 'pack_dictionaries.c has another shape' if !%dictionary || grep { !defined } values %dictionary;
    return %dictionary;
}

# A text as the service stores it, in hex; no octet of it is left out.
sub pack_text {
    my ($text)   = @_;
    my ($number) = sort keys %{ our $dictionaries //= { dictionaries() } };
    my $length   = length $text;
    my $packed   = chr $number;
    for ( my $left = $length ; ; $left >>= 7 ) {
        $packed .= chr( $left > 0x7f ? 0x80 | $left & 0x7f : $left );
        last if $left <= 0x7f;
    }
    $packed .= chr( ( $length < 15 ? $length : 15 ) << 4 );
    $packed .= chr(255) x int( ( $length - 15 ) / 255 ) . chr( ( $length - 15 ) % 255 ) if $length >= 15;
    return unpack 'H*', $packed . $text;
}

# LZ4's block format: literals, then a copy of what stands some octets back, until the octets end.
sub _unpack_lz4 {
    my ( $block, $text ) = @_;
    my $at   = 0;
    my $next = sub { return ord substr $block, $at++, 1 };
    my $more = sub {
        my ($length) = @_;
        return $length if $length < 15;
        while (1) { my $octet = $next->(); $length += $octet; return $length if $octet < 255 }
    };
    while ( $at < length $block ) {
        my $token    = $next->();
        my $literals = $more->( $token >> 4 );
        $text .= substr $block, $at, $literals;
        $at += $literals;
        last if $at >= length $block;
        my $back = $next->();
        $back += $next->() << 8;
        for ( 1 .. 4 + $more->( $token & 15 ) ) { $text .= substr $text, -$back, 1 }
    }
    return $text;
}

# A packed document of the database (hex): dictionary, length, LZ4 block; see fcgi/base/pack.h.
sub decode_packed { return JSON::PP->new->utf8->decode( unpack_text( $_[0] ) ) }

sub unpack_text {
    my ($hex)  = @_;
    my $octets = pack 'H*', $hex =~ s/\A\\x//r;
    my ( $number, $length, $block ) = $octets =~ /\A(.)([\x80-\xff]*[\x00-\x7f])(.*)\z/s
      or die "no packed document\n";
    my %dictionary = %{ our $dictionaries //= { dictionaries() } };
    my $dictionary = $dictionary{ ord $number } // die "unknown dictionary\n";
    my $text       = substr _unpack_lz4( $block, $dictionary ), length $dictionary;
    my $wanted     = 0;
    $wanted = $wanted << 7 | ord($_) & 0x7f for reverse split //, $length;
    die "the text's length is not $wanted\n" if length $text != $wanted;
    return $text;
}

1;
