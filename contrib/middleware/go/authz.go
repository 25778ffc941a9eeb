// Package authz protects an API with authz: it asks POST /introspect about the access token of each request (RFC 7662)
// with the context of the request, checks DPoP proofs (proof.go, RFC 9449), and refuses with the challenges of RFC
// 6750, 9449, 9470 and 9728. Without an answer of authz no request passes.
package authz

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	timeout    = 5 * time.Second // for the whole answer of authz
	answerMax  = 256 << 10       // octets of an answer
	contextMax = 16 << 10        // octets; authz refuses a longer context
	keptMax    = 1000            // answers in the cache; while it is full, others are not kept
	keepMax    = 30              // seconds that an answer is kept at most, as at /auth/check
	proofsMax  = 100000          // DPoP proofs that are remembered; beyond it bound tokens are 503
	tokenMax   = 2048            // octets of a token

	proofMax    = 8192              // octets of a proof
	proofWindow = 60                // seconds by which iat may differ from our clock
	proofLife   = 2*proofWindow + 1 // seconds that a proof may be good for, if its iat lies in the future
)

var (
	credential = regexp.MustCompile(`^(?i:(Bearer|DPoP)) +([A-Za-z0-9._~+/-]+=*)$`) // RFC 6750 2.1
	words      = regexp.MustCompile(`^[\x21\x23-\x5b\x5d-\x7e]*$`)                  // RFC 6749 3.3
	encoded    = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
	literal    = regexp.MustCompile(`^[A-Za-z0-9._~!$&'()*+,;=:@-]$`) // RFC 3986 3.3
	plain      = regexp.MustCompile(`^/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[2-9A-F][0-9A-F])*$`)
	vague      = regexp.MustCompile(`%(?:2F|5C|7F)|/(?:\.\.?)?(?:[/;]|%3B)|/\.\.?$`)
	loopback   = []string{"127.0.0.1", "::1", "localhost"}
)

// Options of a Guard. The first four must be set.
type Options struct {
	Issuer       string // of authz, such as https://auth.example
	ClientID     string // the client of this API; its binding has the endpoint introspect and this resource
	ClientSecret string
	Resource     string // address of this API as clients know it (RFC 8707, RFC 9728); proofs name its scheme and host

	ScopesSupported []string // that the metadata names
	KeepNothing     bool     // ask about each request, also where policy permits to keep an answer
	Obligations     []string // that this API meets; a token with another one is 403
	AnyAudience     bool     // a token that names no resource passes; one that names another never does
	// ProofUsed is true if the proof was used before, and remembers it until then. The default: in this process alone.
	ProofUsed func(name string, until time.Time) (bool, error)
}

// Rule says what a request needs: all scopes, one of the authentication contexts, a sign-in of at most MaxAge (RFC
// 9470; 0: any). ResourceType, Action and the members that Context returns are told to policy as input.context.
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
	Audience    any                        `json:"aud"` // a name, or a list of names
	ACR         string                     `json:"acr"`
	AuthTime    int64                      `json:"auth_time"`
	Confirm     *struct{ JKT string }      `json:"cnf"`
	Obligations map[string]json.RawMessage `json:"obligations"`
	Extensions  map[string]json.RawMessage `json:"extensions"`
	All         json.RawMessage            `json:"-"` // the whole answer
}

// Status, error code, and what the log has: the cause, which the caller gets as error_description, and the cure.
var refusals = map[string]struct {
	status     int
	code, text string
}{
	"path":     {400, "invalid_request", "the address can be read in two ways: send none with //, /../, %2F or %5C"},
	"twice":    {400, "invalid_request", "the token has a wrong place: send one, by the header Authorization alone"},
	"long":     {400, "invalid_request", "the context is too long: what rule and path tell has at most 16 KiB"},
	"none":     {401, "", "a token is needed: send one by the header Authorization"},
	"form":     {401, "invalid_token", "the credential is no token: send Bearer or DPoP, and a token of authz"},
	"inactive": {401, "invalid_token", "the token is not active: unknown, ended, revoked or denied; see the audit"},
	"scheme":   {401, "invalid_token", "the token is not for this scheme: with a key use DPoP, else Bearer"},
	"audience": {401, "invalid_token", "the token is not for this API: its client must name the API by resource"},
	"proof":    {401, "invalid_dpop_proof", "the proof is not good for this request: look at key, htm, htu, ath, iat"},
	"used":     {401, "invalid_dpop_proof", "the proof was used before: make one for each request"},
	"scope":    {403, "insufficient_scope", "the token lacks a scope: ask for it, and permit it in the binding"},
	"sign_in":  {401, "insufficient_user_authentication", "the sign-in is too weak or too old: sign in again"},
	"unmet":    {403, "access_denied", "policy demands what this API does not say it does: see obligations"},
	"away":     {503, "temporarily_unavailable", "authz gives no answer: 401: wrong secret, 403: may not introspect"},
}

// A refusal of the table, what it is about, for the log, and more fields of the challenge.
type refusal struct{ name, about, fields string }

func (r refusal) Error() string { return r.name }

// away says why authz cannot be asked, in words of ours.
type away string

func (a away) Error() string { return string(a) }

// Guard is the guard of one API.
type Guard struct {
	options              Options
	origin, metadataPath string
	endpoint             *url.URL
	names                []string // of this API in tokens
	client               http.Client
	kept, proofs         memory
}

func address(text, name string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || strings.ContainsAny(text, "?#@") {
		return nil, errors.New(name + ": must be an address without query, fragment and user")
	}
	if u.Scheme != "https" && !(u.Scheme == "http" && has(loopback, u.Hostname())) {
		return nil, errors.New(name + ": must be https")
	}
	return u, nil
}

// New makes a guard, or says what is wrong with the options.
func New(options Options) (*Guard, error) {
	issuer, wrong := address(options.Issuer, "Issuer")
	here, err := address(options.Resource, "Resource")
	if wrong != nil || err != nil {
		return nil, fmt.Errorf("authz: %v %v", wrong, err)
	}
	if options.ClientID == "" || options.ClientSecret == "" {
		return nil, errors.New("authz: ClientID and ClientSecret must be set")
	}
	issuer.Path = strings.TrimSuffix(issuer.Path, "/") + "/introspect"
	path, origin := strings.TrimSuffix(here.EscapedPath(), "/"), here.Scheme+"://"+here.Host
	g := &Guard{
		options: options, origin: origin, endpoint: issuer, names: []string{options.Resource},
		metadataPath: "/.well-known/oauth-protected-resource" + path,
		client:       http.Client{Timeout: timeout, CheckRedirect: noRedirect},
		kept:         memory{most: keptMax, held: map[string]value{}},
		proofs:       memory{most: proofsMax, held: map[string]value{}},
	}
	if path == "" {
		g.names = []string{origin, origin + "/"}
	}
	if options.ProofUsed == nil {
		g.options.ProofUsed = g.proofUsed
	}
	return g, nil
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// MetadataPath is where Metadata is to be served (RFC 9728 3).
func (g *Guard) MetadataPath() string { return g.metadataPath }

// Metadata serves the metadata by which clients find authz.
func (g *Guard) Metadata() http.Handler {
	text, _ := json.Marshal(map[string]any{
		"resource": g.options.Resource, "authorization_servers": []string{g.options.Issuer},
		"bearer_methods_supported": []string{"header"}, "dpop_signing_alg_values_supported": algs,
		"scopes_supported": append([]string{}, g.options.ScopesSupported...),
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		_, _ = w.Write(text)
	})
}

type tokenKey struct{}

// TokenOf returns the token of a request that passed.
func TokenOf(r *http.Request) *Token {
	token, _ := r.Context().Value(tokenKey{}).(*Token)
	return token
}

// Protect returns a handler that serves the requests which the rule lets pass. It panics if scopes or contexts are no
// words, which a challenge cannot have.
func (g *Guard) Protect(rule Rule, next http.Handler) http.Handler {
	if !words.MatchString(strings.Join(rule.Scopes, "") + strings.Join(rule.ACR, "")) {
		panic("authz: Scopes and ACR must be words")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, err := g.permit(r, rule)
		if err != nil {
			g.refuse(w, r, rule, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), tokenKey{}, token)))
	})
}

func (g *Guard) permit(r *http.Request, rule Rule) (*Token, error) {
	given, path := r.Header.Values("Authorization"), r.URL.EscapedPath()
	query, err := url.ParseQuery(r.URL.RawQuery)
	one, good := canonical(path)
	if err != nil || !good {
		return nil, refusal{name: "path"}
	}
	if query.Has("access_token") || len(given) > 1 {
		return nil, refusal{name: "twice"}
	}
	if len(given) == 0 {
		return nil, refusal{name: "none"}
	}
	found := credential.FindStringSubmatch(given[0])
	if found == nil || len(found[2]) > tokenMax {
		return nil, refusal{name: "form"}
	}
	context, err := g.context(r, rule, one)
	if err != nil {
		return nil, err
	}
	token, err := g.introspect(found[2], context)
	if err != nil {
		return nil, err
	}
	dpop := strings.EqualFold(found[1], "DPoP")
	if err = g.judge(token, found[1], dpop); err == nil && dpop {
		err = g.checkProof(r.Header.Values("DPoP"), r.Method, path, found[2], token.Confirm.JKT)
	}
	if err == nil {
		err = require(token, rule)
	}
	return token, err
}

// context returns what policy is told about a request.
func (g *Guard) context(r *http.Request, rule Rule, path string) (string, error) {
	told := map[string]any{}
	if rule.Context != nil {
		for name, value := range rule.Context(r) {
			told[name] = value
		}
	}
	for name, value := range map[string]string{"resource": g.options.Resource, "resource_type": rule.ResourceType,
		"action": rule.Action, "method": r.Method, "path": path} {
		if told[name] = value; value == "" {
			delete(told, name)
		}
	}
	text, err := json.Marshal(told)
	if len(text) > contextMax {
		err = refusal{name: "long"}
	}
	return string(text), err
}

// canonical returns a path in one spelling, so that no rule about it is passed by another one: what may stand as it is
// does, as routers decode paths. It is false where they disagree: empty and dot segments, %2F, a backslash, controls.
func canonical(path string) (string, bool) {
	one := encoded.ReplaceAllStringFunc(path, func(code string) string {
		if octet, _ := url.PathUnescape(code); literal.MatchString(octet) {
			return octet
		}
		return strings.ToUpper(code)
	})
	text, err := url.PathUnescape(one)
	return one, err == nil && utf8.ValidString(text) && plain.MatchString(one) && !vague.MatchString(one)
}

// introspect returns what authz says about a token, or said at most so long ago as policy permits.
func (g *Guard) introspect(token, context string) (*Token, error) {
	key, asked := digest(token)+" "+context, time.Now()
	text := g.kept.get(key)
	known := text != nil
	if !known {
		var err error
		if text, err = g.ask(url.Values{"token": {token}, "context": {context}}.Encode()); err != nil {
			return nil, err
		}
	}
	answer := &Token{All: text}
	if json.Unmarshal(text, answer) != nil {
		return nil, away("the answer is not as expected")
	}
	keep, left := int64(0), answer.Expires-asked.Unix()
	_ = json.Unmarshal(answer.Extensions["cache_seconds"], &keep) // no number: 0
	for _, most := range []int64{left, keepMax} {
		if keep > most {
			keep = most
		}
	}
	if !known && answer.Active && len(answer.Obligations) == 0 && !g.options.KeepNothing && keep > 0 {
		_, _ = g.kept.add(key, text, asked.Add(time.Duration(keep)*time.Second)) // there may be no room
	}
	return answer, nil
}

func (g *Guard) ask(form string) ([]byte, error) {
	// Go asks again on a new connection if the one that it kept was closed before the question went out.
	body := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(form)), nil }
	question := &http.Request{Method: "POST", URL: g.endpoint, GetBody: body, ContentLength: int64(len(form)),
		Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Accept": {"application/json"}}}
	question.Body, _ = body()
	// Client id and secret are form-encoded before they are joined (RFC 6749 section 2.3.1).
	question.SetBasicAuth(url.QueryEscape(g.options.ClientID), url.QueryEscape(g.options.ClientSecret))
	answer, err := g.client.Do(question)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, answerMax+1))
	if len(text) > answerMax {
		err = away("the answer is too long")
	}
	// 401: wrong client or secret. 403: the binding of this API lacks "endpoints": ["introspect"].
	if answer.StatusCode != http.StatusOK {
		err = away(fmt.Sprintf("authz answered %d", answer.StatusCode))
	}
	return text, err
}

// judge judges what authz says, before the proof. A refresh token has no token_type, and is no credential for an API.
func (g *Guard) judge(token *Token, scheme string, dpop bool) error {
	fits := strings.EqualFold(token.TokenType, scheme) && dpop == (token.Confirm != nil)
	meant := token.Audience == nil && g.options.AnyAudience
	names, _ := token.Audience.([]any)
	for _, name := range append(names, token.Audience) {
		text, _ := name.(string)
		meant = meant || has(g.names, text)
	}
	met := true
	for name := range token.Obligations {
		met = met && has(g.options.Obligations, name)
	}
	switch {
	case !token.Active || token.Expires <= time.Now().Unix():
		return refusal{name: "inactive"}
	case !fits:
		return refusal{name: "scheme"}
	case !meant:
		return refusal{name: "audience", about: g.options.Resource}
	case !met:
		return refusal{name: "unmet"}
	}
	return nil
}

// require holds a good token against what this request needs.
func require(token *Token, rule Rule) error {
	if !has(strings.Split(token.Scope, " "), rule.Scopes...) {
		return refusal{name: "scope", about: strings.Join(rule.Scopes, " ")}
	}
	strong := len(rule.ACR) == 0 || has(rule.ACR, token.ACR)
	fresh := rule.MaxAge <= 0 || (token.AuthTime > 0 && time.Since(time.Unix(token.AuthTime, 0)) <= rule.MaxAge)
	if strong && fresh {
		return nil
	}
	fields := field("acr_values", strings.Join(rule.ACR, " "))
	if rule.MaxAge > 0 {
		fields += field("max_age", fmt.Sprint(int64(rule.MaxAge/time.Second)))
	}
	return refusal{name: "sign_in", fields: fields}
}

// field returns a field of a challenge that is not the first one; nothing for an empty text.
func field(name, text string) string {
	if text == "" {
		return ""
	}
	return ", " + name + `="` + text + `"`
}

func (g *Guard) refuse(w http.ResponseWriter, request *http.Request, rule Rule, err error) {
	var r refusal
	if !errors.As(err, &r) {
		r = refusal{name: "away", about: "not in time, no HTTP, or no context"} // others may quote what they read
		if errors.As(err, new(away)) || errors.As(err, new(*net.OpError)) {
			r.about = err.Error()
		}
		w.Header().Set("Retry-After", "1")
	}
	row := refusals[r.name]
	cause, _, _ := strings.Cut(row.text, ": ")
	// The first field of a challenge names the metadata, by which clients find authz.
	shared := `resource_metadata="` + g.origin + g.metadataPath + `"` + field("scope", strings.Join(rule.Scopes, " "))
	own := map[bool]string{true: field("error", row.code) + r.fields + field("error_description", cause)}
	if row.code == "" { // the request has no credential (RFC 6750 3.1)
		own, row.code = nil, "unauthorized"
	}
	log.Print(strings.TrimSuffix(fmt.Sprintf("authz: %d %s: %s (%s)", row.status, row.code, row.text, r.about), " ()"))
	given := request.Header.Get("Authorization")
	dpop := len(given) > 5 && strings.EqualFold(given[:5], "DPoP ")
	if row.status != http.StatusServiceUnavailable && row.code != "access_denied" {
		w.Header().Add("WWW-Authenticate", "Bearer "+shared+own[!dpop])
		w.Header().Add("WWW-Authenticate", "DPoP "+shared+own[dpop]+field("algs", strings.Join(algs, " ")))
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(row.status)
	_, _ = io.WriteString(w, `{"error":"`+row.code+`","error_description":"`+cause+`"}`)
}

// memory has values until their time.
type memory struct {
	lock  sync.Mutex
	most  int
	held  map[string]value
	swept time.Time
}

type value struct {
	text  []byte
	until time.Time
}

func (m *memory) get(key string) []byte {
	m.lock.Lock()
	defer m.lock.Unlock()
	if time.Now().Before(m.held[key].until) {
		return m.held[key].text
	}
	return nil
}

// add keeps a value. It is false if the key has one, and an error if there is no room.
func (m *memory) add(key string, text []byte, until time.Time) (bool, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	now := time.Now()
	if now.Sub(m.swept) > time.Second {
		m.swept = now
		for old, each := range m.held {
			if !now.Before(each.until) {
				delete(m.held, old)
			}
		}
	}
	if now.Before(m.held[key].until) {
		return false, nil
	}
	if len(m.held) >= m.most {
		return false, away("too many answers or proofs are remembered")
	}
	m.held[key] = value{text, until}
	return true, nil
}

// has is true if the list has all the names.
func has(list []string, names ...string) bool {
	for _, name := range names {
		found := false
		for _, each := range list {
			found = found || each == name
		}
		if !found {
			return false
		}
	}
	return true
}
