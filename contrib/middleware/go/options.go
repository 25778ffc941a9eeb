package authz

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// Options of a Guard. The first four must be set.
type Options struct {
	Issuer       string // of authz, such as https://auth.example
	ClientID     string // the client of this API; its binding has the endpoint introspect and this resource
	ClientSecret string
	Resource     string // address of this API as clients know it (RFC 8707, RFC 9728); proofs are for its scheme and host

	ScopesSupported []string // that the metadata names
	KeepNothing     bool     // ask about each request, also where policy permits to keep an answer
	Obligations     []string // that this API meets; a token with another one is 403
	AnyAudience     bool     // a token that names no resource passes; one that names another never does
	NonceKey        []byte   // at least 32 octets, the same in all processes: proofs must repeat a nonce (RFC 9449 9)
	AllowHTTP       bool     // plain http to hosts other than loopback
	Logf            func(format string, arguments ...any)
	Client          *http.Client // its time limit and its answer to redirects are replaced
	// ProofUsed is true if the proof was used before, and remembers it until then. Without it this process alone remembers.
	ProofUsed func(id string, until time.Time) (bool, error)
}

// Rule says what a request needs: all scopes, one of the authentication contexts, a sign-in of at most MaxAge (RFC 9470; 0: any).
// ResourceType, Action and the members that Context returns are told to policy as input.context.
type Rule struct {
	Scopes, ACR          []string
	MaxAge               time.Duration
	ResourceType, Action string
	Context              func(*http.Request) map[string]any
}

// Token is what authz says about a token, and what policy adds.
type Token struct {
	Active      bool                       `json:"active"`
	TokenType   string                     `json:"token_type"`
	Subject     string                     `json:"sub"`
	ClientID    string                     `json:"client_id"`
	Scope       string                     `json:"scope"`
	Expires     int64                      `json:"exp"`
	Audience    audience                   `json:"aud"`
	ACR         string                     `json:"acr"`
	AuthTime    int64                      `json:"auth_time"`
	Confirm     map[string]any             `json:"cnf"`
	Obligations map[string]json.RawMessage `json:"obligations"`
	Extensions  map[string]json.RawMessage `json:"extensions"`
	All         json.RawMessage            `json:"-"` // the whole answer
}

type audience []string

func (a *audience) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(a))
}

var (
	encoded = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
	pathOf  = regexp.MustCompile(`^/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[2-9A-F][0-9A-F])*$`)
	vague   = regexp.MustCompile(`%(?:2F|5C|7F)|/\.\.?(?:[/;]|%3B|$)`)
)

// canonical returns a path in its one spelling (RFC 3986 6.2.2), so that no rule about it is passed by another one. It is false
// for one about which routers disagree: dot segments, %2F, a backslash, controls.
func canonical(path string) (string, bool) {
	one := encoded.ReplaceAllStringFunc(path, func(code string) string {
		plain, err := url.PathUnescape(code)
		if err == nil && strings.Trim(plain, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~-") == "" {
			return plain
		}
		return strings.ToUpper(code)
	})
	text, err := url.PathUnescape(one)
	return one, err == nil && utf8.ValidString(text) && pathOf.MatchString(one) && !vague.MatchString(one)
}

func address(text, name string, allowHTTP bool) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, fmt.Errorf("%s: must be an address without query, fragment and user", name)
	}
	host := u.Hostname()
	loopback := host == "127.0.0.1" || host == "::1" || host == "localhost"
	if u.Scheme != "https" && !(u.Scheme == "http" && (loopback || allowHTTP)) {
		return nil, fmt.Errorf("%s: must be https", name)
	}
	return u, nil
}

// New makes a guard, or says what is wrong with the options.
func New(options Options) (*Guard, error) {
	issuer, err := address(options.Issuer, "Issuer", options.AllowHTTP)
	if err != nil {
		return nil, err
	}
	here, err := address(options.Resource, "Resource", options.AllowHTTP)
	if err != nil {
		return nil, err
	}
	if options.ClientID == "" || options.ClientSecret == "" {
		return nil, errors.New("ClientID and ClientSecret: must be set")
	}
	if options.NonceKey != nil && len(options.NonceKey) < 32 {
		return nil, errors.New("NonceKey: must have at least 32 octets")
	}
	g := &Guard{options: options, here: here, origin: here.Scheme + "://" + here.Host, kept: map[string]kept{}, proofs: map[string]time.Time{},
		endpoint: strings.TrimSuffix(issuer.String(), "/") + "/introspect"}
	if options.Client != nil {
		g.client = *options.Client
	}
	g.client.Timeout = timeout
	g.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if g.options.Logf == nil {
		g.options.Logf = log.Printf
	}
	if g.options.ProofUsed == nil {
		g.options.ProofUsed = g.proofUsed
	}
	return g, nil
}
