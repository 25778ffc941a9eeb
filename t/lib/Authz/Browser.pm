package Authz::Browser;

# A browser without a screen, over Authz::Client: keeps cookies per host and port as RFC 6265 has it (path, expiry, Secure,
# SameSite), follows redirects across hosts, asks again where Refresh says so, finds and sends forms. Only loopback hosts are asked: at any other address,
# and at what `stop` matches, it stops before it asks.
#   my $browser = Authz::Browser->new;                                      from => '127.0.0.9': from that loopback address;
#                                                 trusts_loopback => 1: Secure cookies are kept from http of this machine, as browsers do
#   my @hop  = $browser->follow( $url, stop => qr{\A\Q$redirect_uri\E} );   all answers, in order
#   my %back = Authz::Browser::query( $browser->url );                      where it ended
# Each answer is an Authz::Response; address($answer) is what was asked, location($answer) its Location made absolute.

use strict;
use warnings;

use Time::HiRes qw(sleep time);

use Authz::Client ();

our $HOPS  = 20;
our $AGAIN = 60;    # times that one address is asked for again

sub new { my ( $class, %option ) = @_; return bless { jar => {}, url => undef, %option }, $class }

# Return the address of the page shown, or the one that the browser was sent to and has not requested.
sub url { return $_[0]{url} }

sub _parts {
    my ($url) = @_;
    my ( $scheme, $host, $port, $target ) = $url =~ m{\A(https?)://([^/:?#]+)(?::(\d+))?([^#]*)}i
      or die "no address: $url\n";
    $target = "/$target" if $target !~ m{\A/};
    return ( lc $scheme, lc $host, $port // ( lc $scheme eq 'https' ? 443 : 80 ), $target );
}

sub _origin { my ( undef, $host, $port ) = _parts( $_[0] ); return "$host:$port" }

# One request. form => [...]: a POST of it; headers => [...]; cross_site => 1: the page of another site is the cause.
sub request {
    my ( $self,   $method, $url,  %option ) = @_;
    my ( $scheme, $host,   $port, $target ) = _parts($url);
    die "only plain http on loopback: $url\n" if $scheme ne 'http' || $host !~ /\A(?:127\.0\.0\.1|localhost)\z/;
    my $cross   = delete $option{cross_site};
    my @cookies = $self->_cookies_for( $url, $cross, $method );
    my @headers = (
        Accept => 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8', @{ $option{headers} // [] },
        @cookies ? ( Cookie => join '; ', map {"$_->{name}=$_->{value}"} @cookies ) : () );
    my $answer =
      ( $self->{client}{"$host:$port"} //= Authz::Client->new( host => $host, port => $port, from => $self->{from} ) )
      ->request( $method, $target, %option, headers => \@headers );
    @$answer{qw(url asked)} = ( $url, $method );
    $self->_keep( $url, $_ ) for $answer->headers('Set-Cookie');
    $self->{url} = $url;
    return $answer;
}

sub get  { my ( $self, $url, %option ) = @_; return $self->request( 'GET',  $url, %option ) }
sub post { my ( $self, $url, %option ) = @_; return $self->request( 'POST', $url, %option ) }

sub address { return $_[0]{url} }

# The Location of an answer as an absolute address; undef without one.
sub location {
    my ($answer) = @_;
    my $to = $answer->header('Location') // return;
    return $to if $to =~ m{\A[A-Za-z][A-Za-z0-9+.-]*:};
    my ( $scheme, undef, undef, $target ) = _parts( $answer->{url} );
    my ($base) = $answer->{url} =~ m{\A([^/]+//[^/?#]+)};
    return "$scheme:$to" if $to =~ m{\A//};
    return "$base$to"    if $to =~ m{\A/};
    $target                             =~ s/\?.*//s;
    return $base . $target . $to if $to =~ /\A\?/;
    $target                             =~ s{[^/]*\z}{};
    return "$base$target$to";
}

# Asks and goes where it is sent, to the end or to what `stop` matches. With form => [...] the first request is a POST.
sub follow {
    my ( $self, $url, %option ) = @_;
    my $stop   = delete $option{stop};
    my $method = delete $option{method} // ( $option{form} ? 'POST' : 'GET' );
    my ( @hop, $from );
    for ( 0 .. $HOPS ) {
        push @hop, $self->request( $method, $url, %option );
        for (
            my $again = 0 ;
            $again < $AGAIN && ( $hop[-1]->header('Refresh') // '' ) =~ /\A(\d+(?:\.\d+)?)\z/ ;
            $again++ )
        {
            sleep $1;
            push @hop, $self->request( GET => $url );
        }
        return @hop if $hop[-1]->status !~ /\A30[12378]\z/;
        my $to = location( $hop[-1] ) // return @hop;
        $self->{url} = $to;
        return @hop if $to !~ m{\Ahttp://(?:127\.0\.0\.1|localhost)(?::\d+)?(?:[/?#]|\z)} || ( $stop && $to =~ $stop );

        # A chain that left the site is a cross-site navigation from there on.
        $option{cross_site} = 1 if _origin($to) ne _origin($url);
        if ( $hop[-1]->status !~ /\A30[78]\z/ ) { $method = 'GET'; delete @option{qw(form body json)} }
        $url = $to;
    }
    die "more than $HOPS redirects\n";
}

# name => value of an address's query, or of its fragment when it has no query; the last one of a repeated name.
sub query {
    my ($url)  = @_;
    my ($text) = $url =~ /[?#]([^#]*)/;
    my %pair;
    for my $part ( split /&/, $text // '' ) {
        my ( $name, $value ) = map { my $x = $_ // ''; $x =~ tr/+/ /; $x =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ge; $x }
          ( split /=/, $part, 2 )[ 0, 1 ];
        $pair{$name} = $value;
    }
    return %pair;
}

# ---- cookies

sub _keep {
    my ( $self, $url, $text ) = @_;
    my ( $pair, @attribute ) = split /\s*;\s*/, $text;
    my ( $name, $value )     = $pair =~ /\A([^=]+)=(.*)\z/s or return;
    my %cookie = ( name => $name, value => $value, text => $text );
    for my $attribute (@attribute) {
        my ( $key, $of ) = split /=/, $attribute, 2;
        $cookie{ lc $key } = $of // 1;
    }
    my ( $scheme, undef, undef, $target ) = _parts($url);
    $target =~ s/\?.*//s;
    if ( !defined $cookie{path} || $cookie{path} !~ m{\A/} ) {
        ( $cookie{path} = $target ) =~ s{(?<=.)/[^/]*\z|(?<=/)[^/]+\z}{};
    }
    return if $cookie{secure} && $scheme ne 'https' && !$self->{trusts_loopback}; # RFC 6265bis 5.7: not over plain http
    return if $name =~ /\A__(?:Host|Secure)-/ && !$cookie{secure};
    $cookie{until} = time + $cookie{'max-age'} if defined $cookie{'max-age'};
    my $jar = $self->{jar}{ _origin($url) } //= {};
    if   ( defined $cookie{until} && $cookie{until} <= time ) { delete $jar->{"$name $cookie{path}"} }
    else                                                      { $jar->{"$name $cookie{path}"} = \%cookie }
    return;
}

sub _cookies_for {
    my ( $self, $url,  $cross, $method ) = @_;
    my ( undef, undef, undef,  $target ) = _parts($url);
    $target =~ s/\?.*//s;
    my @fit;
    for my $cookie ( values %{ $self->{jar}{ _origin($url) } // {} } ) {
        next if defined $cookie->{until} && $cookie->{until} <= time;
        my $path = $cookie->{path};
        next
          if $target ne $path
          && !( index( $target, $path ) == 0 && ( $path =~ m{/\z} || substr( $target, length $path, 1 ) eq '/' ) );
        my $same = lc( $cookie->{samesite} // 'lax' );
        next if $cross && ( $same eq 'strict' || ( $same eq 'lax' && $method ne 'GET' ) );
        push @fit, $cookie;
    }
    return sort { length $b->{path} <=> length $a->{path} || $a->{name} cmp $b->{name} } @fit;
}

# The cookies of an address's host: value, path, httponly, secure, samesite, max-age, text (as it was set).
sub cookies { my ( $self, $url ) = @_; return values %{ $self->{jar}{ _origin($url) } // {} } }

sub cookie {
    my ( $self, $url, $name ) = @_;
    return ( grep { $_->{name} eq $name } $self->cookies($url) )[0];
}

# Puts a cookie there as if the host had set it: set_cookie($url, 'name=value; Path=/'); forget all with forget($url).
sub set_cookie { my ( $self, $url, $text ) = @_; return $self->_keep( $url, $text ) }
sub forget { my ( $self, $url ) = @_; delete $self->{jar}{ _origin($url) }; return }

# ---- forms

sub _text {
    my ($html) = @_;
    my %entity = ( amp => '&', lt => '<', gt => '>', quot => '"', apos => "'" );
    $html =~
      s/&(?:#(\d+)|#x([0-9A-Fa-f]+)|(\w+));/defined $1 ? chr $1 : defined $2 ? chr hex $2 : $entity{$3} \/\/ "&$3;"/ge;
    return $html;
}

sub _attributes {
    my ($tag) = @_;
    my %attribute;
    while ( $tag =~ /\s([A-Za-z-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+)))?/g ) {
        $attribute{ lc $1 } = _text( $2 // $3 // $4 // '' );
    }
    return %attribute;
}

# The forms of a page: { action, method, fields => [name, value, ...], buttons => [name, value, ...] }.
sub forms {
    my ($answer) = @_;
    my @form;
    my $html = $answer->body;
    while ( $html =~ m{(<form\b[^>]*>)(.*?)</form>}gis ) {
        my ( $tag, $inner ) = ( $1, $2 );
        my %of   = _attributes($tag);
        my $form = { action => $of{action} // '', method => uc( $of{method} // 'GET' ), fields => [], buttons => [] };
        while ( $inner =~ m{(<(input|button)\b[^>]*>)}gis ) {
            my ( $kind, %field ) = ( lc $2, _attributes($1) );
            next if !defined $field{name} || exists $field{disabled};
            my $type = lc( $field{type} // ( $kind eq 'button' ? 'submit' : 'text' ) );
            next if $type =~ /\A(?:checkbox|radio)\z/ && !exists $field{checked};
            push @{ $form->{ $type eq 'submit' ? 'buttons' : 'fields' } }, $field{name}, $field{value} // '';
        }
        push @form, $form;
    }
    return @form;
}

# Sends a form of a page with a button pressed and goes on as follow() does: submit($page, button => [name => value]).
# form => N: which; set => {...}: other values of its fields.
sub submit {
    my ( $self, $page, %option ) = @_;
    my $form = ( forms($page) )[ delete $option{form} // 0 ] // die "no form on the page\n";
    my $set  = delete $option{set}                           // {};
    my @pair;
    for ( my $i = 0 ; $i < @{ $form->{fields} } ; $i += 2 ) {
        my ( $name, $value ) = @{ $form->{fields} }[ $i, $i + 1 ];
        push @pair, $name, $set->{$name} // $value;
    }
    push @pair, @{ delete $option{button} // [] };
    my $url = $page->{url};
    if ( $form->{action} ne '' ) {
        local $page->{header} = [ [ 'location', $form->{action} ] ];
        $url = location($page);
    }
    return $self->follow( $url, %option, form => \@pair ) if $form->{method} eq 'POST';
    $url =~ s/\?.*//s;
    return $self->follow( $url . '?' . Authz::Client::form(@pair), %option );
}

1;
