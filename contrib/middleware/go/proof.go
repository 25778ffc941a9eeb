package authz

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	_ "crypto/sha512" // for ES384
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/url"
	"strings"
	"time"
)

var algs = []string{"ES256", "ES384", "RS256", "PS256", "EdDSA"}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// place returns what two spellings of an address have in common, without the query (RFC 9449 4.3).
func place(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	scheme, host, path := strings.ToLower(u.Scheme), strings.ToLower(u.Host), u.EscapedPath()
	host = strings.TrimSuffix(host, map[string]string{"https": ":443", "http": ":80"}[scheme])
	if path == "" {
		path = "/"
	}
	return scheme + "://" + host + path
}

// part reads a part of a JWT.
func part(text string, into any) bool {
	octets, err := base64.RawURLEncoding.DecodeString(text)
	return err == nil && json.Unmarshal(octets, into) == nil
}

// checkProof checks the proof of a request by a token that is bound to a key (RFC 9449 4.3, 7.1).
func (g *Guard) checkProof(given []string, method, path, token, jkt string) error {
	if len(given) != 1 || len(given[0]) > proofMax {
		return refusal{name: "proof"}
	}
	var head struct {
		Typ, Alg string
		Crit     json.RawMessage
		JWK      map[string]any
	}
	var claims struct {
		HTM, HTU, JTI, ATH string
		IAT                int64
	}
	parts := strings.Split(given[0], ".")
	if len(parts) != 3 || !part(parts[0], &head) || !part(parts[1], &claims) {
		return refusal{name: "proof"}
	}
	age, signed := time.Now().Unix()-claims.IAT, []byte(parts[0]+"."+parts[1])
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	good := err == nil && head.Typ == "dpop+jwt" && head.Crit == nil && claims.HTM == method &&
		place(claims.HTU) == place(g.origin+path) && age >= -proofWindow && age <= proofWindow &&
		claims.ATH == digest(token) && len(claims.JTI) >= 1 && len(claims.JTI) <= 128
	if !good || !verify(head.Alg, head.JWK, jkt, signed, signature) {
		return refusal{name: "proof"}
	}
	used, err := g.options.ProofUsed(digest(jkt+" "+claims.JTI), time.Now().Add(proofLife*time.Second))
	if err == nil && used {
		err = refusal{name: "used"}
	}
	return err
}

func (g *Guard) proofUsed(name string, until time.Time) (bool, error) {
	added, err := g.proofs.add(name, []byte{}, until)
	return !added, err
}

// verify is true if the key has the thumbprint (RFC 7638), fits the algorithm, and made the signature.
func verify(alg string, jwk map[string]any, jkt string, signed, signature []byte) bool {
	member, octets := map[string]string{}, map[string][]byte{}
	for name, value := range jwk {
		member[name], _ = value.(string)
		octets[name], _ = base64.RawURLEncoding.DecodeString(member[name])
		if has([]string{"d", "p", "q", "k"}, name) {
			return false // a private key
		}
	}
	public := func(names ...string) bool {
		part := map[string]string{}
		for _, name := range names {
			part[name] = member[name]
		}
		text, err := json.Marshal(part) // the names in order, without spaces
		return err == nil && digest(string(text)) == jkt
	}
	hash, curve, half := crypto.SHA256, elliptic.P256(), len(signature)/2
	if alg == "ES384" {
		hash, curve = crypto.SHA384, elliptic.P384()
	}
	sum := hash.New()
	sum.Write(signed)
	switch alg + " " + member["kty"] + " " + member["crv"] {
	case "ES256 EC P-256", "ES384 EC P-384":
		x, y := elliptic.Unmarshal(curve, bytes.Join([][]byte{{4}, octets["x"], octets["y"]}, nil)) // or nil
		r, s := new(big.Int).SetBytes(signature[:half]), new(big.Int).SetBytes(signature[half:])
		return x != nil && len(signature) == 2*hash.Size() && public("crv", "kty", "x", "y") &&
			ecdsa.Verify(&ecdsa.PublicKey{Curve: curve, X: x, Y: y}, sum.Sum(nil), r, s)
	case "RS256 RSA ", "PS256 RSA ":
		n, e := new(big.Int).SetBytes(octets["n"]), new(big.Int).SetBytes(octets["e"])
		if n.BitLen() < 2048 || n.BitLen() > 4096 || e.BitLen() > 31 || !public("e", "kty", "n") {
			return false
		}
		key := &rsa.PublicKey{N: n, E: int(e.Int64())}
		if alg == "PS256" {
			return rsa.VerifyPSS(key, hash, sum.Sum(nil), signature, &rsa.PSSOptions{SaltLength: hash.Size()}) == nil
		}
		return rsa.VerifyPKCS1v15(key, hash, sum.Sum(nil), signature) == nil
	case "EdDSA OKP Ed25519":
		key := ed25519.PublicKey(octets["x"])
		return len(key) == ed25519.PublicKeySize && public("crv", "kty", "x") && ed25519.Verify(key, signed, signature)
	}
	return false
}
