package main

// Makes t/vectors/spiffe: a trust bundle written by go-spiffe, JWT-SVIDs for it, and what go-spiffe says of each.

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/spiffe/go-spiffe/v2/bundle/spiffebundle"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"github.com/spiffe/go-spiffe/v2/svid/jwtsvid"
)

type vector struct {
	Name  string `json:"name"`
	Token string `json:"token"`
	ID    string `json:"id,omitempty"`
	Good  bool   `json:"good"`
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	td := spiffeid.RequireTrustDomainFromString("example.org")
	bundle := spiffebundle.New(td)
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	ec384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	must(err)
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	must(err)
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	must(bundle.AddJWTAuthority("ec", ec.Public()))
	must(bundle.AddJWTAuthority("ec384", ec384.Public()))
	must(bundle.AddJWTAuthority("rsa", rs.Public()))
	bundle.SetSequenceNumber(7)
	bundle.SetRefreshHint(5 * time.Minute)
	text, err := bundle.Marshal()
	must(err)
	now := time.Now().Truncate(time.Second)
	audience := "https://as.example"
	sign := func(alg jose.SignatureAlgorithm, key crypto.Signer, kid, typ string, claims map[string]any) string {
		options := &jose.SignerOptions{}
		if typ != "" {
			options = options.WithType(jose.ContentType(typ))
		}
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: key, KeyID: kid}}, options)
		must(err)
		token, err := jwt.Signed(signer).Claims(claims).Serialize()
		must(err)
		return token
	}
	id := "spiffe://example.org/ns/prod/sa/billing"
	claims := func(more map[string]any) map[string]any {
		all := map[string]any{"sub": id, "aud": []string{audience}, "exp": now.Add(5 * time.Minute).Unix(), "iat": now.Unix()}
		for k, v := range more {
			if v == nil {
				delete(all, k)
			} else {
				all[k] = v
			}
		}
		return all
	}
	var vectors []vector
	add := func(name, token string) {
		svid, err := jwtsvid.ParseAndValidate(token, bundle, []string{audience})
		v := vector{Name: name, Token: token, Good: err == nil}
		if err == nil {
			v.ID = svid.ID.String()
		} else {
			fmt.Fprintln(os.Stderr, name+":", err)
		}
		vectors = append(vectors, v)
	}
	add("ES256", sign(jose.ES256, ec, "ec", "JWT", claims(nil)))
	add("ES384 with typ JOSE", sign(jose.ES384, ec384, "ec384", "JOSE", claims(nil)))
	add("RS256 without typ", sign(jose.RS256, rs, "rsa", "", claims(nil)))
	add("PS512", sign(jose.PS512, rs, "rsa", "JWT", claims(nil)))
	add("an issuer and a jti", sign(jose.ES256, ec, "ec", "JWT", claims(map[string]any{"iss": "https://spire.example", "jti": "1"})))
	add("a stranger's key", sign(jose.ES256, stranger, "ec", "JWT", claims(nil)))
	add("an unknown kid", sign(jose.ES256, ec, "other", "JWT", claims(nil)))
	add("an algorithm that does not fit the key of the kid", sign(jose.ES384, ec384, "ec", "JWT", claims(nil)))
	add("typ at+jwt", sign(jose.ES256, ec, "ec", "at+jwt", claims(nil)))
	add("another audience", sign(jose.ES256, ec, "ec", "JWT", claims(map[string]any{"aud": []string{"https://other.example"}})))
	add("no exp", sign(jose.ES256, ec, "ec", "JWT", claims(map[string]any{"exp": nil})))
	add("an hour past its end", sign(jose.ES256, ec, "ec", "JWT", claims(map[string]any{"exp": now.Add(-time.Hour).Unix()})))
	add("sub that is no SPIFFE ID", sign(jose.ES256, ec, "ec", "JWT", claims(map[string]any{"sub": "billing"})))
	add("sub with a dot segment", sign(jose.ES256, ec, "ec", "JWT", claims(map[string]any{"sub": "spiffe://example.org/a/../billing"})))
	add("sub with capitals in its trust domain", sign(jose.ES256, ec, "ec", "JWT", claims(map[string]any{"sub": "spiffe://Example.org/billing"})))
	add("sub with a slash at its end", sign(jose.ES256, ec, "ec", "JWT", claims(map[string]any{"sub": "spiffe://example.org/billing/"})))
	all := map[string]any{"now": now.Unix(), "audience": audience, "id": id, "bundle": json.RawMessage(text), "svids": vectors}
	out, err := json.MarshalIndent(all, "", " ")
	must(err)
	must(os.WriteFile("go-spiffe.json", append(out, '\n'), 0o644))
}
