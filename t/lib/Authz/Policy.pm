package Authz::Policy;

# A stack's policy seen from all sides: the rows, the bundle that is served, what the engine has active, and by which
# revisions was decided. agree() waits until they are one, and says what does not fit.

use strict;
use warnings;

use Archive::Tar           ();
use IO::Socket::UNIX       ();
use IO::Uncompress::Gunzip ();
use JSON::PP               ();
use Socket                 qw(SOCK_STREAM);
use Time::HiRes            qw(sleep time);

use Authz::Check    ();
use Authz::Client   ();
use Authz::Response ();

my $json = JSON::PP->new->utf8->canonical->allow_nonref;

sub new { my ( $class, $stack ) = @_; return bless { stack => $stack }, $class }

# ---- saving

# Deploys rules (path => text) and data (key => value) in mode merge, or as said.
sub deploy {
    my ( $self, %what ) = @_;
    return $self->{stack}->admin( POST => '/admin/api/policy-bundle/deploy', json => _deploy_body(%what) );
}

# The octets of the same request, for a test that does not wait for the answer.
sub deploy_octets {
    my ( $self, %what ) = @_;
    my $stack = $self->{stack};
    return $stack->http->octets(
        POST    => "$stack->{path}/admin/api/policy-bundle/deploy",
        json    => _deploy_body(%what), close => 1,
        headers => [ 'X-Admin-API-Key' => $Authz::Stack::KEY{SVC_ADMIN_API_KEY} ] );
}

sub _deploy_body {
    my (%what) = @_;
    return {
        mode  => $what{mode} // 'merge',
        rules => [ map { { path    => $_, content => $what{rules}{$_} } } sort keys %{ $what{rules} } ],
        data  => [ map { { dataKey => $_, payload => $what{data}{$_} } } sort keys %{ $what{data} } ],
    };
}

# ---- what there is

# GET /bundles/svc with the key; more headers may follow.
sub fetch {
    my ( $self, @header ) = @_;
    my $stack = $self->{stack};
    return $stack->client->get(
        "$stack->{path}/bundles/svc",
        headers => [ 'X-Bundle-API-Key' => $Authz::Stack::KEY{SVC_BUNDLE_API_KEY}, @header ] );
}

# A bundle's octets: {revision, rules => {path => text}, data}.
sub unpack_bundle {
    my ($octets) = @_;
    IO::Uncompress::Gunzip::gunzip( \$octets, \my $text ) or die "no gzip: $IO::Uncompress::Gunzip::GunzipError\n";
    open my $in, '<', \$text or die "in memory: $!";
    my $tar = Archive::Tar->new;
    $tar->read($in) or die 'no tar: ' . $tar->error . "\n";
    my %file = map { ( $_->full_path => $_->get_content ) } $tar->get_files;
    my ( $manifest, $data ) = map { $json->decode( delete $file{$_} // die "no $_ in the bundle\n" ) } '.manifest',
      'data.json';
    utf8::decode($_) for values %file;
    return { revision => $manifest->{revision}, rules => \%file, data => $data };
}

# Return the bundle that the rows should give, without the modules of Cedar rules: {rules, data}.
sub rows {
    my ($self) = @_;
    my $rows = $json->decode( $self->{stack}->sql(<<'SQL') );
SELECT json_build_object('rules', (SELECT coalesce(json_object_agg(path, content), '{}') FROM policy_rule WHERE enabled AND kind = 'rego'),
    'data', (SELECT coalesce(json_object_agg(data_key, payload), '{}') FROM policy_data WHERE in_bundle))
SQL
    my %data;
    for my $key ( sort keys %{ $rows->{data} } ) {
        my @word = split /[.]/, $key;
        my $last = pop @word;
        my $at   = \%data;
        $at = $at->{$_} //= {} for @word;
        utf8::encode( my $payload = $rows->{data}{$key} );
        $at->{$last} = $json->decode($payload);
    }
    return { rules => $rows->{rules}, data => \%data };
}

# The served bundle's row: {id, revision, status}, and the acceptable revisions.
sub state {
    my ($self) = @_;
    my %state;
    @state{qw(id revision status acceptable)} =
      split /\t/,
      $self->{stack}->sql(
        q{SELECT b.id, b.revision, b.status, array_to_string(s.acceptable, ' ') FROM bundle_state s JOIN bundle b ON b.id = s.served}
      );
    return \%state;
}

# A question to the engine itself, not to the service.
sub ask_engine {
    my ( $self, $target, $seconds ) = @_;
    my $socket = IO::Socket::UNIX->new( Peer => $self->{stack}{opa_socket}, Type => SOCK_STREAM )
      or return Authz::Response->failed("connect: $!");
    return Authz::Client::_exchange(
        $socket, "GET $target HTTP/1.1\r\nHost: opa\r\nConnection: close\r\n\r\n", 'GET',
        $seconds // 10 );
}

# The result of such a question; undef without an answer.
sub engine {
    my ( $self, $target, $seconds ) = @_;
    my $answer = $self->ask_engine( $target, $seconds );
    return $answer->failure ? undef : $answer->member('result');
}

# Return the engine's report on the bundle: active_revision, code, message, errors.
sub status { my ($self) = @_; return ( $self->engine('/v1/status') // {} )->{bundles}{svc} // {} }
sub active { my ($self) = @_; return $self->status->{active_revision}                      // '' }

# ---- that they agree

# Waits until rows, served bundle and engine agree and only that revision may decide: '' then, else what does not fit. The
# engine must come to it by itself, so nothing is fetched here before it has.
sub agree {
    my ( $self, $seconds ) = @_;
    my ( $until, $state, $active ) = time + ( $seconds // 60 );
    do {
        sleep 0.03 if $state;
        ( $state, $active ) =
          ( eval { $self->state } // { revision => "none: $@", status => '', acceptable => '' }, $self->active );
      } while ( time < $until
        && ( $state->{revision} ne $active || $state->{status} eq 'pending' || $state->{acceptable} ne $active ) );
    return "served is $state->{revision}, but active is $active"        if $state->{revision} ne $active;
    return "a candidate is still pending: $active"                      if $state->{status} eq 'pending';
    return "active is $active, but acceptable are $state->{acceptable}" if $state->{acceptable} ne $active;
    my $answer = $self->fetch;
    $answer = $self->fetch if $answer->status == 503;    # the first request of a worker after PostgreSQL restarted
    my $bundle = eval { unpack_bundle( $answer->body ) } or return "GET /bundles/svc: $@" . $answer->text;
    return "GET /bundles/svc has $bundle->{revision}, but active is $active" if $bundle->{revision} ne $active;
    delete $bundle->{data}{svc}{rule_places};            # the service makes it of the rules
    my $rows = $self->rows;

    for my $part (qw(rules data)) {
        my ( $have, $want ) = map { $json->encode( $_->{$part} ) } $bundle, $rows;
        return "the bundle's $part are not the rows':\n$have\n$want" if $have ne $want;
    }
    return '';
}

# ---- the revisions that decided

# Revisions that must not have decided: tried, and never stood.
sub withdrawn {
    my ($self) = @_;
    return split /\n/,
      $self->{stack}->sql(
        q{SELECT DISTINCT revision FROM bundle WHERE status IN ('refused', 'withdrawn') EXCEPT SELECT revision FROM bundle WHERE status IN ('published', 'confirmed')}
      );
}

# Every decision there is a record of: [where, revision]. A row with an error is the record of no decision.
sub decisions {
    my ($self) = @_;
    my @rows   = split /\n/, $self->{stack}->sql(<<'SQL');
SELECT 'audit ' || id, encode(policy_decision, 'hex') FROM audit_log WHERE policy_decision IS NOT NULL AND outcome <> 'error'
UNION ALL SELECT 'token ' || id, encode(pdp_output, 'hex') FROM access_token
SQL
    return map {
        my ( $where, $hex ) = split /\t/;
        my $document = Authz::Check::decode_packed($hex);
        exists $document->{error} ? () : [ $where, $document->{revision} // 'none' ]
    } @rows;
}

# Decisions by a revision that was taken back, as text; the first few are enough.
sub wrong_decisions {
    my ($self) = @_;
    my %bad    = map { ( $_ => 1 ) } $self->withdrawn;
    my @wrong  = map {"$_->[0] by $_->[1]"} grep { $bad{ $_->[1] } } $self->decisions;
    return @wrong > 5 ? @wrong[ 0 .. 4 ] : @wrong;
}

1;
