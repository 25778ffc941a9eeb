-- HAProxy asks authz about a request (doc/behind-your-proxy.md). haproxy.cfg sets the variables that are read here.

local address = assert(os.getenv("AUTHZ_CHECK"), "AUTHZ_CHECK is not set")
local credential = assert(os.getenv("AUTHZ_CREDENTIAL"), "AUTHZ_CREDENTIAL is not set")
local scheme = assert(os.getenv("AUTHZ_SCHEME"), "AUTHZ_SCHEME is not set")
local timeout_ms = 5000

-- What authz says of a request that may be served, and the challenges of one that may not.
local identity = {
    "x-authz-subject", "x-authz-subject-type", "x-authz-idp", "x-authz-client", "x-authz-scopes", "x-authz-acr",
    "x-authz-resource", "x-authz-route", "x-authz-request-id", "x-authz-jwt",
}
local passed_back = { "www-authenticate", "dpop-nonce", "content-type", "retry-after" }

-- The values of a field as a list, in their order: HAProxy counts them from 0.
local function values(fields, name)
    local list, given = {}, fields[name] or {}
    while given[#list] ~= nil do
        list[#list + 1] = given[#list]
    end
    return list
end

-- End a request with an answer of authz, or with a status alone.
local function refuse(txn, status, answer)
    local reply = txn:reply()
    reply:set_status(status)
    if answer ~= nil then
        for _, name in ipairs(passed_back) do
            for _, value in ipairs(values(answer.headers, name)) do
                reply:add_header(name, value)
            end
        end
        reply:set_body(answer.body or "")
    end
    txn:done(reply)
end

core.register_action("authz", { "http-req" }, function(txn)
    local fields = txn.http:req_get_headers()
    local question = {
        ["x-authz-proxy-authorization"] = { "Basic " .. credential },
        ["x-forwarded-method"] = { txn.sf:method() },
        ["x-forwarded-proto"] = { scheme },
        ["x-forwarded-host"] = { values(fields, "host")[1] },
        ["x-forwarded-uri"] = { txn.sf:pathq() },
        ["x-forwarded-for"] = { txn.sf:src() },
    }
    for _, name in ipairs({ "authorization", "dpop", "user-agent", "x-request-id" }) do
        local list = values(fields, name)
        if #list > 1 then
            return refuse(txn, 400)
        end
        if #list == 1 then
            question[name] = list
        end
    end
    local answer = core.httpclient():get({ url = address, headers = question, timeout = timeout_ms })
    if answer == nil or answer.status == nil or answer.status == 0 then
        return refuse(txn, 503)
    end
    if answer.status == 401 or answer.status == 403 or answer.status == 503 then
        return refuse(txn, answer.status, answer)
    end
    if answer.status ~= 200 then
        return refuse(txn, 500)
    end
    for _, name in ipairs(identity) do
        local list = values(answer.headers, name)
        if #list ~= 1 then
            return refuse(txn, 500)
        end
        txn.http:req_set_header(name, list[1])
    end
    txn:set_var("txn.authz", "allowed")
end)
