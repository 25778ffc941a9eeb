-- Refuses a request with a field whose name has another character than letters, digits and hyphens. lighttpd makes _ of each of
-- these in the name of a CGI variable, so X.Tenant would be X-Tenant to the service, and get past a proxy that removes X-Tenant.
-- What authz-limits.conf removes is here without a value.
for name, value in pairs(lighty.r.req_header) do
    if value ~= "" and string.find(name, "[^A-Za-z0-9-]") then
        return 400
    end
end
