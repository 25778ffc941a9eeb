// Package authz protects an API with authz: it asks POST /introspect about the access token of each request (RFC 7662) with the
// context of the request, checks DPoP proofs (proof.go, RFC 9449), and refuses with the challenges of RFC 6750, 9449, 9470 and
// 9728. Without an answer of authz no request passes.
package authz

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"
)

const (
	timeout     = 5 * time.Second // for the whole answer of authz
	answerMax   = 256 << 10       // octets of an answer
	contextMax  = 16 << 10        // octets; authz refuses a longer context
	keptMax     = 1000            // answers in the cache; when it is full, it is emptied
	keepMax     = 30              // seconds that an answer is kept at most, as at /auth/check
	proofsMax   = 100000          // DPoP proofs that are remembered; beyond it bound tokens are 503
	proofWindow = 60              // seconds by which iat may differ from our clock
	nonceStep   = 150             // seconds; a nonce is good for one step at least and two at most
)

var (
	credential = regexp.MustCompile(`^((?i:Bearer|DPoP)) +([A-Za-z0-9._~+/-]{1,1000}[A-Za-z0-9._~+/-]{0,1000}=*)$`) // RFC 6750 2.1
	word       = regexp.MustCompile(`^[\x21\x23-\x5b\x5d-\x7e]+$`)                                                  // RFC 6749 3.3
)

// A refusal has the error code, and more fields of the challenge; bare: there is no challenge.
type refusal struct {
	status int
	code   string
	fields [][2]string
	bare   bool
}

func (r refusal) Error() string { return r.code }

var errToken, errProof = refusal{status: 401, code: "invalid_token"}, refusal{status: 401, code: "invalid_dpop_proof"}

type kept struct {
	text  []byte
	until time.Time
}

// Guard is the guard of one API.
type Guard struct {
	options          Options
	here             *url.URL
	origin, endpoint string
	client           http.Client
	lock             sync.Mutex
	kept             map[string]kept
	proofs           map[string]time.Time
}

type tokenKey struct{}

// TokenOf returns the token of a request that passed.
func TokenOf(r *http.Request) *Token {
	token, _ := r.Context().Value(tokenKey{}).(*Token)
	return token
}

// Protect returns a handler that serves the requests which the rule lets pass. It panics on words that no challenge can have.
func (g *Guard) Protect(rule Rule, next http.Handler) http.Handler {
	for _, text := range append(append([]string{}, rule.Scopes...), rule.ACR...) {
		if !word.MatchString(text) {
			panic("authz: Scopes and ACR must be words: " + text)
		}
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

// MetadataPath is where Metadata is to be served (RFC 9728 3).
func (g *Guard) MetadataPath() string {
	return "/.well-known/oauth-protected-resource" + strings.TrimSuffix(g.here.EscapedPath(), "/")
}

// Metadata serves the metadata by which clients find authz.
func (g *Guard) Metadata() http.Handler {
	text, _ := json.Marshal(map[string]any{"resource": g.options.Resource, "authorization_servers": []string{g.options.Issuer},
		"bearer_methods_supported": []string{"header"}, "scopes_supported": append([]string{}, g.options.ScopesSupported...),
		"dpop_signing_alg_values_supported": algNames})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		_, _ = w.Write(text)
	})
}

func (g *Guard) permit(r *http.Request, rule Rule) (*Token, error) {
	values, path := r.Header.Values("Authorization"), r.URL.EscapedPath()
	query, err := url.ParseQuery(r.URL.RawQuery)
	one, good := canonical(path)
	if _, given := query["access_token"]; err != nil || given || len(values) > 1 || !good {
		return nil, refusal{status: 400, code: "invalid_request"}
	}
	if len(values) == 0 {
		return nil, refusal{status: 401}
	}
	found := credential.FindStringSubmatch(values[0])
	if found == nil {
		return nil, errToken
	}
	told := map[string]any{}
	if rule.Context != nil {
		for name, value := range rule.Context(r) {
			told[name] = value
		}
	}
	for name, value := range map[string]string{"resource": g.options.Resource, "resource_type": rule.ResourceType, "action": rule.Action,
		"method": r.Method, "path": one} {
		if value != "" {
			told[name] = value
		}
	}
	text, err := json.Marshal(told)
	if err != nil || len(text) > contextMax {
		return nil, refusal{status: 400, code: "invalid_request"}
	}
	token, err := g.introspect(r.Context(), found[2], string(text))
	if err != nil {
		return nil, err
	}
	dpop := strings.EqualFold(found[1], "DPoP")
	if err := g.judge(token, dpop); err != nil {
		return nil, err
	}
	if dpop {
		if err := g.checkProof(r, path, found[2], token); err != nil {
			return nil, err
		}
	}
	return token, require(token, rule)
}

// introspect returns what authz says about a token, or said at most so long ago as policy permits.
func (g *Guard) introspect(ctx context.Context, token, told string) (*Token, error) {
	key, asked := digest(token)+" "+told, time.Now()
	g.lock.Lock()
	known, found := g.kept[key]
	g.lock.Unlock()
	if found && asked.Before(known.until) {
		return parse(known.text)
	}
	text, err := g.ask(ctx, token, told)
	if err != nil {
		return nil, err
	}
	answer, err := parse(text)
	if err != nil {
		return nil, err
	}
	var keep int64
	if json.Unmarshal(answer.Extensions["cache_seconds"], &keep) != nil || g.options.KeepNothing || !answer.Active || len(answer.Obligations) > 0 {
		return answer, nil
	}
	if keep = least(keep, keepMax, answer.Expires-time.Now().Unix()); keep > 0 {
		g.lock.Lock()
		if len(g.kept) >= keptMax {
			g.kept = map[string]kept{}
		}
		g.kept[key] = kept{text, asked.Add(time.Duration(keep) * time.Second)}
		g.lock.Unlock()
	}
	return answer, nil
}

func (g *Guard) ask(ctx context.Context, token, told string) ([]byte, error) {
	form := url.Values{"token": {token}, "context": {told}}.Encode()
	question, err := http.NewRequestWithContext(ctx, http.MethodPost, g.endpoint, strings.NewReader(form))
	if err != nil {
		return nil, err
	}
	question.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	question.Header.Set("Accept", "application/json")
	// Client id and secret are form-encoded before they are joined (RFC 6749 section 2.3.1).
	question.SetBasicAuth(url.QueryEscape(g.options.ClientID), url.QueryEscape(g.options.ClientSecret))
	answer, err := g.client.Do(question)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	// 401: wrong client or secret. 403: the binding of this API lacks "endpoints": ["introspect"].
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("authz answered %d", answer.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, answerMax+1))
	if err == nil && len(text) > answerMax {
		err = errors.New("the answer of authz is too long")
	}
	return text, err
}

func parse(text []byte) (*Token, error) {
	token := &Token{All: text}
	if err := json.Unmarshal(text, token); err != nil {
		return nil, errors.New("the answer of authz is not as expected")
	}
	return token, nil
}

// judge judges what authz says, before the proof. A refresh token has no token_type, and is no credential for an API.
func (g *Guard) judge(token *Token, dpop bool) error {
	jkt, _ := token.Confirm["jkt"].(string)
	kind := token.TokenType == "Bearer" && token.Confirm == nil
	if dpop {
		kind = token.TokenType == "DPoP" && jkt != ""
	}
	meant := len(token.Audience) == 0 && g.options.AnyAudience
	for _, name := range token.Audience {
		meant = meant || name == g.options.Resource || (strings.Trim(g.here.Path, "/") == "" && strings.TrimSuffix(name, "/") == g.origin)
	}
	if !token.Active || !kind || !meant || token.Expires <= time.Now().Unix() {
		return errToken
	}
	for name := range token.Obligations {
		if !has(g.options.Obligations, name) {
			return refusal{status: 403, code: "access_denied", bare: true}
		}
	}
	return nil
}

// require holds a good token against what this request needs.
func require(token *Token, rule Rule) error {
	held := strings.Split(token.Scope, " ")
	for _, scope := range rule.Scopes {
		if !has(held, scope) {
			return refusal{status: 403, code: "insufficient_scope"}
		}
	}
	old := rule.MaxAge > 0 && (token.AuthTime <= 0 || time.Since(time.Unix(token.AuthTime, 0)) > rule.MaxAge)
	if (len(rule.ACR) == 0 || has(rule.ACR, token.ACR)) && !old {
		return nil
	}
	r := refusal{status: 401, code: "insufficient_user_authentication"}
	if len(rule.ACR) > 0 {
		r.fields = append(r.fields, [2]string{"acr_values", strings.Join(rule.ACR, " ")})
	}
	if rule.MaxAge > 0 {
		r.fields = append(r.fields, [2]string{"max_age", fmt.Sprint(int64(rule.MaxAge / time.Second))})
	}
	return r
}

// challenge returns the challenge of a scheme. The first field names the metadata, by which clients find authz.
func (g *Guard) challenge(scheme string, r refusal, rule Rule, own bool) string {
	fields := [][2]string{{"resource_metadata", g.origin + g.MetadataPath()}}
	if len(rule.Scopes) > 0 {
		fields = append(fields, [2]string{"scope", strings.Join(rule.Scopes, " ")})
	}
	if own && r.code != "" {
		fields = append(append(fields, [2]string{"error", r.code}), r.fields...)
	}
	if scheme == "DPoP" {
		fields = append(fields, [2]string{"algs", strings.Join(algNames, " ")})
	}
	texts := []string{}
	for _, field := range fields {
		texts = append(texts, field[0]+`="`+field[1]+`"`)
	}
	return scheme + " " + strings.Join(texts, ", ")
}

func (g *Guard) refuse(w http.ResponseWriter, request *http.Request, rule Rule, err error) {
	var r refusal
	if !errors.As(err, &r) {
		g.options.Logf("authz: no answer, the request is refused: %v", err)
		r = refusal{status: 503, code: "temporarily_unavailable", bare: true}
		w.Header().Set("Retry-After", "1")
	}
	given := request.Header.Get("Authorization")
	dpop := len(given) > 5 && strings.EqualFold(given[:5], "DPoP ")
	if !r.bare {
		w.Header().Add("WWW-Authenticate", g.challenge("Bearer", r, rule, !dpop))
		w.Header().Add("WWW-Authenticate", g.challenge("DPoP", r, rule, dpop))
	}
	if g.options.NonceKey != nil && dpop {
		w.Header().Set("DPoP-Nonce", g.nonce(time.Now().Unix()/nonceStep))
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(r.status)
	if r.code == "" {
		r.code = "unauthorized"
	}
	_, _ = io.WriteString(w, `{"error":"`+r.code+`"}`)
}

func (g *Guard) nonce(step int64) string {
	mac := hmac.New(sha256.New, g.options.NonceKey)
	fmt.Fprintf(mac, "authz-dpop-nonce %d", step)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func has(list []string, name string) bool {
	for _, each := range list {
		if each == name {
			return true
		}
	}
	return false
}

func least(numbers ...int64) int64 {
	smallest := numbers[0]
	for _, number := range numbers {
		if number < smallest {
			smallest = number
		}
	}
	return smallest
}
