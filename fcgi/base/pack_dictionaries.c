#include "config.h"

#include "base/pack_dictionaries.h"

/*
 * Pieces of the documents that policy/decide/question.c and the shipped policy make, rarer ones
 * too. LZ4 takes the last place where five octets occur, and knows every third octet of a
 * dictionary alone: which order and which cuts pack best was found by trial over stored documents,
 * so that the first two read like shreds. A document that has changed since is packed all the same,
 * only less well.
 */
/* clang-format off */
static const char issue[] =
    "ientyp:\"ref\":\"CIMD\",\"rn:e\",PostmanRuntime/7.{\"tau\":[thope\"us\":codautt\":ype//aidle"
    "dth:\"DCRpyth:\"nt_stratT0typ:\"time\":\"2026-12.3/rraod\"\",\"ionrese0:00:0nt-.0.0.0.e\",n-"
    "eecrApache-HttpClient/4.5.et_post\",\"t\":et\"g\"isnode-fetch\":[\"mcp\"]iiz{\"t\":\"ethd\":"
    "\"sub\":sertyptat:gateway\"ist[],\"ceiling\":[\"openid\",\"profile\",\"email\"]htt}{\"vetaem"
    "en:\"uissuer\":\"http://localhost:8080,\"time_ns\":17000000,\"rn:tpsJava-http-client/17.0.,"
    "\"scopes\":{\"grxch\"soone\"\"sjec\",\"endpoint\":\"/token\",\"now\":1792.168.1.{\"\"scopes"
    "\":{\"requested\":[\"openid\",\"profile\",\"email\",\"offline_access\"],\"default\":ps:/ps:."
    "},\"tls\":truaulokehpython-requests/Go-\":\"are_pub\",\"flow_id\":\"01aaut\",\"fie\"cl\"htt"
    "\":n_dietanton_ion\":\"{\"schema\":1,\"evaluation\":\"issue\",\"issuer\":\"http://127.0.0.1:"
    "\",\"request\":{\"id\":\"01aftwon-izairue},\"resource\":{\"indicator\":\"https://api.example"
    ".com/\",\"typesaramnt_\"id_ty\"clokeu,\"ttph_t://httpx/0.2\",\"tls\":false},\"subject\":{\"t"
    "ype\":\"client\",\"id\":\"defype\"e:t\":\"ilsaxios/1.\"demo\",\"type\"regnt_ent/hod\":\"priv"
    "ate_key_jwt\",horlicoauatiissn\",\":tang\",\"type\":\"confidential\",\"registration\":\"ADMI"
    "N\",\"auth_method\":\"client_secret_basic\",\"enabled\":true},\"environment\":{\"ip\":\"127."
    "0.0.1\",\"tiot_tMozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrom"
    "e/1ienf:ptrokhttp/4.10.0\",\"user_agent\":\"curl/8.,\"eeriisratuth.example.com0 Safari/537.3"
    "6Z\",\"grant_type\":\"client_credentials\",\"token_type\":\"access_token\",\"default_ttl\":3"
    "600},\"client\":{\"id\":\"e\":h_m\"},\"scopes\":{\"requested\":[\"orders.read\"],\"default\""
    ":[]},\"baseline\":null}tl\":900},\"client\":{\"id\":\"htth_mue,172.16.0.granab\":\"reguerd\""
    ":ts:svc-cl";

static const char introspect[] =
    "es_axios/1.sinres\"reokhttp/4.1\",\"flow_id\":\"01a192.168.1.:17\",\"type\":\"confidential\""
    ",\"registration\":\"ADMIN\",\"auth_method\":\"client_secret_basic\",\"enabled\":true},\"CIMD"
    "\",\"auth\":{\"indicator\":0.0 gis\":\"\"authorization_details\":[post\",\":\"https://api.ex"
    "ample.com/aims\":{},\"deny_reasons\":[],\"expires_in_override\":null,\"extensions\":{},\"jit"
    "_single_uati{\"ty\"grrcent\"\"\"hthor\"\"ic\"PostmanRuntime/7.auton_d\"keil,\"ad\":\"GE\":{s"
    "ou\":\"_cotpsT\",nablh_t\"client_sne\":fain__tyext\":\"rettrzating_arepes\":fa:{\"rligtholse"
    "CR\"\"usuth{\"schema\":1,\"evaluation\":\"introspect\",\"issuer\":\"http://127.0.0.1:ndon\"r"
    "aemeifi_ion\"\":\"ref{\"tlse,\"matched_segments\":[\"binding:clients/eta\"e\"/ed\"\"ipJava-h"
    "ttp-client/17.0.rce},\"context\":{}}],\"\"reexpython-httpx/0.2\",\"user_agent\":\"curl/8.iss"
    "uer\":\"https://auth.example.comopenid\",\"profile\",\"email\",\"offline_access\"],\"e},oken"
    "\",\"exp\":17T00:00:0afari/537.36:\"pdeatigleit_rripe\"private_key_jwt\",\"pails:{\":tregiat"
    "i\":\"a\"envird\":\"objec\"csub:{\"verApache-HttpClient/4.5.1},\"issued\":{\"client\":{\"id"
    "\"sopiruthd\":equclient-1000000,\"time\":\"2026-172.16.0.0.0.0.uble\":_meissuer\":\"http://l"
    "ocalhost:8080\",\"request\":{\"id\":\"01aed\"},\"sco\":3,\"time_ns\":[\"e\"tpstatthS\"nood\""
    ":on{\"me://ted\"\"htant\":\",\"imetho:[\"ons\"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/53"
    "7.36 (KHTML, like Gecko) Chrome/1\",\"endpoint\":\"/introspect\",\"now\":17tru_id\"s\",\"tls"
    "\":false},\"grant_type\":\"client_credentials\"},\"subject\":{\"type\":\"client\",\"eses\"iz"
    "tiosou\"environment\":{\"ip\":\"127.0.0.1\",\"tls\":false},\"caller\":{\"client_id\":\"gatew"
    "ay-1\",\"type\":\"confidential\",\"registration\":\"ADMIN\",\"auth_method\":\"client_secret_"
    "basic\"},\"token\":{\"kind\":\"access_token\",\"iat\"ecret_menpe\"node-fetch\"],\"obligation"
    "s\":{},\"resource\":null,\"resource_types\":[],\"scopes\":[\"orders.read\"],\"jit_single_use"
    "\":false},\"baseline\":{\"allow\":true,8,is\":ue,\"c\":\"is:17\"],\"revision\":\"r://t\":\"j"
    "python-requests/2.3Z\"},\"client\":{\"id\":\"er\"ftwth\":.0.cl:\"Dypeori\"],\"default\":[]},"
    "\"tyont\":\":[sGo-http-client/1-de\"\":[peid\":\"oveus\":\"s,\"scop";

static const char answer[] =
    "\"jit_single_use\":true"
    "\"extensions\":{\""
    "\"authorization_details\":[{\"type\":\""
    "\"obligations\":{\""
    "registrations/DCR"
    "\"resource_types\":[\"mcp\""
    "\"claims\":{\""
    "\"expires_in_override\":3"
    "\",\"engine\":\"opa/1.20.2\",\"eval_us\":"
    "{\"allow\":false,\"authorization_details\":[],\"claims\":{},\"deny_reasons\":["
    "\"scopes\":[\"openid\",\"profile\",\"email\",\"offline_access\"]"
    "\"deny_reasons\":[{\"category\":\"grant\",\"code\":\"grant_not_entitled\",\"control\":\"enti"
    "tlements\",\"message\":\"the client is not entitled to this grant type\"},{\"category\":\"to"
    "ken\",\"code\":\"policy_changed\",\"control\":\"introspection\",\"message\":\"nothing of wha"
    "t the token was given is still granted\"},{\"category\":\"resource\",\"code\":\"resource_not"
    "_entitled\",\"control\":\"entitlements\",\"detail\":{\"resource\":\"https://\"},\"message\":"
    "\"the client is not entitled to this resource\"},{\"category\":\"scope\",\"code\":\"scope_no"
    "t_entitled\",\"control\":\"entitlements\",\"detail\":{\"scope\":\"admin\"},\"message\":\"a r"
    "equested scope is not granted\"}],"
    "software/"
    "1}"
    "{\"allow\":true,\"authorization_details\":[],\"claims\":{},\"deny_reasons\":[],\"expires_in_"
    "override\":null,\"extensions\":{},\"jit_single_use\":false,\"matched_segments\":[\"binding:c"
    "lients/"
    "client-1"
    "\"],\"obligations\":{},\"resource\":null,\"resource_types\":[],\"scopes\":[\""
    "orders.read"
    "\"],\"revision\":\"r"
    "1-";

const struct pack_dictionary pack_dictionaries[PACK_DICTIONARIES] = {
    {"{\"schema\":1,\"evaluation\":\"issue\"",      issue,      sizeof(issue) - 1},
    {"{\"schema\":1,\"evaluation\":\"introspect\"", introspect, sizeof(introspect) - 1},
    {"",                                           answer,     sizeof(answer) - 1},
};
/* clang-format on */
