package Authz::Api;

# Holds each answer of the service that a test gets against the description of the interface (authzctl openapi): status, media
# type and every member of a JSON body. Authz::Client calls check(). A test file whose answers differ ends with an error.

use strict;
use warnings;

use JSON::PP                             ();
use JSON::Validator::Schema::Draft201909 ();

use Authz::Path ();

# Any path may answer these: a method that it does not have, and a target that is too long (RFC 9110 15.5.6, 15.5.15).
my %ANYWHERE = ( 405 => 1, 414 => 1 );

my ( $document, @path, %validator, %fault );

sub _load {
    my $program = Authz::Path::program('authzctl');
    local %ENV = ( %ENV, SVC_CONFIG => '/dev/null' );
    delete @ENV{ grep { /^SVC_/ && $_ ne 'SVC_CONFIG' } keys %ENV };
    open my $out, '-|', $program, 'openapi' or die "$program: $!\n";
    my $text = do { local $/ = undef; readline $out };
    close $out or die "$program openapi failed\n";
    $document = JSON::PP->new->utf8->decode($text);

    # The first row that matches answers, and fixed names stand before {name} in the routing table.
    for my $path ( sort { ( $a =~ tr/{// ) <=> ( $b =~ tr/{// ) || $a cmp $b } keys %{ $document->{paths} } ) {
        my $pattern = join '[^/?]+', map {quotemeta} split /\{[^}]*\}/, $path, -1;
        push @path, [ qr/\A$pattern(?:\?|\z)/, $path ];
    }
    return;
}

sub document { _load() if !$document; return $document }

# The path of the description and its operation for a request, or nothing: the request matches none.
sub operation {
    my ( $method, $target ) = @_;
    for my $row ( document() && @path ) {
        return ( $row->[1], $document->{paths}{ $row->[1] }{ lc $method } ) if $target =~ $row->[0];
    }
    return;
}

sub _resolve {
    my ($answer) = @_;
    my $name = ( $answer->{'$ref'} // return $answer ) =~ s{.*/}{}r;
    return $document->{components}{responses}{$name};
}

# int64 is a format of OpenAPI, which JSON::Validator does not know.
sub _validator {
    my ($schema) = @_;
    my $validator = JSON::Validator::Schema::Draft201909->new( { %$schema, components => $document->{components} } );
    $validator->formats->{int64} = sub {return};
    return $validator;
}

# The faults of a JSON text by a schema of the document, as texts.
sub body_faults {
    my ( $key, $schema, $text ) = @_;
    my $value = eval { JSON::PP->new->utf8->allow_nonref->decode($text) };
    return 'the body is not JSON' if $@;
    $validator{$key} //= _validator($schema);
    return map {"$_"} $validator{$key}->validate($value);
}

# True for operations that answer browsers. The others answer with a page only when the web server itself refuses a request.
sub _is_page {
    my ($operation) = @_;
    my $good = $operation->{responses}{200} // {};
    return $good->{content} && $good->{content}{'text/html'};
}

# The faults of an answer, as texts; none if the description does not know the request.
sub faults {
    my ( $method, $target, $answer ) = @_;
    my ( $path, $operation ) = operation( $method, $target ) or return;
    return if !$operation || $ANYWHERE{ $answer->status } || $operation->{responses}{default};
    my $where    = "$method $path answers " . $answer->status;
    my $known    = $operation->{responses}{ $answer->status } or return "$where, which is not described";
    my $content  = _resolve($known)->{content};
    my ($type)   = ( $answer->header('Content-Type') // '' ) =~ /\A([^; ]*)/;
    my $has_body = length $answer->body;
    return $has_body ? "$where with a body, which is not described" : () if !$content;
    return "$where without a body"                                       if !$has_body;
    return "$where as $type, which is not described"
      if !$content->{$type} || ( $type eq 'text/html' && !_is_page($operation) );
    return if $type ne 'application/json';
    return
      map {"$where: $_"} body_faults( "$method $path " . $answer->status, $content->{$type}{schema}, $answer->body );
}

# Only answers of the service have an X-Request-ID: others are of the web server or of another party.
sub check {
    my ( $method, $target, $answer ) = @_;
    return if $answer->failure || $method eq 'HEAD' || !defined $answer->header('X-Request-ID');
    $fault{$_}++ for faults( $method, $target, $answer );
    return;
}

END {
    if (%fault) {
        print {*STDERR} "# an answer differs from the description of the interface ($fault{$_} times): $_\n"
          for sort keys %fault;
        $? ||= 1;
    }
}

1;
