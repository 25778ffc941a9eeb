// The API of t/contrib/middleware.t with net/http: main PORT.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
	"time"

	authz "authz.invalid/middleware"
)

func guard(edit func(*authz.Options)) *authz.Guard {
	options := authz.Options{Issuer: os.Getenv("AUTHZ_ISSUER"), ClientID: os.Getenv("AUTHZ_CLIENT_ID"), ClientSecret: os.Getenv("AUTHZ_CLIENT_SECRET"),
		Resource: os.Getenv("API_RESOURCE"), ScopesSupported: []string{"orders.read", "orders.write"}, Obligations: []string{"tenant"}}
	edit(&options)
	made, err := authz.New(options)
	if err != nil {
		log.Fatal(err)
	}
	return made
}

func main() {
	shop := guard(func(*authz.Options) {})
	away := guard(func(o *authz.Options) { o.Issuer = os.Getenv("API_PEER") })
	at := func(name string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			token := authz.TokenOf(r)
			_ = json.NewEncoder(w).Encode(map[string]string{"for": token.Subject, "client": token.ClientID, "at": name})
			token.Subject = "changed"
		})
	}
	answer := at("orders")
	read := authz.Rule{Scopes: []string{"orders.read"}}
	http.Handle(shop.MetadataPath(), shop.Metadata())
	readers, writers := shop.Protect(read, answer), shop.Protect(authz.Rule{Scopes: []string{"orders.write"}, Action: "make"}, answer)
	http.HandleFunc("/shop/orders", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			writers.ServeHTTP(w, r)
		} else {
			readers.ServeHTTP(w, r)
		}
	})
	for _, name := range []string{"kept", "brief", "closed", "nested/closed", "tenant", "redact", "of/"} {
		http.Handle("/shop/"+name, shop.Protect(read, at(name)))
	}
	http.Handle("/shop/pay", shop.Protect(authz.Rule{Scopes: read.Scopes, ACR: []string{"mfa", "hwk"}, MaxAge: 300 * time.Second}, answer))
	http.Handle("/shop/fresh", shop.Protect(authz.Rule{Scopes: read.Scopes, MaxAge: 5 * time.Second}, answer))
	http.Handle("/shop/tier", shop.Protect(authz.Rule{Scopes: read.Scopes, Action: "look", Context: func(*http.Request) map[string]any {
		return map[string]any{"tier": "gold", "method": "PUT", "resource": "https://other.example"}
	}}, answer))
	http.Handle("/away/orders", away.Protect(read, answer))
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
