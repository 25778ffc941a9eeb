package authz

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const proofMax = 8192 // octets of a proof

var algNames = []string{"ES256", "ES384", "RS256", "PS256", "EdDSA"}

type proofHead struct {
	Typ  string                     `json:"typ"`
	Alg  string                     `json:"alg"`
	Crit json.RawMessage            `json:"crit"`
	JWK  map[string]json.RawMessage `json:"jwk"`
}

type proofClaims struct {
	HTM   string `json:"htm"`
	HTU   string `json:"htu"`
	JTI   string `json:"jti"`
	ATH   string `json:"ath"`
	Nonce string `json:"nonce"`
	IAT   int64  `json:"iat"`
}

// checkProof checks the proof of a request by a token that is bound to a key (RFC 9449 4.3, 7.1).
func (g *Guard) checkProof(r *http.Request, path, token string, about *Token) error {
	given := r.Header.Values("DPoP")
	if len(given) != 1 {
		return errProof
	}
	claims, jkt, err := readProof(given[0])
	if err != nil {
		return errProof
	}
	here, err := url.Parse(g.origin + path)
	if err != nil {
		return errProof
	}
	htu, err := url.Parse(claims.HTU)
	if err != nil || place(htu) != place(here) || claims.HTM != r.Method || len(claims.JTI) < 1 || len(claims.JTI) > 128 {
		return errProof
	}
	age := time.Now().Unix() - claims.IAT
	if age < -proofWindow || age > proofWindow || jkt != about.Confirm["jkt"] || claims.ATH != digest(token) {
		return errProof
	}
	if g.options.NonceKey != nil {
		step := time.Now().Unix() / nonceStep
		if !hmac.Equal([]byte(claims.Nonce), []byte(g.nonce(step))) && !hmac.Equal([]byte(claims.Nonce), []byte(g.nonce(step-1))) {
			return refusal{status: 401, code: "use_dpop_nonce"}
		}
	}
	used, err := g.options.ProofUsed(digest(jkt+" "+claims.JTI), time.Now().Add((2*proofWindow+1)*time.Second))
	if err == nil && used {
		err = errProof
	}
	return err
}

func (g *Guard) proofUsed(id string, until time.Time) (bool, error) {
	g.lock.Lock()
	defer g.lock.Unlock()
	now := time.Now()
	if end, found := g.proofs[id]; found && now.Before(end) {
		return true, nil
	}
	if len(g.proofs) >= proofsMax {
		for old, end := range g.proofs {
			if now.After(end) {
				delete(g.proofs, old)
			}
		}
	}
	if len(g.proofs) >= proofsMax {
		return false, errors.New("too many DPoP proofs are remembered")
	}
	g.proofs[id] = until
	return false, nil
}

// place returns what two spellings of an address have in common, without the query.
func place(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[strings.ToLower(u.Scheme)]
	}
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	return strings.ToLower(u.Scheme) + " " + host + " " + port + " " + path
}

// readProof checks form, key and signature. It returns the claims and the thumbprint of the key (RFC 7638).
func readProof(text string) (*proofClaims, string, error) {
	parts := strings.Split(text, ".")
	if len(text) > proofMax || len(parts) != 3 {
		return nil, "", errProof
	}
	var octets [3][]byte
	for i := range parts {
		var err error
		if octets[i], err = base64.RawURLEncoding.Strict().DecodeString(parts[i]); err != nil {
			return nil, "", err
		}
	}
	var head proofHead
	var claims proofClaims
	if err := json.Unmarshal(octets[0], &head); err != nil {
		return nil, "", err
	}
	if err := json.Unmarshal(octets[1], &claims); err != nil {
		return nil, "", err
	}
	jwk := map[string]string{}
	for name, raw := range head.JWK {
		var value string
		if name == "d" || name == "p" || name == "q" || name == "k" {
			return nil, "", errProof
		}
		if json.Unmarshal(raw, &value) == nil {
			jwk[name] = value
		}
	}
	if head.Typ != "dpop+jwt" || head.Crit != nil {
		return nil, "", errProof
	}
	members, good := verify(head.Alg, jwk, []byte(parts[0]+"."+parts[1]), octets[2])
	if !good {
		return nil, "", errProof
	}
	public := map[string]string{}
	for _, name := range members {
		public[name] = jwk[name]
	}
	canonical, err := json.Marshal(public) // the names in order, without spaces
	return &claims, digest(string(canonical)), err
}

func number(text string) *big.Int {
	octets, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(octets) == 0 {
		return nil
	}
	return new(big.Int).SetBytes(octets)
}

// verify returns the members of the key's thumbprint, and true if the key fits the algorithm and made the signature.
func verify(alg string, jwk map[string]string, signed, signature []byte) ([]string, bool) {
	sum, long := sha256.Sum256(signed), sha512.Sum384(signed)
	switch kind := alg + " " + jwk["kty"] + " " + jwk["crv"]; kind {
	case "ES256 EC P-256", "ES384 EC P-384":
		curve, size, hash := elliptic.P256(), 32, sum[:]
		if alg == "ES384" {
			curve, size, hash = elliptic.P384(), 48, long[:]
		}
		x, y := number(jwk["x"]), number(jwk["y"])
		if x == nil || y == nil || x.BitLen() > 8*size || y.BitLen() > 8*size || !curve.IsOnCurve(x, y) || len(signature) != 2*size {
			return nil, false
		}
		r, s := new(big.Int).SetBytes(signature[:size]), new(big.Int).SetBytes(signature[size:])
		return []string{"crv", "kty", "x", "y"}, ecdsa.Verify(&ecdsa.PublicKey{Curve: curve, X: x, Y: y}, hash, r, s)
	case "RS256 RSA ", "PS256 RSA ":
		n, e := number(jwk["n"]), number(jwk["e"])
		if n == nil || e == nil || n.BitLen() < 2048 || n.BitLen() > 4096 || e.BitLen() > 31 {
			return nil, false
		}
		key := &rsa.PublicKey{N: n, E: int(e.Int64())}
		if alg == "PS256" {
			options := &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}
			return []string{"e", "kty", "n"}, rsa.VerifyPSS(key, crypto.SHA256, sum[:], signature, options) == nil
		}
		return []string{"e", "kty", "n"}, rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature) == nil
	case "EdDSA OKP Ed25519":
		x, err := base64.RawURLEncoding.DecodeString(jwk["x"])
		if err != nil || len(x) != ed25519.PublicKeySize {
			return nil, false
		}
		return []string{"crv", "kty", "x"}, ed25519.Verify(x, signed, signature)
	}
	return nil, false
}
